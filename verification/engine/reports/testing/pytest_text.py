"""The last line that each run of pytest prints. Counts only."""

from __future__ import annotations

import re

from verification.engine.reports.model import TestCounts, TestReport, Unreadable
from verification.engine.reports.testing.contents import lines_of

_SUMMARY = re.compile(
    r"(?:=+ )?([a-z0-9 ,]{1,300}) in \d{1,9}\.\d{1,4}s(?: \([0-9:, a-z]{1,40}\))?(?: =+)?"
)
_PART = re.compile(r"(\d{1,9}) (subtests )?([a-z]{1,20})")
_PASSED = frozenset({"passed", "xpassed"})
_SKIPPED = frozenset({"skipped", "xfailed"})
_UNCOUNTED = frozenset({"warning", "warnings", "deselected", "rerun", "retried"})
_NOTHING = "no tests ran"


def read(content: bytes, folder: str = "") -> TestReport:
    counts = found(lines_of(content))
    if counts is None:
        raise Unreadable("The text has no summary line of pytest.")
    return TestReport(counts, is_guess=True)


def found(lines: list[str]) -> TestCounts | None:
    """What all summary lines count: a command may run pytest more than once."""
    summaries = filter(None, (_SUMMARY.fullmatch(line.strip()) for line in lines))
    told = [counts for one in summaries if (counts := _counts(one[1])) is not None]
    return sum(told[1:], told[0]) if told else None


def _counts(summary: str) -> TestCounts | None:
    """`None` for what counts no tests, as when they were only collected."""
    if summary == _NOTHING:
        return TestCounts()
    seen = dict.fromkeys(("passed", "failed", "errors", "skipped"), 0)
    for part in summary.split(", "):
        read_part = _PART.fullmatch(part)
        if not read_part:
            return None
        kind = _kind(read_part[3])
        if kind is None:
            return None
        if kind:
            seen[kind] += int(read_part[1])
    return TestCounts(**seen)


def _kind(word: str) -> str | None:
    if word in _UNCOUNTED:
        return ""
    if word in _PASSED:
        return "passed"
    if word in _SKIPPED:
        return "skipped"
    return {"failed": "failed", "error": "errors", "errors": "errors"}.get(word)
