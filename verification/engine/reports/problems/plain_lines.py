"""The last resort: `file:line:column: message`, and what a tool counts, of whatever tool."""

from __future__ import annotations

import re
from dataclasses import replace

from verification.engine.reports.model import (
    Problem,
    ProblemReport,
    ProblemSeverity,
    Unreadable,
)
from verification.engine.reports.problems.grouping import Entry, entries
from verification.engine.reports.problems.parsing import collected, lines_of, problem

MAX_COUNT_CHARS = 1_000
_HEAD = re.compile(
    r"(?=[^:]{0,500}[./])(?P<path>[^\s:][^:]{0,499}):(?P<line>\d{1,9})(?::(?P<column>\d{1,9}))?"
    r":?[ \t]+(?P<message>\S.*)"
)
_COUNT = re.compile(
    r"(?<![\w.])(?P<count>\d{1,9}|no) (?:[a-z]{1,20} )?"
    r"(?:problem|error|issue|warning|violation|offense|finding|vulnerabilit)(?:s|ies|y)?\b",
    re.IGNORECASE,
)
_FATAL = re.compile(r"\W{0,3}(?:fatal|critical)\b", re.IGNORECASE)
_SMALL = re.compile(r"\W{0,3}(?:warning|warn|note|info|hint|style|convention)\b", re.IGNORECASE)


def read(content: bytes, folder: str = "") -> ProblemReport:
    """The largest count of the text holds, where it is more than the lines with a place."""
    found: list[Entry] = []
    counts: list[int] = []
    is_blank = True
    for one in entries(lines_of(content), _HEAD):
        is_blank = False
        if isinstance(one, Entry):
            found.append(one)
        else:
            told = (each["count"] for each in _COUNT.finditer(one[:MAX_COUNT_CHARS]))
            counts.extend(int(each) if each.isdigit() else 0 for each in told)
    if not is_blank and not found and not counts:
        raise Unreadable("The text tells of no problems, and not that there are none.")
    report = collected((_problem(one, folder) for one in found), is_guess=True)
    return replace(report, total=max(report.total, *counts, 0))


def _problem(one: Entry, folder: str) -> Problem:
    return problem(
        one["message"],
        _severity(one["message"]),
        path=one["path"],
        folder=folder,
        line=one["line"],
        column=one["column"],
    )


def _severity(message: str) -> ProblemSeverity:
    if _FATAL.match(message):
        return ProblemSeverity.HIGH
    return ProblemSeverity.LOW if _SMALL.match(message) else ProblemSeverity.MEDIUM
