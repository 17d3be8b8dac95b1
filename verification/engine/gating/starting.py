"""The gate `run`: the work is started as somebody names it, and what it does is compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil

from verification.engine.gates import OUT_OF_MEMORY_EXIT_CODE, GateReport
from verification.engine.gating.judging import COULD_NOT_RUN, MAX_TOLD, Judged, judged, own_word
from verification.engine.gating.service import watched
from verification.engine.gating.stages import Ended, Part, Ready, Stage, Start
from verification.engine.gating.written import last_words, readable
from verification.engine.outcome import Status
from verification.engine.reports.model import CaseStatus, TestCase, counted, name

MAX_OUTPUT_BYTES = 500_000
"""More than this is no expected output, and is not compared."""
MAX_LOG_BYTES = 50_000
"""What is kept of each stream of one start, where there are several."""
DIFFERENT_LINES = 3
MAX_LINE_CHARS = 200
_TOLD = re.compile(rb"(ready|late|ended) (?:(\d{1,3}) )?(\d{3}|other|none)\n?")
_LAST = {
    "none": "Nothing answered on port {port}.",
    "other": "What answered on port {port} was not HTTP.",
}
_UNFIT = (None, OUT_OF_MEMORY_EXIT_CODE, *COULD_NOT_RUN)

Run = Callable[[Stage], Ended]


@dataclass(frozen=True, slots=True)
class Tried:
    """`wrong` says what was not as expected; '' is well. `doubt`: what cannot be true together."""

    start: Start
    ended: Ended
    wrong: str = ""
    doubt: str = ""

    @property
    def is_unfit(self) -> bool:
        """It did not come to its end: there is nothing to compare, and no going on."""
        return self.ended.is_lost or self.ended.exit_code in _UNFIT


def start_all(part: Part, stage: Stage, run: Run) -> tuple[Ended, Judged]:
    """Start one after another within the stage's seconds; the first that is stopped is the last.

    What any of them left in the workspace, the next one finds.
    """
    tried: list[Tried] = []
    seconds = stage.seconds or part.seconds[stage.gate]
    left_ms = seconds * 1000
    for start in stage.starts:
        ended = run(_staged(stage, start, max(1, ceil(left_ms / 1000))))
        left_ms -= ended.duration_ms
        tried.append(_compared(start, ended))
        if tried[-1].is_unfit:
            break
    return _log(tried), _judged(part, stage, tried)


def _staged(stage: Stage, start: Start, seconds: int) -> Stage:
    command = watched(start.command, start.ready) if start.ready else start.command
    return replace(stage, command=command, input=start.input, seconds=seconds, starts=())


def _judged(part: Part, stage: Stage, tried: Sequence[Tried]) -> Judged:
    last = tried[-1]
    if last.is_unfit:
        if last.ended.is_lost or not any(one.wrong for one in tried[:-1]):
            return judged(part, replace(stage, command=last.start.command), last.ended)
        if last.ended.exit_code in COULD_NOT_RUN:
            tried = tried[:-1]  # it says nothing; what those before it did is certain
    report = counted(map(_case, tried))
    failures = tuple(one for one in report.cases if one.status is CaseStatus.FAILED)
    told = GateReport(
        gate=stage.gate,
        status=Status.FAILED if failures else Status.PASSED,
        component=part.component.name,
        exit_code=_exit_code(tried),
        command=stage.command,
        tests=report.counts,
        failures=failures[:MAX_TOLD],
        duration_ms=sum(one.ended.duration_ms for one in tried),
        detail="" if failures else own_word(stage),
        contradiction=next(filter(None, (one.doubt for one in tried)), ""),
    )
    return Judged(told, tests=report)


def _exit_code(tried: Sequence[Tried]) -> int | None:
    """Of several, or where another one than 0 was right, none says how all of them went."""
    if len(tried) > 1 or tried[0].start.exit_code:
        return None
    code = tried[0].ended.exit_code
    return None if tried[0].wrong and code == 0 else code


def _case(one: Tried) -> TestCase:
    return TestCase(
        name(one.start.command),
        CaseStatus.FAILED if one.wrong else CaseStatus.PASSED,
        message=one.wrong,
        path=one.start.path if one.start.line else "",
        line=one.start.line,
        duration_ms=one.ended.duration_ms,
    )


def _compared(start: Start, ended: Ended) -> Tried:
    if ended.exit_code is None:
        return Tried(start, ended, wrong="It did not end in time." + last_words(ended))
    if start.ready:
        return _service(start, start.ready, ended)
    if ended.exit_code != start.exit_code:
        said = f"It ended with exit code {ended.exit_code}, not {start.exit_code}."
        return Tried(start, ended, wrong=said + last_words(ended))
    return Tried(start, ended, wrong=difference(start.output, ended.out))


def _service(start: Start, ready: Ready, ended: Ended) -> Tried:
    match = _TOLD.fullmatch(ended.report or b"")
    word, code, status = (readable(one or b"") for one in match.groups()) if match else ("",) * 3
    if (ended.exit_code == 0) is not (word == "ready"):
        return Tried(start, ended, doubt="ended, and nobody knows whether it was ready")
    if word == "ready":
        return Tried(start, ended)
    last = _LAST.get(status, f"It answered {status}.").format(port=ready.port)
    if word == "late":
        said = f"It was not ready within {ready.seconds} s. {last}"
    else:
        said = f"It ended by itself with exit code {code or ended.exit_code}. {last}"
    return Tried(start, ended, wrong=said + last_words(ended))


def difference(expected: str | None, out: bytes) -> str:
    r"""Where an output differs first, as far as line ends and trailing blanks do not matter.

    >>> difference("7", b"7  \r\n\n"), difference(None, b"8")
    ('', '')
    """
    if expected is None:
        return ""
    if len(out) > MAX_OUTPUT_BYTES:
        return f"It wrote more than {MAX_OUTPUT_BYTES} bytes."
    wanted, written = _lines(expected.encode()), _lines(out)
    if wanted == written:
        return ""
    pairs = enumerate(zip(wanted, written, strict=False))
    shorter = min(len(wanted), len(written))
    at = next((number for number, (one, other) in pairs if one != other), shorter)
    shown = [*_shown("-", wanted[at:]), *_shown("+", written[at:])]
    said = f"Its output is not the expected one from line {at + 1} on (- expected, + written):"
    return "\n".join([said, *shown])


def _lines(content: bytes) -> list[bytes]:
    lines = [line.rstrip(b" \t\r") for line in content.split(b"\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _shown(mark: str, lines: Sequence[bytes]) -> list[str]:
    shown = [readable(line[: 4 * MAX_LINE_CHARS]) for line in lines[:DIFFERENT_LINES]]
    cut = [one if len(one) <= MAX_LINE_CHARS else f"{one[:MAX_LINE_CHARS]}…" for one in shown]
    more = len(lines) - len(shown)
    return [*(f"{mark} {one}" for one in cut), *([f"{mark} … {more} more lines"] if more else [])]


def _log(tried: Sequence[Tried]) -> Ended:
    """What all of them wrote, as one command would have."""
    if len(tried) == 1:
        return tried[0].ended
    last = tried[-1].ended
    return replace(
        last,
        out=b"\n".join(_written(one) for one in tried),
        err=b"",
        duration_ms=sum(one.ended.duration_ms for one in tried),
    )


def _written(one: Tried) -> bytes:
    said = one.ended.out[-MAX_LOG_BYTES:], one.ended.err[-MAX_LOG_BYTES:]
    return b"\n".join([f"$ {one.start.command}".encode(), *filter(None, said)])
