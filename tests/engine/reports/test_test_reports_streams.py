from __future__ import annotations

import json

import pytest

from tests.engine.reports.test_test_reports import GO, JEST, MOCHA, TAP, TRX, recorded
from tests.tables import check_rows
from verification.engine.reports.model import CaseStatus, TestCounts, Unreadable
from verification.engine.reports.testing import read_tests

TRX_RUN = "<TestRun><Results>{}</Results><ResultSummary outcome='{}'>{}</ResultSummary></TestRun>"


def go(*events: tuple[str, str]) -> bytes:
    """Of one package, by (action, test)."""
    return b"\n".join(
        json.dumps({"Action": action, "Package": "p"} | ({"Test": test} if test else {})).encode()
        for action, test in events
    )


@check_rows(
    ("events", "counts"),
    [
        ([("pass", "T"), ("pass", "")], TestCounts(1)),
        ([("fail", "T/a"), ("fail", "T"), ("fail", "")], TestCounts(failed=1)),
        ([("pass", "T/a"), ("fail", "T"), ("fail", "")], TestCounts(1, 1)),
        ([("pass", "T/a/b"), ("fail", "T/a"), ("fail", "T"), ("fail", "")], TestCounts(1, 1)),
        ([("pass", "T"), ("pass", "Tee"), ("pass", "")], TestCounts(2)),
        ([("pass", "T"), ("run", "T"), ("fail", "T"), ("fail", "")], TestCounts(failed=1)),
        ([("fail", "T"), ("run", "T"), ("pass", "T"), ("fail", "")], TestCounts(failed=1)),
        ([("run", "T"), ("fail", "")], TestCounts(errors=1)),
        ([("run", "T"), ("pass", "")], TestCounts(errors=1)),
        ([("pass", "T"), ("fail", "")], TestCounts(1, errors=1)),
        ([("run", "BenchmarkT"), ("pass", "")], TestCounts()),
        ([("run", "BenchmarkT"), ("fail", "BenchmarkT"), ("fail", "")], TestCounts(failed=1)),
        ([("skip", "")], TestCounts()),
        ([("start", ""), ("pass", "")], TestCounts()),
        # Run again by gotestsum, which the package does in a run of its own.
        ([("fail", "T"), ("fail", ""), ("pass", "T"), ("pass", "")], TestCounts(1, flaky=1)),
        (
            [("fail", "T"), ("fail", ""), ("start", ""), ("fail", "T"), ("fail", "")],
            TestCounts(failed=1),
        ),
        (
            [("fail", "T"), ("fail", ""), ("fail", "T"), ("fail", ""), ("pass", "T"), ("pass", "")],
            TestCounts(1, flaky=1),
        ),
        (
            [
                ("pass", "U"),
                ("fail", "T/a"),
                ("pass", "T/b"),
                ("fail", "T"),
                ("fail", ""),
                ("pass", "T/a"),
                ("pass", "T"),
                ("pass", ""),
            ],
            TestCounts(3, flaky=1),
        ),
        (
            [
                ("fail", "T/a"),
                ("pass", "T/b"),
                ("fail", "T"),
                ("fail", ""),
                ("pass", "T/a"),
                ("fail", "T/b"),
                ("fail", "T"),
                ("fail", ""),
            ],
            TestCounts(1, 1, flaky=1),
        ),
        ([("fail", "T"), ("fail", ""), ("skip", "T"), ("pass", "")], TestCounts(failed=1)),
        # Another run of all tests: what failed in one of them has failed.
        (
            [
                ("pass", "U"),
                ("fail", "T"),
                ("fail", ""),
                ("pass", "U"),
                ("pass", "T"),
                ("pass", ""),
            ],
            TestCounts(1, 1),
        ),
        (
            [("fail", "T"), ("fail", ""), ("pass", "T"), ("fail", "")],
            TestCounts(1, errors=1, flaky=1),
        ),
    ],
)
def test_a_test_of_go_counts_once_and_one_around_it_when_it_failed_itself(
    events: list[tuple[str, str]], counts: TestCounts
) -> None:
    assert read_tests(GO, go(*events)).counts == counts


@pytest.mark.parametrize(
    "content",
    [
        go(("pass", "T")),
        go(("pass", ""), ("start", "")),
        b'{"Action":"pass","Package":"p"',
        b'{"Package":"p"}',
        b"[1]",
        b"ok  \texample.com/calc\t0.1s",
        b'{"Action":"build-fail","ImportPath":"p"}',
    ],
)
def test_a_package_of_go_that_does_not_end_is_not_read(content: bytes) -> None:
    with pytest.raises(Unreadable):
        read_tests(GO, content)


