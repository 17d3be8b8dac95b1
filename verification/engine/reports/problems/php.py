"""What `php -l` says of files that are not PHP."""

from __future__ import annotations

import re

from verification.engine.reports.model import Problem, ProblemReport, ProblemSeverity
from verification.engine.reports.problems.grouping import Entry, only_entries
from verification.engine.reports.problems.parsing import collected, lines_of, problem

_HEAD = re.compile(
    r"(?:PHP )?(?P<level>Parse error|Fatal error|Warning|Deprecated|Notice): {1,2}(?P<told>.*)"
)
_QUIET = re.compile(r"No syntax errors detected in |Errors parsing ")


def read(content: bytes, folder: str = "") -> ProblemReport:
    return collected(
        _problem(one, folder) for one in only_entries(lines_of(content), _HEAD, _QUIET)
    )


def _problem(one: Entry, folder: str) -> Problem:
    told, _, line = one["told"].rpartition(" on line ")
    message, _, path = told.rpartition(" in ")
    return problem(
        message or one["told"],
        ProblemSeverity.HIGH if one["level"].endswith("error") else ProblemSeverity.LOW,
        path=path,
        folder=folder,
        line=line,
    )
