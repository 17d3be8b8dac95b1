"""`golangci-lint run` in JSON (`--out-format json`, and `--output.json.path` since 2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from verification.engine.reports.contents import (
    Record,
    after_space,
    as_text,
    bounded_json,
    inside,
    json_at,
    record,
    records,
)
from verification.engine.reports.model import Problem, ProblemReport, ProblemSeverity, Unreadable
from verification.engine.reports.problems.parsing import collected, problem

_NOT_GO = "typecheck"
_SEVERITIES: Mapping[str, ProblemSeverity] = {
    "critical": ProblemSeverity.HIGH,
    "high": ProblemSeverity.HIGH,
    "error": ProblemSeverity.HIGH,
    "low": ProblemSeverity.LOW,
    "info": ProblemSeverity.LOW,
    "note": ProblemSeverity.LOW,
}


def read(content: bytes, folder: str = "") -> ProblemReport:
    return collected(_problems(content, folder))


def _problems(content: bytes, folder: str) -> Iterator[Problem]:
    # Since 2 a line of text, of how many there are, may follow.
    whole = bounded_json(as_text(content))
    report = record(json_at(whole, after_space(whole, 0))[0])
    if "Issues" not in report or inside(report, "Report", "Error"):
        raise Unreadable("golangci-lint could not do its work.")
    for one in records(report["Issues"] or []):
        yield problem(
            one.get("Text"),
            _severity(one),
            path=inside(one, "Pos", "Filename"),
            folder=folder,
            line=inside(one, "Pos", "Line"),
            column=inside(one, "Pos", "Column"),
            rule=one.get("FromLinter"),
        )


def _severity(one: Record) -> ProblemSeverity:
    if one.get("FromLinter") == _NOT_GO:
        return ProblemSeverity.HIGH
    return _SEVERITIES.get(str(one.get("Severity")).lower(), ProblemSeverity.MEDIUM)