def test_a_failure_of_go_tells_what_the_test_printed() -> None:
    cases = {case.name: case for case in read_tests(GO, recorded("recorded/go/calc.jsonl")).cases}

    assert cases["TestAdd/three"].message.startswith("    calc_test.go:9: Add(1, 1) is 2, not 3")
    assert cases["TestAdd/three"].suite == "example.com/calc/calc"
    assert cases["TestZero"].message == ""


def test_a_package_of_go_that_is_not_built_tells_what_the_compiler_said() -> None:
    report = read_tests(GO, recorded("recorded/go_1_27/broken.jsonl"))

    assert (report.cases[0].name, report.cases[0].status) == (
        "example.com/calc/broken",
        CaseStatus.ERROR,
    )
    assert "broken_test.go:5:46: cannot use" in report.cases[0].message


@check_rows(
    ("lines", "counts"),
    [
        ("1..1\nok", TestCounts(1)),
        ("ok 1\n1..1", TestCounts(1)),
        ("1..0 # SKIP no database", TestCounts()),
        ("1..2\nok # skip a\nnot ok # TODO b", TestCounts(skipped=2)),
        ("1..1\nnot ok \\# skip is only a word", TestCounts(failed=1)),
        ("1..1\nnot ok 1 - needs no #skipping", TestCounts(failed=1)),
        ("1..1\n  ok 7\nok", TestCounts(1)),
        ("1..1\nokay\nnothing ok\nok", TestCounts(1)),
        ("    ok\n    ok\n    1..2\nok\n1..1", TestCounts(2)),
        ("    not ok\n    1..1\nnot ok\n1..1", TestCounts(failed=1)),
        ("    ok\n    1..1\nnot ok\n1..1", TestCounts(1, 1)),
        ("    not ok\n    ok\nnot ok\n1..1", TestCounts(1, 1)),
        ("    ok\n        ok\n    not ok\nnot ok\n1..1", TestCounts(2, 1)),
        ("1..9\nok\n    ok\n    Bail out! No disk.", TestCounts(2, errors=1)),
        ("1..9\nok\nBail out! No disk.\nnot ok", TestCounts(1, errors=1)),
        ("not ok\n  ---\n  ok\nnot ok\n1..3\n  ...\n1..1", TestCounts(failed=1)),
    ],
)  # fmt: skip
def test_the_leaves_of_tap_count_and_a_test_around_them_when_it_failed_itself(
    lines: str, counts: TestCounts
) -> None:
    assert read_tests(TAP, lines.encode()).counts == counts


@pytest.mark.parametrize(
    "lines",
    [
        "ok 1",
        "1..2\nok",
        "1..1\nok\nok",
        "1..1\n1..1\nok",
        "1..1\nok\n    ok",
        "        ok\nok\n1..1",
        "    ok\n    1..2\nok\n1..1",
        "1..1\nnot ok\n  ---\n  message: no",
    ],
)
def test_tap_without_a_plan_that_holds_is_not_read(lines: str) -> None:
    with pytest.raises(Unreadable):
        read_tests(TAP, lines.encode())


def test_a_failure_of_tap_has_its_place_its_text_and_what_it_stands_in() -> None:
    failed = read_tests(TAP, recorded("recorded/node/calc.tap")).cases[0]

    assert (failed.name, failed.suite) == ("divides by # zero", "division")
    assert (failed.path, failed.line) == ("calc.test.js", 8)
    assert "Infinity !== 0" in failed.message


def test_a_failure_of_jest_has_the_line_of_the_test_file_that_its_trace_meets() -> None:
    by_jest, by_vitest = (
        read_tests(JEST, recorded(f"recorded/{runner}/calc.json")).cases[0]
        for runner in ("jest", "vitest")
    )

    assert (by_jest.path, by_jest.line, by_jest.suite) == ("j/calc.test.js", 3, "division")
    assert (by_vitest.path, by_vitest.line, by_vitest.name) == ("v/calc.test.js", 4, "halves")
    assert "Expected: 3" in by_jest.message


def test_lines_before_the_json_are_those_of_another_program() -> None:
    content = b"\n> calc@1.0.0 test\n> jest --json\n\n" + recorded("recorded/jest/fine.json")

    assert read_tests(JEST, content).counts == TestCounts(1)


