"""A run as text for a terminal: the verdict, why, and what to do next."""

from __future__ import annotations

import unicodedata
from typing import Any

from loomverify.submitting.gates import SIGNS, WORDS, name_of, told_of, took

Body = dict[str, Any]

GROUPS = (("hard", "Hard findings"), ("advisory", "Advisory findings"), ("observe", "Observed"))
RED, GREEN, YELLOW, BOLD, DIM = "31", "32", "33", "1", "2"


class Report:
    """Lines of one run. `colour` adds what a terminal understands; signs and words stand alone."""

    def __init__(self, run: Body, *, colour: bool = False) -> None:
        self.run = run
        self.colour = colour

    def text(self) -> str:
        blocks = [
            self._headline(), self._gates(), *self._findings(), self._review(), self._next_step(),
            self._link(),
        ]  # fmt: skip
        return "\n\n".join(block for block in blocks if block) + "\n"

    def _headline(self) -> str:
        run = self.run
        sign, word, colour = _verdict(run)
        facts = [
            f"{plain(run.get('process'))} / {plain(run.get('phase'))}",
            f"tier {run.get('tier_achieved')} of {run.get('tier_requested')}",
            *self._attempts(),
        ]
        doubt = run.get("undecided") or {}
        reason = plain(run.get("reason_code") or doubt.get("reason_code"))
        first = self._paint(f"{sign} {word}", BOLD, colour) + (f"  {reason}" if reason else "")
        return f"{first}\n  {self._paint(' · '.join(facts), DIM)}"

    def _attempts(self) -> list[str]:
        task = self.run.get("task") or {}
        if not task.get("max_attempts"):
            return []
        return [f"{task.get('attempts_used', 0)} of {task['max_attempts']} attempts used"]

    def _gates(self) -> str:
        """A line for each that ran; those that had nothing to do in one."""
        gates = self.run.get("gates") or []
        ran = [one for one in gates if one.get("status") != "skipped"]
        if not ran:
            return ""
        names = {id(one): plain(name_of(one)) for one in ran}
        width = min(40, max(map(len, names.values())))
        lines = [self._paint(f"Gates ({len(ran)})", BOLD)]
        lines += [self._gate(one, names[id(one)].ljust(width)) for one in ran]
        if skipped := [plain(name_of(one)) for one in gates if one not in ran]:
            lines.append(self._paint(f"  - skipped: {', '.join(skipped)}", DIM))
        return "\n".join(lines)

    def _gate(self, gate: Body, name: str) -> str:
        status = str(gate.get("status"))
        sign, colour = SIGNS.get(status, ("?", YELLOW))
        word = WORDS.get(status, status)
        time = "" if gate.get("reused_from") else took(gate.get("duration_ms") or 0)
        told = plain(told_of(gate))[:100]
        line = f"  {self._paint(sign, colour)} {name}  {word:<9}  {time:>6}"
        return f"{line}  {told}".rstrip()

    def _findings(self) -> list[str]:
        blocks = []
        for enforcement, heading in GROUPS:
            found = [
                finding
                for finding in self.run.get("findings") or []
                if finding.get("enforcement") == enforcement
            ]
            if found:
                lines = [self._paint(f"{heading} ({len(found)})", BOLD)]
                lines += [line for finding in found for line in self._finding(finding)]
                blocks.append("\n".join(lines))
        return blocks

    def _finding(self, finding: Body) -> list[str]:
        sign, colour = ("✖", RED) if finding.get("enforcement") == "hard" else ("▲", YELLOW)
        if finding.get("verdict") == "unknown":
            sign = "?"
        place = place_of(finding)
        head = f"  {self._paint(sign, colour)} {plain(finding.get('rule'))}"
        lines = [f"{head}  {place}" if place else head]
        lines += [f"      {line}" for line in plain(finding.get("message")).splitlines()]
        suggestion = plain(finding.get("suggestion"))
        if suggestion:
            lines.append(self._paint(f"      → {suggestion}", DIM))
        return lines

    def _review(self) -> str:
        """Whether a person is asked, or what they said."""
        review = self.run.get("review") or {}
        if review.get("state") == "pending":
            why = ", ".join(plain(reason) for reason in review.get("reasons") or [])
            return f"A person is asked{f' ({why})' if why else ''}; --decision waits for them."
        if review.get("state") != "decided":
            return ""
        sign, word, colour = _people_said(review)
        comment = "".join(f"\n  {line}" for line in plain(review.get("comment")).splitlines())
        return self._paint(f"{sign} {word} by a person", BOLD, colour) + comment

    def _next_step(self) -> str:
        run = self.run
        heading = self._paint("What to do next", BOLD)
        if (run.get("review") or {}).get("state") == "decided":
            return f"{heading}\n  {self._after_people()}"
        if doubt := run.get("undecided"):
            return f"{heading}\n{_waits(doubt)}"
        if run.get("state") in {"queued", "running"}:
            return f"{heading}\n  It is still {run['state']}; look again at the address below."
        retry = run.get("retry") or {}
        if run.get("verdict") == "accept":
            return ""
        if run.get("verdict") == "undecided":
            return f"{heading}\n  Do not redo the work: verification itself could not decide."
        if run.get("verdict") != "reject":
            return f"{heading}\n  There is no verdict; ask for a new evaluation or submit again."
        if not retry.get("rerun_execution"):
            closed = "This task takes no more submissions; a person decides."
            return f"{heading}\n  {closed}\n  For other work, begin a new task: --new-task."
        task = run.get("task") or {}
        left = (task.get("max_attempts") or 0) - (task.get("attempts_used") or 0)
        what = "Correct the hard findings" if run.get("findings") else self._feedback()
        return f"{heading}\n  {what} and submit the same task again: {left} left."

    def _after_people(self) -> str:
        task = self.run.get("task") or {}
        if self.run["review"].get("passed"):
            return "Nothing: what the person said counts."
        if task.get("exhausted"):
            return "This task takes no more submissions. For other work, --new-task begins another."
        left = (task.get("max_attempts") or 0) - (task.get("attempts_used") or 0)
        return f"Correct what they say and submit the same task again: {left} left."

    def _feedback(self) -> str:
        """What there is to say where no finding says it."""
        feedback = plain((self.run.get("feedback") or {}).get("text"))
        return f"{feedback}\n  Correct this"

    def _link(self) -> str:
        return plain(self.run.get("url"))

    def _paint(self, text: str, *codes: str) -> str:
        if not self.colour:
            return text
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m"


