"""NUnit's XML, of version 3 (`test-run`) and of version 2 (`test-results`), which Pester writes too.

Source: https://docs.nunit.org/articles/nunit/technical-notes/usage/Test-Result-XML-Format.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from verification.engine.reports.model import (
    CaseStatus,
    TestCase,
    TestReport,
    Unreadable,
    counted,
    milliseconds,
    name,
    text,
)
from verification.engine.reports.testing.dotnet import (
    DID_NOT_SUCCEED,
    check_totals,
    count_statuses,
    error_case,
    failure_text,
    place_in_trace,
)
from verification.engine.reports.testing.xml_text import kind, tree_of, within

_RESULTS_3 = {
    "Passed": CaseStatus.PASSED,
    "Warning": CaseStatus.PASSED,
    "Failed": CaseStatus.FAILED,
    "Skipped": CaseStatus.SKIPPED,
    "Inconclusive": CaseStatus.SKIPPED,
}
_ERROR_LABELS = frozenset({"Error", "Invalid", "Cancelled"})
_RESULTS_2 = {
    "Success": CaseStatus.PASSED,
    "Failure": CaseStatus.FAILED,
    "Error": CaseStatus.ERROR,
    "Cancelled": CaseStatus.ERROR,
    "Ignored": CaseStatus.SKIPPED,
    "Skipped": CaseStatus.SKIPPED,
    "Inconclusive": CaseStatus.SKIPPED,
    "NotRunnable": CaseStatus.SKIPPED,
}
_SITES_OF_OTHERS = frozenset({"Parent", "Child"})
"""Where a suite failed because of the one around it, or of what is in it."""
_TRUE, _FALSE = "true", "false"


@dataclass(frozen=True, slots=True)
class _Version:
    """How a version names things. `check` compares an element's totals with the cases below it."""

    status: Callable[[Element], CaseStatus]
    check: Callable[[Element, list[Element], list[TestCase]], None]
    has_failed: Callable[[Element], bool]
    seconds: str


def read_nunit3(content: bytes, folder: str = "") -> TestReport:
    return _read(content, folder, "test-run", _VERSION_3)


def read_nunit2(content: bytes, folder: str = "") -> TestReport:
    return _read(content, folder, "test-results", _VERSION_2)


def _read(content: bytes, folder: str, tag: str, version: _Version) -> TestReport:
    root = tree_of(content)
    if kind(root) != tag:
        raise Unreadable(f"The report's root is `{name(kind(root))}`, and not `{tag}`.")
    reader = _Reader(folder, version)
    _, cases = reader.read(root, "")
    if version.has_failed(root) and not any(case.status.is_bad for case in cases):
        cases = [*cases, error_case(DID_NOT_SUCCEED, "", folder)]
    return counted(cases)


@dataclass(frozen=True, slots=True)
class _Reader:
    folder: str
    version: _Version

    def read(self, suite: Element, title: str) -> tuple[list[Element], list[TestCase]]:
        """Its tests, and those of all suites in it.

        A suite that failed by itself is an error: what cleans up after all of its tests failed, or
        it could not be loaded.
        """
        elements: list[Element] = []
        cases: list[TestCase] = []
        for child in self._children(suite):
            if kind(child) == "test-case":
                elements.append(child)
                cases.append(self._case(child, title))
            elif kind(child) == "test-suite":
                inner, found = self.read(child, name(child.get("fullname") or child.get("name")))
                elements += inner
                cases += found
        self.version.check(suite, elements, cases)
        is_own = bool(within(suite, "failure")) and suite.get("site") not in _SITES_OF_OTHERS
        is_unblamed = not any(case.status.is_bad for case in cases)
        if is_own and is_unblamed and self.version.has_failed(suite):
            message = failure_text(suite, "failure")
            cases.append(error_case(title or DID_NOT_SUCCEED, message, self.folder))
        return elements, cases

    def _children(self, suite: Element) -> Iterator[Element]:
        for child in suite:
            if kind(child) == "results":
                yield from child
            else:
                yield child

    def _case(self, case: Element, suite: str) -> TestCase:
        status = self.version.status(case)
        if status is CaseStatus.PASSED and within(case, "failure"):
            raise Unreadable("A test of the report passed, and has a failure.")
        message = failure_text(case, "failure", "reason")
        path, line = place_in_trace(message, self.folder) if status.is_bad else ("", None)
        group, title = _split_name(name(case.get("name")), name(case.get("classname")), suite)
        return TestCase(
            name=title,
            status=status,
            suite=group,
            message=text(message) if status is not CaseStatus.PASSED else "",
            path=path,
            line=line,
            duration_ms=milliseconds(case.get(self.version.seconds)),
        )


