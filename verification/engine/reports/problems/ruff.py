"""`ruff check --output-format json`."""

from __future__ import annotations

from verification.engine.reports.contents import Record, as_json, inside, records
from verification.engine.reports.model import Problem, ProblemReport, name
from verification.engine.reports.problems.parsing import collected, problem
from verification.engine.reports.problems.python_rules import severity_of


def read(content: bytes, folder: str = "") -> ProblemReport:
    return collected(_problem(one, folder) for one in records(as_json(content)))


def _problem(one: Record, folder: str) -> Problem:
    code = name(one.get("code"))
    return problem(
        one.get("message"),
        severity_of(code),
        path=one.get("filename"),
        folder=folder,
        line=inside(one, "location", "row"),
        column=inside(one, "location", "column"),
        rule=code,
    )