def place_of(finding: Body) -> str:
    """`path:line:column`, as far as it is known; the answer itself is called `output`."""
    where = finding.get("path") or _beyond(finding.get("place") or {})
    if not where and finding.get("line"):
        where = finding.get("target")
    if not where:
        return plain(finding["target"]) if finding.get("target") == "output" else ""
    known = [plain(where)]
    for part in (finding.get("line"), finding.get("column")):
        if not part:
            break
        known.append(plain(part))
    return ":".join(known)


def _beyond(place: Body) -> str:
    """What was submitted beside the files and the answer."""
    number, claims = place.get("tool_call"), place.get("claims")
    if isinstance(number, int):
        return f"tool call {number + 1}"
    if isinstance(claims, list) and all(isinstance(one, int) for one in claims):
        return f"claim {', '.join(str(one + 1) for one in claims)}"
    return f"evidence {place['evidence']}" if place.get("evidence") else ""


def plain(value: object) -> str:
    """Text that cannot steer a terminal: submitted work is quoted in messages."""
    text = "" if value is None else str(value)
    return "".join(
        mark if mark in "\n\t" or unicodedata.category(mark)[0] != "C" else "�" for mark in text
    )


def _waits(doubt: Body) -> str:
    until = plain(doubt.get("until"))[11:16]
    return (
        "  Do not redo the work: its verification came to no verdict yet, and is tried again by\n"
        f"  itself until {until} UTC. Look again at the address below."
    )


def _people_said(review: Body) -> tuple[str, str, str]:
    return _verdict(
        {
            "verdict": "accept" if review.get("passed") else "reject",
            "outcome": review.get("outcome"),
        }
    )


def _verdict(run: Body) -> tuple[str, str, str]:
    if run.get("undecided"):
        return "◌", "Not decided yet", YELLOW
    if run.get("state") in {"queued", "running"}:
        return "◌", "Not finished", YELLOW
    if run.get("state") == "cancelled":
        return "◌", "Cancelled", YELLOW
    if run.get("state") == "errored":
        return "◌", "Could not be verified", YELLOW
    match run.get("verdict"), run.get("outcome"):
        case "accept", "pass_with_warnings":
            return "▲", "Accepted, with warnings", YELLOW
        case "accept", "partial_verified":
            return "◐", "Accepted, partly verified", YELLOW
        case "accept", _:
            return "✔", "Accepted", GREEN
        case "reject", _:
            return "✖", "Rejected", RED
        case _:
            return "◌", "Undecided", YELLOW