def _split_name(whole: str, class_name: str, suite: str) -> tuple[str, str]:
    """What a test stands in, and its own name. Version 2 names it with its namespace and class.

    >>> _split_name("Calc.CalcTests.Adds", "", "CalcTests")
    ('Calc.CalcTests', 'Adds')
    """
    if class_name:
        return class_name, whole.removeprefix(f"{class_name}.")
    before, found, title = whole.partition(f"{suite}.") if suite else ("", "", "")
    is_named = found and title and (not before or before.endswith("."))
    return (f"{before}{suite}", title) if is_named else (suite, whole)


def _base(result: str | None) -> tuple[str, str]:
    """A result without what Unity writes behind it, and that: `Failed(Child)`."""
    base, _, label = (result or "").partition("(")
    return base, label.removesuffix(")").partition(":")[0]


def _status_3(case: Element) -> CaseStatus:
    base, label = _base(case.get("result"))
    status = _known(_RESULTS_3, base)
    is_error = (case.get("label") or label) in _ERROR_LABELS
    return CaseStatus.ERROR if status is CaseStatus.FAILED and is_error else status


def _status_2(case: Element) -> CaseStatus:
    """Versions before 2.5 write no result."""
    if (result := case.get("result")) is not None:
        return _known(_RESULTS_2, result)
    if (case.get("executed") or "").lower() == _FALSE:
        return CaseStatus.SKIPPED
    success = (case.get("success") or "").lower()
    return _known({_TRUE: CaseStatus.PASSED, _FALSE: CaseStatus.FAILED}, success)


def _known(statuses: Mapping[str, CaseStatus], result: str) -> CaseStatus:
    status = statuses.get(result)
    if status is None:
        raise Unreadable("A test of the report has no result that is known.")
    return status


def _check_3(element: Element, elements: list[Element], cases: list[TestCase]) -> None:
    """Warnings are counted with the passed tests, or beside them."""
    statuses = count_statuses(cases)
    results = [_base(one.get("result"))[0] for one in elements]
    warnings, inconclusive = results.count("Warning"), results.count("Inconclusive")
    passed = results.count("Passed")
    failed = results.count("Failed")
    check_totals(
        element,
        {
            "passed": {passed, passed + warnings},
            "failed": {failed},
            "skipped": {results.count("Skipped")},
            "inconclusive": {inconclusive},
            "total": {len(results), len(results) - results.count("Skipped")},
        },
    )
    has_bad = bool(statuses[CaseStatus.FAILED] + statuses[CaseStatus.ERROR])
    if has_bad and _base(element.get("result"))[0] in ("Passed", "Warning", "Skipped"):
        raise Unreadable("A suite of the report passed, and a test in it failed.")


def _check_2(element: Element, elements: list[Element], cases: list[TestCase]) -> None:
    """Only the root has totals. Before 2.5 errors are failures; not all count what did not run."""
    statuses = count_statuses(cases)
    bad = statuses[CaseStatus.FAILED] + statuses[CaseStatus.ERROR]
    has_errors = element.get("errors") is not None
    results = [one.get("result") for one in elements]
    inconclusive = results.count("Inconclusive")
    not_run = statuses[CaseStatus.SKIPPED] - inconclusive
    check_totals(
        element,
        {
            "failures": {statuses[CaseStatus.FAILED] if has_errors else bad},
            "errors": {statuses[CaseStatus.ERROR]},
            "total": {len(cases), len(cases) - not_run},
            "not-run": {not_run, statuses[CaseStatus.SKIPPED], 0},
        },
    )
    if bad and (element.get("success") or "").lower() == _TRUE:
        raise Unreadable("A suite of the report passed, and a test in it failed.")


def _has_failed_3(element: Element) -> bool:
    return _base(element.get("result"))[0] == "Failed"


def _has_failed_2(element: Element) -> bool:
    is_bad = element.get("result") in ("Failure", "Error")
    return is_bad or (element.get("success") or "").lower() == _FALSE


_VERSION_3 = _Version(_status_3, _check_3, _has_failed_3, "duration")
_VERSION_2 = _Version(_status_2, _check_2, _has_failed_2, "time")
