"""`cargo clippy --message-format json`, and `cargo build` or `check` likewise."""

from __future__ import annotations

from collections.abc import Iterator

from verification.engine.reports.contents import Record, inside, json_lines, record
from verification.engine.reports.model import (
    Problem,
    ProblemReport,
    ProblemSeverity,
    Unreadable,
)
from verification.engine.reports.problems.parsing import collected, distinct, problem

_UNFINISHED = "The build did not finish, and the report does not say why."


def read(content: bytes, folder: str = "") -> ProblemReport:
    """One that ends before cargo says that the build is over is cut short."""
    found: list[Problem] = []
    ends: list[bool] = []
    for one in json_lines(content, among_others=True):
        if one.get("reason") == "build-finished":
            ends.append(one.get("success") is True)
        elif one.get("reason") == "compiler-message":
            found.extend(_problems(record(one.get("message")), folder))
    if not ends:
        raise Unreadable("The report does not say that the build is over.")
    if not all(ends) and not any(one.severity is ProblemSeverity.HIGH for one in found):
        found.append(problem(_UNFINISHED, ProblemSeverity.HIGH))
    return collected(distinct(found))


def _problems(message: Record, folder: str) -> Iterator[Problem]:
    level, spans = str(message.get("level")), message.get("spans")
    is_error = level.startswith("error")
    if not is_error and level != "warning":
        return
    if _is_summary(message):
        return
    place = _primary(spans)
    yield problem(
        message.get("message"),
        ProblemSeverity.HIGH if is_error else ProblemSeverity.MEDIUM,
        path=inside(place, "file_name"),
        folder=folder,
        line=inside(place, "line_start"),
        column=inside(place, "column_start"),
        rule=inside(message, "code", "code"),
    )


def _is_summary(message: Record) -> bool:
    said = str(message.get("message"))
    return not message.get("spans") and (
        said.startswith(("aborting due to ", "could not compile ")) or said.endswith(" emitted")
    )


def _primary(spans: object) -> object:
    found = spans if isinstance(spans, list) else []
    return next((one for one in found if inside(one, "is_primary")), None)
