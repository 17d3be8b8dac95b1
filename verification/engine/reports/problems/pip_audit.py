"""`pip-audit -f json`."""

from __future__ import annotations

from collections.abc import Iterator

from verification.engine.reports.contents import Record, as_json, listed, record, records
from verification.engine.reports.model import (
    Problem,
    ProblemReport,
    ProblemSeverity,
    Unreadable,
    name,
)
from verification.engine.reports.problems.parsing import collected, problem

MAX_FIXES = 10


def read(content: bytes, folder: str = "") -> ProblemReport:
    """`folder` places nothing: the report names packages, not files."""
    report = as_json(content)
    # Before 2.5 the list of packages was all there is.
    packages = report if isinstance(report, list) else record(report).get("dependencies")
    audited = [one for one in records(packages) if "skip_reason" not in one]
    # One's own package is always skipped; all of them are when nothing could be looked up.
    if listed(packages) and not audited:
        raise Unreadable("pip-audit could look up none of the packages.")
    return collected(problem for one in audited for problem in _problems(one))


def _problems(package: Record) -> Iterator[Problem]:
    title = f"{name(package.get('name'))} {name(package.get('version'))}"
    for one in records(package.get("vulns")):
        fixes = [name(fix) for fix in listed(one.get("fix_versions") or [])[:MAX_FIXES]]
        fixed = f" (fixed in {', '.join(fixes)})" if fixes else ""
        yield problem(
            f"{title}{fixed}: {name(one.get('description'))}",
            # It tells none; what is known to be unsafe is not taken for harmless.
            ProblemSeverity.HIGH,
            rule=one.get("id"),
        )
