from __future__ import annotations

import json
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.reports.test_test_reports import (
    CARGO,
    DART,
    GO,
    JEST,
    JUNIT,
    MOCHA,
    NUNIT2,
    NUNIT3,
    PYTEST_TEXT,
    REPORTS,
    RSPEC,
    TAP,
    TEXT,
    TRX,
    UNITTEST,
    XUNIT,
    recorded,
)
from verification.engine.reports.model import (
    MAX_CASES,
    CaseStatus,
    TestCounts,
    TestReport,
    Unreadable,
)
from verification.engine.reports.testing import TestFormat, read_tests

PIECES = {
    JUNIT: [
        "<testsuite",
        "</testsuite>",
        "<testcase",
        ' tests="1"',
        "<failure>",
        "/>",
        ">",
        "<!--",
    ],
    TRX: ["<TestRun>", "<Results>", "<UnitTestResult", ' outcome="Failed"', "/>", "</TestRun>"],
    NUNIT3: [
        '<test-run result="Passed">',
        "<test-suite>",
        '<test-case result="Failed"',
        ' result="Passed"',
        "/>",
        "<failure>",
        "</test-suite>",
        "</test-run>",
    ],
    NUNIT2: [
        '<test-results total="1">',
        "<test-suite>",
        "<results>",
        '<test-case executed="True"',
        ' success="False"',
        "/>",
        "</results>",
        "</test-suite>",
        "</test-results>",
    ],
    XUNIT: [
        "<assemblies>",
        '<assembly total="1">',
        "<collection>",
        '<test result="Fail"',
        "/>",
        "</collection>",
        "</assembly>",
        "</assemblies>",
    ],
    DART: [
        '{"type":"start"}',
        '{"type":"testStart","test":{"id":1}}',
        '{"type":"error","testID":1}',
        '{"type":"testDone","testID":1,"result":"success"}',
        '{"type":"done","success":true}',
        "[]",
    ],
    RSPEC: [
        '{"examples":[{"status":',
        '"failed"',
        '}],"summary":{',
        '"failure_count":',
        "1",
        "}}",
        ",",
    ],
    GO: ['{"Action":"', 'pass"', 'fail"', ',"Package":"a"', ',"Test":"b/c"', "}", "FAIL\ta [build"],
    TAP: ["ok", "not ", "1..2", "    ", " # skip", "  ---", "  ...", "Bail out!", "# Subtest: a"],
    JEST: ['{"testResults":[', '"status":"failed"', '"numFailedTests":', "1", "]}", "null", ","],
    MOCHA: ['{"stats":{', '"failures":', "[{", '"tests":1', "}]", "}", ",", '"passes":', "null"],
    CARGO: ["running 1 test", "test a ... ok", "failures:", "test result: ok. 1 passed; 0 failed;"],
    UNITTEST: ["=" * 70, "-" * 70, "FAIL: a (b)", "Ran 1 test in 0.1s", "OK", "FAILED (errors=1)"],
    PYTEST_TEXT: ["1 failed", ", ", "2 passed", " in 0.1s", "== ", " ==", "no tests ran"],
    TEXT: [
        "1 failed, ",
        "3/4 passed",
        "Tests: ",
        "Tests run: 5, Failures: 1",
        "4 total",
        " in 1.0s",
        "Running 2 tests using 1 worker",
        "  1 failed",
        "[==========] Running 1 test from 1 test suite.",
        "[==========] 1 test from 1 test suite ran.",
        "ok | 1 passed | 0 failed (1ms)",
        "a: Executed 1 of 2 (1 FAILED)",
        "test cases: 2 | 1 passed | 1 failed",
    ],
}
PIECES[TestFormat.ANY] = [
    piece for form in (JUNIT, TRX, XUNIT, DART, GO, TAP, JEST) for piece in PIECES[form]
]
WHOLE = (JUNIT, TRX, NUNIT3, NUNIT2, XUNIT, DART, GO, JEST, MOCHA, RSPEC)
FAILING = [
    (written_in, report)
    for written_in, report, _, (_, failed, errors, *_) in REPORTS
    if failed + errors and written_in in WHOLE
]


def read_or_refused(written_in: TestFormat, content: bytes, folder: str = "") -> TestReport | None:
    try:
        return read_tests(written_in, content, folder)
    except Unreadable:
        return None


def holds(report: TestReport | None) -> bool:
    """What is true of whatever was read."""
    if report is None or not report.cases:
        return True
    kept = {status: [one.status for one in report.cases].count(status) for status in CaseStatus}
    flaky = sum(case.is_flaky for case in report.cases)
    shown = TestCounts(
        passed=kept[CaseStatus.PASSED],
        failed=kept[CaseStatus.FAILED],
        errors=kept[CaseStatus.ERROR],
        skipped=kept[CaseStatus.SKIPPED],
        flaky=flaky,
    )
    order = [not case.status.is_bad for case in report.cases]
    is_bad_alone = report.is_guess and shown.ran == shown.failed + shown.errors
    counts = report.counts
    return (
        len(report.cases) <= MAX_CASES
        and order == sorted(order)
        and (shown == counts or is_bad_alone)
        and (shown.failed, shown.errors) == (counts.failed, counts.errors)
        and all(is_inside(case.path) for case in report.cases)
        and not any(case.is_flaky and case.status.is_bad for case in report.cases)
        and all(case.line is None or (case.line > 0 and case.path) for case in report.cases)
    )