def test_an_error_that_vitest_blames_on_no_test_is_in_its_exit_code_alone() -> None:
    assert read_tests(JEST, recorded("recorded/vitest/stray.json")).counts == TestCounts(1)


@pytest.mark.parametrize(
    ("instead", "by"),
    [
        ({"numFailedTests": 0}, "those of its tests"),
        ({"numPassedTests": 2}, "those of its tests"),
        ({"numPassedTests": "many"}, "number of tests"),
        ({"numFailedTests": 0, "numPassedTests": 0, "testResults": []}, "files that failed"),
        ({"testResults": None}, "a list"),
        ({"testResults": [1]}, "an object"),
        ({"testResults": [{"assertionResults": [{"status": "fine"}]}]}, "no status"),
    ],
)
def test_a_report_of_jest_that_contradicts_itself_is_not_read(
    instead: dict[str, object], by: str
) -> None:
    whole = json.loads(recorded("recorded/jest/calc.json"))

    with pytest.raises(Unreadable, match=by):
        read_tests(JEST, json.dumps(whole | instead).encode())


def test_a_run_of_jest_that_did_not_succeed_is_an_error_whatever_its_tests_say() -> None:
    whole = json.loads(recorded("recorded/jest/fine.json")) | {"success": False}

    counts = read_tests(JEST, json.dumps(whole).encode()).counts

    assert counts == TestCounts(1, errors=1)


def test_a_hook_of_mocha_that_failed_is_an_error() -> None:
    halves, hook, *_ = read_tests(MOCHA, recorded("recorded/mocha/calc.json")).cases

    assert (halves.status, halves.path, halves.line) == (CaseStatus.FAILED, "m/calc.js", 4)
    assert (hook.status, hook.suite, hook.line) == (CaseStatus.ERROR, "calc stored", 6)


@pytest.mark.parametrize(("key", "number"), [("passes", 2), ("failures", 0), ("tests", 9)])
def test_a_report_of_mocha_that_contradicts_itself_is_not_read(key: str, number: int) -> None:
    whole = json.loads(recorded("recorded/mocha/calc.json"))
    whole["stats"][key] = number

    with pytest.raises(Unreadable):
        read_tests(MOCHA, json.dumps(whole).encode())


def test_a_test_of_mocha_that_passed_without_being_run_is_not_believed() -> None:
    whole = json.loads(recorded("recorded/mocha/fine.json"))
    del whole["passes"][0]["duration"]

    with pytest.raises(Unreadable, match="was not run"):
        read_tests(MOCHA, json.dumps(whole).encode())


def test_a_failure_of_dotnet_has_its_place_and_text() -> None:
    failed = read_tests(TRX, recorded("written/trx/mixed.trx")).cases[0]

    assert (failed.path, failed.line, failed.duration_ms) == ("Calc.Tests/CalcTests.cs", 14, 60_500)
    assert failed.message.startswith("Assert.Equal() Failure")


@pytest.mark.parametrize(
    ("told", "place"),
    [
        ("at A.B() in /workspace/A.cs:line 7\nat C() in /workspace/C.cs:line 9", ("A.cs", 7)),
        ("it fails at :line 3 of\nat A.B() in A.cs:line 7", ("A.cs", 7)),
        ("it is in\nA.cs:line 7", ("", None)),
        ("at A in " + "x" * 501 + ":line 7\nat B in B.cs:line 8", ("B.cs", 8)),
        ("at A in /elsewhere/A.cs:line 7", ("", None)),
        ("it is in :line 3\nat A in A.cs:line 7", ("A.cs", 7)),
        ("at A in in in A.cs:line 7", ("in in A.cs", 7)),
        (":line 1" * 1_000, ("", None)),
    ],
)
def test_a_failure_of_dotnet_stands_where_its_first_line_with_a_place_says(
    told: str, place: tuple[str, int | None]
) -> None:
    content = (
        '<TestRun><Results><UnitTestResult testName="a" outcome="Failed"><Output><ErrorInfo>'
        f"<StackTrace>{told}</StackTrace></ErrorInfo></Output></UnitTestResult></Results>"
        '<ResultSummary outcome="Failed"/></TestRun>'
    )

    [case] = read_tests(TRX, content.encode()).cases

    assert (case.path, case.line) == place


