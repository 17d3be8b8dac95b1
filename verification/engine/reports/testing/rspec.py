"""What RSpec writes with `--format json`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from verification.engine.reports.contents import listed, record
from verification.engine.reports.model import (
    MAX_NAME_CHARS,
    CaseStatus,
    TestCase,
    TestReport,
    Unreadable,
    counted,
    inner_path,
    milliseconds,
    name,
    number,
    text,
)
from verification.engine.reports.testing.contents import count, plain, printed_json

_STATUSES = {
    "passed": CaseStatus.PASSED,
    "failed": CaseStatus.FAILED,
    "pending": CaseStatus.SKIPPED,
}
_COUNTED = {
    "failure_count": CaseStatus.FAILED,
    "pending_count": CaseStatus.SKIPPED,
}
_PLACE = re.compile(r"([^\n]{1,500}?):(\d{1,9})(?::|$)")
_MAX_FRAMES = 100


def read(content: bytes, folder: str = "") -> TestReport:
    """What went wrong outside of the examples is an error: those of a file could not be loaded."""
    whole = printed_json(content)
    summary = record(whole.get("summary"))
    cases = [_case(record(one), folder) for one in listed(whole.get("examples"))]
    statuses = [case.status for case in cases]
    if count(summary.get("example_count")) != len(cases) or any(
        count(summary.get(key)) != statuses.count(status) for key, status in _COUNTED.items()
    ):
        raise Unreadable("The numbers that the report gives are not those of its examples.")
    if count(summary.get("errors_outside_of_examples_count", 0)):
        told = "\n".join(_texts(whole.get("messages")))
        cases.append(TestCase("Outside of the examples", CaseStatus.ERROR, message=text(told)))
    return counted(cases)


def _case(example: Mapping[str, Any], folder: str) -> TestCase:
    status = _status(example.get("status"))
    title, full = name(example.get("description")), name(example.get("full_description"))
    failure = example.get("exception") if status is not CaseStatus.PASSED else None
    told = record(failure) if failure is not None else {}
    path = inner_path(example.get("file_path"), folder)
    place = next(_places(told.get("backtrace"), folder), (path, number(example.get("line_number"))))
    return TestCase(
        name=title,
        status=status,
        suite=full.removesuffix(title).strip(),
        message=text(plain(told.get("message")).strip()),
        path=place[0],
        line=place[1] if place[0] else None,
        duration_ms=milliseconds(example.get("run_time")),
        file=path,
    )


def _status(word: object) -> CaseStatus:
    """An example that was begun and not ended has none: the run was left in it."""
    status = _STATUSES.get(word) if isinstance(word, str) else None
    if status is None:
        raise Unreadable("An example of the report has no status that is known.")
    return status


def _places(trace: object, folder: str) -> Iterator[tuple[str, int | None]]:
    """Where a trace meets files of the workspace, the innermost first."""
    for frame in _texts(trace, _MAX_FRAMES):
        found = _PLACE.match(frame[: MAX_NAME_CHARS + 20])
        path = inner_path(found[1], folder) if found else ""
        if found and path:
            yield path, number(found[2])


def _texts(values: object, most: int = 20) -> Iterator[str]:
    listing = values[:most] if isinstance(values, list) else []
    return (plain(one) for one in listing if isinstance(one, str))