def is_inside(path: str) -> bool:
    return not path or not (path.startswith("/") or ".." in PurePosixPath(path).parts)


@pytest.mark.extended
@pytest.mark.parametrize("written_in", list(TestFormat))
@given(content=st.binary(max_size=200))
def test_whatever_the_bytes_they_are_read_or_refused(
    written_in: TestFormat, content: bytes
) -> None:
    assert holds(read_or_refused(written_in, content))


@pytest.mark.quick_rows(5)
@pytest.mark.parametrize("written_in", list(TestFormat))
@given(numbers=st.data())
def test_whatever_pieces_of_its_format_follow_each_other_they_are_read_or_refused(
    written_in: TestFormat, numbers: st.DataObject
) -> None:
    piece = st.sampled_from([*PIECES[written_in], "\n", " ", '"', "é", "\x00"])
    content = "".join(numbers.draw(st.lists(piece, max_size=30)))

    assert holds(read_or_refused(written_in, content.encode()))


@pytest.mark.quick_rows(4)
@pytest.mark.parametrize("written_in", list(TestFormat))
@given(places=st.data())
def test_a_report_with_other_bytes_in_it_is_read_or_refused(
    written_in: TestFormat, places: st.DataObject
) -> None:
    forms = WHOLE if written_in is TestFormat.ANY else (written_in,)
    reports = [one[1] for one in REPORTS if one[0] in forms]
    content = recorded(places.draw(st.sampled_from(reports)))
    begin = places.draw(st.integers(0, len(content)))
    end = places.draw(st.integers(begin, min(len(content), begin + 40)))
    instead = places.draw(st.binary(max_size=20) | st.sampled_from([b"../../x", b"9" * 20, b"\n"]))
    folder = places.draw(st.sampled_from(["", "back", "a/b"]))

    assert holds(read_or_refused(written_in, content[:begin] + instead + content[end:], folder))


@pytest.mark.quick_rows(13)
@pytest.mark.parametrize(("written_in", "report"), FAILING)
def test_a_failure_is_no_success_however_much_of_the_end_is_missing(
    written_in: TestFormat, report: str
) -> None:
    content = recorded(report)
    step = max(1, len(content) // 400)
    ends = {*range(0, len(content), step), *_ends_of_lines(content)}

    for end in ends:
        read = read_or_refused(written_in, content[:end])
        assert read is None or read.counts.ran == 0 or read.counts.failed + read.counts.errors


def _ends_of_lines(content: bytes) -> list[int]:
    return [at + 1 for at, byte in enumerate(content) if byte in b"\n}>"][-200:]


KEYS = (
    *("testResults", "assertionResults", "status", "numFailedTests", "stats", "passes", "err"),
    *("examples", "summary", "example_count", "exception", "backtrace"),
    *("Action", "Package", "Test", "Output", "location", "line", "ancestorTitles", "name"),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("written_in", [JEST, MOCHA, RSPEC, GO])
@given(whole=JSON)
def test_whatever_the_json_it_is_read_or_refused(written_in: TestFormat, whole: object) -> None:
    assert holds(read_or_refused(written_in, json.dumps(whole).encode()))


@pytest.mark.parametrize(
    ("written_in", "report"),
    [
        ("jest", "recorded/jest/all.json"),
        ("mocha", "recorded/mocha/calc.json"),
        ("rspec", "recorded/rspec/calc.json"),
    ],
)
@given(places=st.data())
def test_a_report_with_another_value_in_it_is_read_or_refused(
    written_in: str, report: str, places: st.DataObject
) -> None:
    whole = json.loads(recorded(report))
    part = whole
    while isinstance(part, dict | list) and part:
        around, keys = part, list(part) if isinstance(part, dict) else range(len(part))
        key = places.draw(st.sampled_from(keys))
        part = around[key]
        if places.draw(st.integers(0, 3)) == 0:
            break
    around[key] = places.draw(JSON)

    assert holds(read_or_refused(TestFormat(written_in), json.dumps(whole).encode()))


NAMES = st.lists(st.sampled_from(["a", "b", "a b", "é"]), min_size=1, max_size=4).map("/".join)


@given(ends=st.dictionaries(NAMES, st.sampled_from(["pass", "fail", "skip"]), min_size=1))
def test_a_test_of_go_that_failed_is_counted_or_holds_one_that_is(ends: dict[str, str]) -> None:
    events = [{"Action": end, "Package": "p", "Test": test} for test, end in ends.items()]
    has_failed = "fail" in ends.values()
    events.append({"Action": "fail" if has_failed else "pass", "Package": "p"})
    content = "\n".join(map(json.dumps, events)).encode()

    report = read_tests(GO, content)

    counted = {case.name for case in report.cases if case.status.is_bad}
    leaves = {test for test in ends if not any(other.startswith(f"{test}/") for other in ends)}
    assert counted >= {test for test in leaves if ends[test] == "fail"}
    assert all(
        any(one == test or one.startswith(f"{test}/") for one in counted)
        for test, end in ends.items()
        if end == "fail"
    )
    assert not any(
        one != other and other.startswith(f"{one}/") for one in counted for other in counted
    )
    assert {case.name for case in report.cases} - counted <= leaves
