"""What `dotnet test --logger trx` writes.

Source: https://github.com/microsoft/vstest, Microsoft.TestPlatform.Extensions.TrxLogger.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element

from verification.engine.reports.model import (
    CaseStatus,
    TestCase,
    TestReport,
    Unreadable,
    counted,
    name,
    text,
)
from verification.engine.reports.testing.contents import count, lasting
from verification.engine.reports.testing.dotnet import DID_NOT_SUCCEED, place_in_trace
from verification.engine.reports.testing.xml_text import kind, tree_of, within

_STATUSES = {
    "Passed": CaseStatus.PASSED,
    "Warning": CaseStatus.PASSED,
    "Failed": CaseStatus.FAILED,
    "NotExecuted": CaseStatus.SKIPPED,
    "Inconclusive": CaseStatus.SKIPPED,
    "Pending": CaseStatus.SKIPPED,
}
_GOOD_ENDS = frozenset({"Completed", "Passed", "Warning", "NotExecuted"})
_DURATION = re.compile(r"(\d{1,2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?")


def read(content: bytes, folder: str = "") -> TestReport:
    """One report, or several in an element `TestRuns`: each project writes its own."""
    root = tree_of(content)
    runs = list(root) if kind(root) == "TestRuns" else [root]
    return counted(case for run in runs for case in _cases(run, folder))


def _cases(root: Element, folder: str) -> list[TestCase]:
    """A run that failed without a test that did, as one that was aborted, is an error."""
    if kind(root) != "TestRun":
        raise Unreadable("The report is not a TRX file.")
    summaries = within(root, "ResultSummary")
    if not summaries:
        raise Unreadable("The report has no summary: the run did not end.")
    results = [one for part in within(root, "Results") for one in part]
    classes = _classes(root)
    cases = [_case(one, folder, classes) for one in _leaves(results)]
    _agrees(summaries[0], len(results), cases)
    is_bad = any(case.status.is_bad for case in cases)
    if summaries[0].get("outcome") not in _GOOD_ENDS and not is_bad:
        cases.append(_ended_badly(summaries[0]))
    return cases


def _classes(root: Element) -> Mapping[str, str]:
    """By a test's id: NUnit and MSTest name a test by its method alone."""
    return {
        test.get("id") or "": name((method.get("className") or "").partition(", ")[0])
        for part in within(root, "TestDefinitions")
        for test in within(part, "UnitTest")
        for method in within(test, "TestMethod")
    }


def _leaves(results: list[Element]) -> Iterator[Element]:
    """A test with rows of data holds a result for each of them."""
    for result in results:
        if kind(result) not in ("UnitTestResult", "TestResult", "GenericTestResult"):
            continue
        rows = [row for inner in within(result, "InnerResults") for row in inner]
        leaves = list(_leaves(rows))
        yield from leaves or [result]


def _case(result: Element, folder: str, classes: Mapping[str, str]) -> TestCase:
    suite = classes.get(result.get("testId") or "", "")
    outcome = result.get("outcome") or ""
    told = "\n".join(_told(result))
    path, line = place_in_trace(told, folder)
    return TestCase(
        # xUnit names it with its class.
        name=name(result.get("testName")).removeprefix(f"{suite}." if suite else ""),
        status=_STATUSES.get(outcome, CaseStatus.ERROR),
        suite=suite,
        message=text(told),
        path=path,
        line=line,
        duration_ms=_lasted(result.get("duration") or ""),
    )


def _told(result: Element) -> Iterator[str]:
    for output in within(result, "Output"):
        for error in within(output, "ErrorInfo"):
            for part in (*within(error, "Message"), *within(error, "StackTrace")):
                yield (part.text or "").strip()


def _lasted(duration: str) -> int:
    parts = _DURATION.fullmatch(duration)
    if not parts:
        return 0
    hours, minutes, seconds = (int(part) for part in parts.groups()[:3])
    whole = hours * 3600 + minutes * 60 + seconds
    return lasting(1000 * float(f"{whole}.{parts[4] or 0}"))


def _agrees(summary: Element, results: int, cases: list[TestCase]) -> None:
    """Tests with rows of data are counted by some adapters as one, by some as their rows."""
    for counters in within(summary, "Counters"):
        said = count(counters.get("total") or "0")
        failed = count(counters.get("failed") or "0") + count(counters.get("error") or "0")
        is_bad = any(case.status.is_bad for case in cases)
        if said not in (results, len(cases)) or (failed > 0 and not is_bad):
            raise Unreadable("The numbers that the report gives are not those of its results.")


def _ended_badly(summary: Element) -> TestCase:
    told = (
        (part.text or "").strip()
        for infos in within(summary, "RunInfos")
        for info in within(infos, "RunInfo")
        for part in within(info, "Text")
    )
    return TestCase(DID_NOT_SUCCEED, CaseStatus.ERROR, message=text("\n".join(told)))
