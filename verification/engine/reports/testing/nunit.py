"""NUnit's XML, of version 3 (`test-run`) and of version 2 (`test-results`), which Pester writes too.

Source: https://docs.nunit.org/articles/nunit/technical-notes/usage/Test-Result-XML-Format.html
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
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


@dataclass(slots=True)
class _Tally:
    """How the tests below an element ended: in its own words, and as cases.

    `has_failed_suite`: a suite failed by itself, which no total counts.
    """

    results: Counter[str] = field(default_factory=Counter)
    statuses: Counter[CaseStatus] = field(default_factory=Counter)
    has_failed_suite: bool = False

    @property
    def bad(self) -> int:
        return self.statuses[CaseStatus.FAILED] + self.statuses[CaseStatus.ERROR]

    def add(self, other: _Tally) -> None:
        self.results.update(other.results)
        self.statuses.update(other.statuses)
        self.has_failed_suite = self.has_failed_suite or other.has_failed_suite


@dataclass(frozen=True, slots=True)
class _Version:
    """How a version names things. `check` compares an element's totals with the tests below it."""

    status: Callable[[Element], CaseStatus]
    check: Callable[[Element, _Tally], None]
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
    tally = reader.read(root, "")
    if version.has_failed(root) and not (tally.bad or tally.has_failed_suite):
        reader.cases.append(error_case(DID_NOT_SUCCEED, "", folder))
    return counted(reader.cases)


@dataclass(frozen=True, slots=True)
class _Reader:
    folder: str
    version: _Version
    cases: list[TestCase] = field(default_factory=list)

    def read(self, suite: Element, title: str) -> _Tally:
        """Read its tests, and those of all suites in it.

        A suite that failed by itself is an error: what cleans up after all of its tests failed, or
        it could not be loaded.
        """
        tally = _Tally()
        for child in self._children(suite):
            if kind(child) == "test-case":
                case = self._case(child, title)
                self.cases.append(case)
                tally.results[_base(child.get("result"))[0]] += 1
                tally.statuses[case.status] += 1
            elif kind(child) == "test-suite":
                tally.add(self.read(child, name(child.get("fullname") or child.get("name"))))
        self.version.check(suite, tally)
        is_own = bool(within(suite, "failure")) and suite.get("site") not in _SITES_OF_OTHERS
        is_blamed = tally.bad or tally.has_failed_suite
        if is_own and not is_blamed and self.version.has_failed(suite):
            message = failure_text(suite, "failure")
            self.cases.append(error_case(title or DID_NOT_SUCCEED, message, self.folder))
            tally.has_failed_suite = True
        return tally

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
    status = _look_up_status(_RESULTS_3, base)
    is_error = (case.get("label") or label) in _ERROR_LABELS
    return CaseStatus.ERROR if status is CaseStatus.FAILED and is_error else status


def _status_2(case: Element) -> CaseStatus:
    """Versions before 2.5 write no result."""
    if (result := case.get("result")) is not None:
        return _look_up_status(_RESULTS_2, result)
    if (case.get("executed") or "").lower() == _FALSE:
        return CaseStatus.SKIPPED
    success = (case.get("success") or "").lower()
    return _look_up_status({_TRUE: CaseStatus.PASSED, _FALSE: CaseStatus.FAILED}, success)


def _look_up_status(statuses: Mapping[str, CaseStatus], result: str) -> CaseStatus:
    status = statuses.get(result)
    if status is None:
        raise Unreadable("A test of the report has no result that is known.")
    return status


def _check_3(element: Element, tally: _Tally) -> None:
    """Warnings are counted with the passed tests, or beside them."""
    results, every = tally.results, tally.results.total()
    passed, skipped = results["Passed"], results["Skipped"]
    check_totals(
        element,
        {
            "passed": {passed, passed + results["Warning"]},
            "failed": {results["Failed"]},
            "skipped": {skipped},
            "inconclusive": {results["Inconclusive"]},
            "total": {every, every - skipped},
        },
    )
    if tally.bad and _base(element.get("result"))[0] in ("Passed", "Warning", "Skipped"):
        raise Unreadable("A suite of the report passed, and a test in it failed.")


def _check_2(element: Element, tally: _Tally) -> None:
    """Only the root has totals. Before 2.5 errors are failures; not all count what did not run."""
    statuses, every = tally.statuses, tally.statuses.total()
    skipped = statuses[CaseStatus.SKIPPED]
    not_run = skipped - tally.results["Inconclusive"]
    has_errors = element.get("errors") is not None
    check_totals(
        element,
        {
            "failures": {statuses[CaseStatus.FAILED] if has_errors else tally.bad},
            "errors": {statuses[CaseStatus.ERROR]},
            "total": {every, every - not_run},
            "not-run": {not_run, skipped, 0},
        },
    )
    if tally.bad and (element.get("success") or "").lower() == _TRUE:
        raise Unreadable("A suite of the report passed, and a test in it failed.")


def _has_failed_3(element: Element) -> bool:
    return _base(element.get("result"))[0] == "Failed"


def _has_failed_2(element: Element) -> bool:
    is_bad = element.get("result") in ("Failure", "Error")
    return is_bad or (element.get("success") or "").lower() == _FALSE


_VERSION_3 = _Version(_status_3, _check_3, _has_failed_3, "duration")
_VERSION_2 = _Version(_status_2, _check_2, _has_failed_2, "time")
