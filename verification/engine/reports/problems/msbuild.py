"""What MSBuild prints of compilers: `dotnet build`.

Source: https://learn.microsoft.com/visualstudio/msbuild/msbuild-diagnostic-format-for-tasks
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from verification.engine.reports.model import (
    Problem,
    ProblemReport,
    ProblemSeverity,
    Unreadable,
)
from verification.engine.reports.problems.parsing import collected, distinct, lines_of, problem

_SUCCEEDED = b"Build succeeded."
_HEAD = re.compile(
    r"\s{0,20}(?P<path>[^\s:(][^:(]{0,499}?)"
    r"(?:\((?P<line>\d{1,9})(?:,(?P<column>\d{1,9}))?(?:[-,]\d{1,9}){0,3}\))? ?: "
    r"(?P<level>error|warning) (?P<rule>[A-Za-z]{1,10}\d{1,6}): (?P<message>.*)"
)


def read(content: bytes, folder: str = "") -> ProblemReport:
    """Among all else that is printed; a project is built once for each that refers to it."""
    report = collected(distinct(_problems(content, folder)))
    if not report.total and content.strip() and _SUCCEEDED not in content:
        raise Unreadable("The text tells of no problems, and not that there are none.")
    return report


def _problems(content: bytes, folder: str) -> Iterator[Problem]:
    for line in lines_of(content):
        found = _HEAD.match(line)
        if found:
            is_error = found["level"] == "error"
            yield problem(
                _without_project(found["message"]),
                ProblemSeverity.HIGH if is_error else ProblemSeverity.LOW,
                path=found["path"] if found["line"] or "/" in found["path"] else "",
                folder=folder,
                line=found["line"],
                column=found["column"],
                rule=found["rule"],
            )


def _without_project(message: str) -> str:
    """Which project was built stands behind it, in brackets."""
    told, bracket, _ = message.rpartition(" [")
    return told if bracket and message.endswith("]") else message
