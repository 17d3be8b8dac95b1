"""`eslint -f json`."""

from __future__ import annotations

from collections.abc import Iterator

from verification.engine.reports.contents import Record, as_json, records
from verification.engine.reports.model import Problem, ProblemReport, ProblemSeverity
from verification.engine.reports.problems.parsing import collected, problem

_WARNING = 1


def read(content: bytes, folder: str = "") -> ProblemReport:
    return collected(_problems(content, folder))


def _problems(content: bytes, folder: str) -> Iterator[Problem]:
    for file in records(as_json(content)):
        for one in records(file.get("messages")):
            yield problem(
                one.get("message"),
                _severity(one),
                path=file.get("filePath"),
                folder=folder,
                line=one.get("line"),
                column=one.get("column"),
                rule=one.get("ruleId"),
            )


def _severity(one: Record) -> ProblemSeverity:
    """Fatal is what could not be parsed."""
    if one.get("fatal"):
        return ProblemSeverity.HIGH
    return ProblemSeverity.LOW if one.get("severity") == _WARNING else ProblemSeverity.MEDIUM
