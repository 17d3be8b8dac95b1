"""`npm audit --json`, of npm 7 and later: one problem for each package that is not safe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from verification.engine.reports.contents import Record, as_json, inside, listed, record
from verification.engine.reports.model import (
    Problem,
    ProblemReport,
    ProblemSeverity,
    Unreadable,
    name,
    number,
)
from verification.engine.reports.problems.parsing import collected, problem

MAX_ADVISORIES = 10
_VERSION = 2
_SEVERITIES: Mapping[str, ProblemSeverity] = {
    "moderate": ProblemSeverity.MEDIUM,
    "low": ProblemSeverity.LOW,
    "info": ProblemSeverity.LOW,
}


def read(content: bytes, folder: str = "") -> ProblemReport:
    """`folder` places nothing: the report names packages, not files."""
    report = record(as_json(content))
    if report.get("auditReportVersion") != _VERSION:
        raise Unreadable("The report is no audit: npm could not do its work, or is too old.")
    found = collected(_problems(record(report.get("vulnerabilities"))))
    told = inside(report, "metadata", "vulnerabilities", "total")
    return replace(found, total=max(found.total, number(told) or 0))


def _problems(packages: Record) -> Iterator[Problem]:
    for package, value in packages.items():
        one = record(value)
        causes = listed(one.get("via") or [])
        advisories: list[Record] = [cause for cause in causes if isinstance(cause, dict)]
        yield problem(
            _message(package, one, advisories[:MAX_ADVISORIES]),
            _SEVERITIES.get(str(one.get("severity")), ProblemSeverity.HIGH),
            rule=_rule(advisories),
        )


def _message(package: str, one: Record, advisories: list[Record]) -> str:
    titles = [name(advisory.get("title")) for advisory in advisories]
    through = [name(via) for via in listed(one.get("via") or [])[:MAX_ADVISORIES] if via]
    why = "; ".join(filter(None, titles)) or f"through {', '.join(filter(None, through))}"
    return f"{name(package)} {name(one.get('range'))}: {why}"


def _rule(advisories: list[Record]) -> str:
    """The id that ends the address of the first advisory."""
    return name(inside(advisories, 0, "url")).rpartition("/")[2]
