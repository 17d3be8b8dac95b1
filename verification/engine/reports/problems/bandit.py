"""`bandit -f json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from verification.engine.reports.contents import as_json, record, records
from verification.engine.reports.model import Problem, ProblemReport, ProblemSeverity
from verification.engine.reports.problems.parsing import collected, from_zero, problem

_SEVERITIES: Mapping[object, ProblemSeverity] = {
    "HIGH": ProblemSeverity.HIGH,
    "LOW": ProblemSeverity.LOW,
}


def read(content: bytes, folder: str = "") -> ProblemReport:
    return collected(_problems(content, folder))


def _problems(content: bytes, folder: str) -> Iterator[Problem]:
    report = record(as_json(content))
    # Bandit looked at none of these, and says no more of them.
    for one in records(report.get("errors")):
        yield problem(
            one.get("reason"), ProblemSeverity.HIGH, path=one.get("filename"), folder=folder
        )
    for one in records(report.get("results")):
        yield problem(
            one.get("issue_text"),
            _SEVERITIES.get(str(one.get("issue_severity")), ProblemSeverity.MEDIUM),
            path=one.get("filename"),
            folder=folder,
            line=one.get("line_number"),
            column=from_zero(one.get("col_offset")),
            rule=one.get("test_id"),
        )
