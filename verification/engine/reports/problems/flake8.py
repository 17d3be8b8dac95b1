"""What `flake8` prints by default: `file:line:column: CODE message`."""

from __future__ import annotations

import re

from verification.engine.reports.model import Problem, ProblemReport
from verification.engine.reports.problems.grouping import Entry, only_entries
from verification.engine.reports.problems.parsing import collected, lines_of, problem
from verification.engine.reports.problems.python_rules import severity_of

_HEAD = re.compile(
    r"(?P<path>(?:[A-Za-z]:)?[^:]{1,500}):(?P<line>\d{1,9}):(?P<column>\d{1,9}): "
    r"(?P<rule>[A-Za-z]{1,10}\d{1,6}) (?P<message>.*)"
)
_COUNT = re.compile(r"0\Z")


def read(content: bytes, folder: str = "") -> ProblemReport:
    return collected(
        _problem(one, folder) for one in only_entries(lines_of(content), _HEAD, _COUNT)
    )


def _problem(one: Entry, folder: str) -> Problem:
    return problem(
        one["message"],
        severity_of(one["rule"]),
        path=one["path"],
        folder=folder,
        line=one["line"],
        column=one["column"],
        rule=one["rule"],
    )