@pytest.mark.parametrize(
    ("test", "said", "told"),
    [
        ("Works", "Shop.Tests.CartTests", ("Shop.Tests.CartTests", "Works")),  # NUnit, MSTest
        ("Shop.CartTests.Works(n: 1.5)", "Shop.CartTests", ("Shop.CartTests", "Works(n: 1.5)")),
        ("Works", "Shop.CartTests, Shop, Version=1.0.0.0", ("Shop.CartTests", "Works")),
        ("Shop.CartTests.Works", "", ("", "Shop.CartTests.Works")),
    ],
)
def test_a_test_of_dotnet_stands_in_its_class(test: str, said: str, told: tuple[str, str]) -> None:
    content = (
        f'<TestRun><Results><UnitTestResult testId="7" testName="{test}" outcome="Passed"/>'
        f'</Results><TestDefinitions><UnitTest id="7"><TestMethod className="{said}"/></UnitTest>'
        '</TestDefinitions><ResultSummary outcome="Completed"/></TestRun>'
    )

    [case] = read_tests(TRX, content.encode()).cases

    assert (case.suite, case.name) == told


def test_a_run_of_dotnet_that_was_aborted_says_why() -> None:
    aborted = read_tests(TRX, recorded("written/trx/aborted.trx")).cases[0]

    assert aborted.status is CaseStatus.ERROR
    assert "Test host process crashed" in aborted.message


@pytest.mark.parametrize(
    ("outcome", "counts"),
    [
        ("outcome='Passed'", TestCounts(1)),
        ("outcome='Timeout'", TestCounts(errors=1)),
        ("outcome='Inconclusive'", TestCounts(skipped=1)),
        ("outcome='Splendid'", TestCounts(errors=1)),
        ("", TestCounts(errors=1)),  # What it leaves out is the first of its outcomes: an error.
    ],
)
def test_only_a_test_of_dotnet_that_says_so_has_passed(outcome: str, counts: TestCounts) -> None:
    content = TRX_RUN.format(f"<UnitTestResult {outcome}/>", "Completed", "")

    assert read_tests(TRX, content.encode()).counts == counts


@pytest.mark.parametrize(
    "content",
    [
        TRX_RUN.format("<UnitTestResult/>", "Completed", "<Counters total='2'/>"),
        TRX_RUN.format("", "Failed", "<Counters total='0' failed='1'/>"),
        "<TestRun><Results><UnitTestResult outcome='Passed'/></Results></TestRun>",
        "<testsuite/>",
    ],
)
def test_a_report_of_dotnet_that_contradicts_itself_is_not_read(content: str) -> None:
    with pytest.raises(Unreadable):
        read_tests(TRX, content.encode())


GO_PACKAGE = """{"Action":"start","Package":"x/b"}
{"Action":"output","Package":"x/b","Output":"%s"}
{"Action":"%s","Package":"x/b","Elapsed":0}
"""


def test_a_package_of_go_whose_tests_were_ended_before_any_was_told_is_not_believed() -> None:
    content = GO_PACKAGE % (r"ok  \tx/b\t0.002s\n", "pass")

    with pytest.raises(Unreadable, match="x/b ended well before any of its tests was reported"):
        read_tests(GO, content.encode())


@pytest.mark.parametrize(
    ("output", "action"),
    [
        (r"?   \tx/b\t[no test files]\n", "skip"),
        (r"ok  \tx/b\t0.002s [no tests to run]\n", "pass"),
        (r"\tx/b\t\tcoverage: 0.0%% of statements\n", "pass"),
    ],
)
def test_a_package_of_go_without_tests_is_no_doubt(output: str, action: str) -> None:
    content = GO_PACKAGE % (output.replace("%%", "%"), action)

    assert read_tests(GO, content.encode()).counts == TestCounts()


def test_a_test_of_jest_that_passed_when_it_was_tried_again_is_flaky_and_says_why() -> None:
    whole = json.loads(recorded("recorded/jest/fine.json"))
    whole["testResults"][0]["assertionResults"][0] |= {"invocations": 2, "retryReasons": ["no"]}

    report = read_tests(JEST, json.dumps(whole).encode())

    assert report.counts == TestCounts(1, flaky=1)
    assert (report.cases[0].is_flaky, report.cases[0].message) == (True, "no")


def test_a_test_of_mocha_that_passed_when_it_was_tried_again_is_flaky() -> None:
    whole = json.loads(recorded("recorded/mocha/fine.json"))
    whole["passes"][0]["currentRetry"] = 1

    assert read_tests(MOCHA, json.dumps(whole).encode()).counts == TestCounts(1, flaky=1)
