"""xUnit.net's XML, of version 2 and later.

Source: https://xunit.net/docs/format-xml-v2
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from verification.engine.reports.model import (
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
from verification.engine.reports.testing.dotnet import (
    DID_NOT_SUCCEED,
    check_totals,
    error_case,
    failure_text,
    place_in_trace,
)
from verification.engine.reports.testing.xml_text import kind, tree_of, within

_RESULTS = {
    "Pass": CaseStatus.PASSED,
    "Fail": CaseStatus.FAILED,
    "Skip": CaseStatus.SKIPPED,
    "NotRun": CaseStatus.SKIPPED,
}


def read(content: bytes, folder: str = "") -> TestReport:
    root = tree_of(content)
    if kind(root) not in ("assemblies", "assembly"):
        raise Unreadable("The report is not xUnit.net's.")
    assemblies = [root] if kind(root) == "assembly" else within(root, "assembly")
    if kind(root) == "assemblies" and not assemblies and len(root):
        raise Unreadable("The report names no assembly, and is not empty.")
    return counted(case for one in assemblies for case in _of_assembly(one, folder))


def _of_assembly(assembly: Element, folder: str) -> Iterator[TestCase]:
    """An error of an assembly is one of no test, as of what cleans up after all of them."""
    if within(assembly, "class"):
        raise Unreadable("The report is xUnit.net's of version 1: 2 and later are read.")
    collections = within(assembly, "collection")
    tests = [test for one in collections for test in within(one, "test")]
    errors = [error for one in within(assembly, "errors") for error in within(one, "error")]
    for collection in collections:
        _check(collection, within(collection, "test"))
    _check(assembly, tests)
    check_totals(assembly, {"errors": {len(errors)}})
    for test in tests:
        yield _case(test, folder)
    for error in errors:
        title = name(error.get("name") or error.get("type")) or DID_NOT_SUCCEED
        yield error_case(title, failure_text(error, "failure"), folder)


def _case(test: Element, folder: str) -> TestCase:
    status = _RESULTS.get(test.get("result") or "")
    if status is None:
        raise Unreadable("A test of the report has no result that is known.")
    if status is not CaseStatus.FAILED and within(test, "failure"):
        raise Unreadable("A test of the report did not fail, and has a failure.")
    message = failure_text(test, "failure") or _reason(test)
    path, line = inner_path(test.get("source-file"), folder), number(test.get("source-line"))
    file = path
    if status.is_bad:
        place = place_in_trace(message, folder)
        path, line = place if place[0] else (path, line)
    suite = name(test.get("type"))
    return TestCase(
        name=name(test.get("name")).removeprefix(f"{suite}." if suite else ""),
        status=status,
        suite=suite,
        message=text(message) if status is not CaseStatus.PASSED else "",
        path=path,
        line=line if path else None,
        duration_ms=milliseconds(test.get("time")),
        file=file,
    )


def _reason(test: Element) -> str:
    return "\n".join((reason.text or "").strip() for reason in within(test, "reason"))


def _check(element: Element, tests: list[Element]) -> None:
    """Tests that were not asked for count among all, or do not."""
    results = [test.get("result") for test in tests]
    not_run = results.count("NotRun")
    check_totals(
        element,
        {
            "passed": {results.count("Pass")},
            "failed": {results.count("Fail")},
            "skipped": {results.count("Skip"), results.count("Skip") + not_run},
            "not-run": {not_run},
            "total": {len(results), len(results) - not_run},
        },
    )
