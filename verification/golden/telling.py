"""A replay as text for a terminal: what regressed first, expected beside observed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from loomverify.submitting.report import plain
from verification.engine.golden.standing import DOES_NOT_HOLD, STALE_WARNING, Change

RED, GREEN, YELLOW, BOLD, DIM = "31", "32", "33", "1", "2"
MAX_DIFFERENCES = 6
MAX_VALUE_CHARS = 300
MAX_CASES = 50
"""Of each change; the report file and the page hold them all."""
SIGNS = {
    Change.REGRESSED: ("✖", "regressed", RED),
    Change.FIXED: ("✔", "fixed", GREEN),
    Change.STILL_FAILING: ("▲", "still failing", YELLOW),
    Change.NEW: ("▲", "new, does not hold", YELLOW),
    Change.NOT_JUDGED: ("◌", "could not be judged", YELLOW),
    Change.HELD: ("✔", "hold", GREEN),
}
ACCEPTED_FAILURE = ("▲", "accepted failure", YELLOW)
LISTED = (*DOES_NOT_HOLD, Change.NOT_JUDGED)


@dataclass(frozen=True, slots=True)
class CaseTold:
    """`why` says what kept it from being judged; `guards` is the case's own sentence.

    `accepted`: why its failure is accepted; '' where it is not.
    """

    name: str
    process: str
    change: Change
    guards: str = ""
    differences: Sequence[Mapping[str, Any]] = ()
    why: str = ""
    accepted: str = ""


@dataclass(frozen=True, slots=True)
class ReplayTold:
    """A replay that ended. `stale_share`: 0 to 1, None where nothing was asked.

    `url` is where people look at it, '' where it was replayed here. `notes` are sentences for
    whoever started it.
    """

    counts: Mapping[Change, int]
    cases: Sequence[CaseTold] = field(default=())
    stale_share: float | None = None
    url: str = ""
    notes: Sequence[str] = ()

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def count(self, *changes: Change) -> int:
        return sum(self.counts.get(change, 0) for change in changes)

    def count_accepted(self, *changes: Change) -> int:
        """Count the cases of these changes whose failure is accepted."""
        return sum(bool(case.accepted) and case.change in changes for case in self.cases)


def text_of(replay: ReplayTold, *, colour: bool = False) -> str:
    paint = _Paint(colour)
    blocks = [
        *_cases(replay, paint),
        _summary(replay, paint),
        _stale(replay, paint),
        "\n".join(paint(f"▲ {_line(note)}", YELLOW) for note in replay.notes),
        plain(replay.url),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


@dataclass(frozen=True, slots=True)
class _Paint:
    is_on: bool

    def __call__(self, text: str, *codes: str) -> str:
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if self.is_on else text


def _cases(replay: ReplayTold, paint: _Paint) -> Iterator[str]:
    for change in LISTED:
        found = [one for one in replay.cases if one.change is change]
        yield from (_case(one, paint) for one in found[:MAX_CASES])
        if left := replay.count(change) - min(len(found), MAX_CASES):
            yield paint(f"… and {left:,} more: {SIGNS[change][1]}", DIM)


def _case(case: CaseTold, paint: _Paint) -> str:
    sign, word, colour = SIGNS[case.change]
    if case.accepted:
        sign, word, colour = ACCEPTED_FAILURE
    head = f"{paint(f'{sign} {word}', BOLD, colour)}  {plain(case.name)}  ({plain(case.process)})"
    lines = [head]
    if case.accepted:
        lines.append(paint(f"    Accepted: {_line(case.accepted)}", DIM))
    if case.guards:
        lines.append(paint(f"    It guards: {_line(case.guards)}", DIM))
    if case.change in DOES_NOT_HOLD:
        for one in case.differences[:MAX_DIFFERENCES]:
            lines += [f"    {_line(one.get('place'))}"]
            lines += [f"      expected  {_value(one.get('expected'))}"]
            lines += [f"      observed  {_value(one.get('observed'))}"]
        if (left := len(case.differences) - MAX_DIFFERENCES) > 0:
            lines.append(paint(f"    … and {left} more differences", DIM))
    if case.why:
        lines.append(f"    {_line(case.why)}")
    return "\n".join(lines)


def _summary(replay: ReplayTold, paint: _Paint) -> str:
    counts = [
        (replay.count(change) - replay.count_accepted(change), *sign)
        for change, sign in SIGNS.items()
    ]
    counts.insert(-1, (replay.count_accepted(*DOES_NOT_HOLD), *ACCEPTED_FAILURE))
    told = [
        paint(f"{sign} {count:,} {word}", colour) for count, sign, word, colour in counts if count
    ]
    cases = "1 case" if replay.total == 1 else f"{replay.total:,} cases"
    if not told:
        return "No case fits what was asked for: nothing was replayed."
    return f"{paint(cases, BOLD)}: {' · '.join(told)}"


def _stale(replay: ReplayTold, paint: _Paint) -> str:
    share = replay.stale_share or 0.0
    if share <= STALE_WARNING:
        return ""
    told = (
        f"▲ {share:.0%} of the questions have changed since their answers were recorded:\n"
        "  what judges would say today may differ. Replay with --live, or record them anew."
    )
    return paint(told, YELLOW)


def _value(value: object) -> str:
    if isinstance(value, str):
        return _line(value) or "(empty)"
    return _line(json.dumps(value, ensure_ascii=False, sort_keys=True, default=str))


def _line(value: object) -> str:
    """One line of a text that may hold anything."""
    text = " ⏎ ".join(plain(value).splitlines())
    return text if len(text) <= MAX_VALUE_CHARS else f"{text[:MAX_VALUE_CHARS]}…"
