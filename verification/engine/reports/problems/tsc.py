"""What `tsc` prints, plain and pretty."""

from __future__ import annotations

import re

from verification.engine.reports.model import Problem, ProblemReport, ProblemSeverity
from verification.engine.reports.problems.grouping import Entry, only_entries
from verification.engine.reports.problems.parsing import collected, lines_of, problem

_HEAD = re.compile(
    r"(?:(?P<path>\S.{0,499}?)"
    r"(?:\((?P<line>\d{1,9}),(?P<column>\d{1,9})\): |:(?P<row>\d{1,9}):(?P<place>\d{1,9}) - )"
    r"|(?=error TS))"
    r"(?P<level>error|warning|message|suggestion) (?P<rule>TS\d{1,6}): (?P<message>.*)"
)
_QUIET = re.compile(r"Found 0 errors|\[?\d{1,2}:\d\d:\d\d")
_NOT_TYPESCRIPT = re.compile(r"TS1\d{3}\Z")


def read(content: bytes, folder: str = "") -> ProblemReport:
    return collected(
        _problem(one, folder) for one in only_entries(lines_of(content), _HEAD, _QUIET)
    )


def _problem(one: Entry, folder: str) -> Problem:
    return problem(
        "\n".join((one["message"], *one.following)),
        _severity(one),
        path=one["path"],
        folder=folder,
        line=one["line"] or one["row"],
        column=one["column"] or one["place"],
        rule=one["rule"],
    )


def _severity(one: Entry) -> ProblemSeverity:
    """Without a file it is what kept the compiler from its work."""
    if not one["path"] or _NOT_TYPESCRIPT.match(one["rule"]):
        return ProblemSeverity.HIGH
    return ProblemSeverity.MEDIUM if one["level"] == "error" else ProblemSeverity.LOW
