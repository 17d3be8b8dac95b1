"""What Jest and Vitest write with `--json` and `--reporter=json`.

Source: https://jestjs.io/docs/configuration#testresultsprocessor-string
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from verification.engine.reports.contents import listed, record
from verification.engine.reports.model import (
    CaseStatus,
    TestCase,
    TestReport,
    Unreadable,
    counted,
    inner_path,
    name,
    number,
    text,
)
from verification.engine.reports.testing.contents import (
    count,
    lasting,
    line_after,
    plain,
    printed_json,
)

_STATUSES = {
    "passed": CaseStatus.PASSED,
    "failed": CaseStatus.FAILED,
    "pending": CaseStatus.SKIPPED,
    "skipped": CaseStatus.SKIPPED,
    "todo": CaseStatus.SKIPPED,
    "disabled": CaseStatus.SKIPPED,
}

_FAILED_FILES = ("numFailedTestSuites", "numRuntimeErrorTestSuites")


def read(content: bytes, folder: str = "") -> TestReport:
    """A file that failed without a test of it that did is an error: it could not run, or end."""
    whole = printed_json(content)
    cases = [
        case for file in listed(whole.get("testResults")) for case in _of_file(record(file), folder)
    ]
    _agrees(whole, cases)
    has_failed = any(case.status.is_bad for case in cases)
    if not has_failed and any(count(whole.get(key) or 0) for key in _FAILED_FILES):
        raise Unreadable("The report counts files that failed, and names none.")
    if whole.get("success") is False and not has_failed:
        cases.append(TestCase("The run did not succeed", CaseStatus.ERROR))
    return counted(cases)


def _of_file(file: Mapping[str, Any], folder: str) -> Iterator[TestCase]:
    path = file.get("name")
    failed = False
    for test in listed(file.get("assertionResults")):
        case = _case(record(test), path, folder)
        failed = failed or case.status is CaseStatus.FAILED
        yield case
    if file.get("status") == "failed" and not failed:
        told, inner = text(plain(file.get("message"))), inner_path(path, folder)
        yield TestCase(inner or name(path), CaseStatus.ERROR, message=told, path=inner)


def _case(test: Mapping[str, Any], path: object, folder: str) -> TestCase:
    titles = [name(title) for title in listed(test.get("ancestorTitles") or [])]
    status = _status(test.get("status"))
    # Of a test that passed, why the tries before its last one did not.
    retries = listed(test.get("retryReasons") or [])
    is_flaky = status is CaseStatus.PASSED and bool(retries)
    told = "\n".join(map(plain, retries if is_flaky else listed(test.get("failureMessages") or [])))
    inner = inner_path(path, folder)
    place = test.get("location")
    line = line_after(told, path) or number(place.get("line") if isinstance(place, dict) else None)
    return TestCase(
        name=name(test.get("title")),
        status=status,
        suite=name(" > ".join(titles)),
        message=text(told),
        path=inner,
        line=line if inner else None,
        duration_ms=lasting(test.get("duration")),
        file=inner,
        is_flaky=is_flaky,
    )


def _status(word: object) -> CaseStatus:
    status = _STATUSES.get(word) if isinstance(word, str) else None
    if status is None:
        raise Unreadable("A test of the report has no status that is known.")
    return status


def _agrees(whole: Mapping[str, Any], cases: list[TestCase]) -> None:
    statuses = [case.status for case in cases]
    said = {"numFailedTests": CaseStatus.FAILED, "numPassedTests": CaseStatus.PASSED}
    if any(count(whole.get(key)) != statuses.count(status) for key, status in said.items()):
        raise Unreadable("The numbers that the report gives are not those of its tests.")
