from __future__ import annotations

import pytest

from tests.engine.reports.test_test_reports import CARGO, PYTEST_TEXT, TEXT, UNITTEST, recorded
from tests.tables import check_rows
from verification.engine.reports.model import CaseStatus, TestCounts, Unreadable
from verification.engine.reports.testing import TestFormat, read_tests
from verification.engine.reports.testing.cargo import NAMES

RULES = "=" * 70, "-" * 70
ONE_PASSED = "running 1 test\ntest a ... ok\n\n"
ENDS_WELL = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n"
ENDS_BADLY = "test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n"


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("== 3 failed, 4 passed, 2 errors in 0.1s ==", TestCounts(4, 3, 2)),
        ("==== 1 passed in 65.10s (0:01:05) ====", TestCounts(1)),
        ("1 passed, 1 xpassed, 2 xfailed, 3 skipped in 0.10s", TestCounts(2, skipped=5)),
        ("1 passed, 5 deselected, 2 warnings, 1 rerun in 0.10s", TestCounts(1)),
        ("1 failed, 2 subtests passed, 1 subtests failed in 0.10s", TestCounts(2, 2)),
        ("\x1b[31m== \x1b[31m\x1b[1m1 failed\x1b[0m\x1b[31m in 0.02s\x1b[0m ==", TestCounts(0, 1)),
        ("2 passed in 0.01s\n9 failed in 0.02s\nCoverage: 80%", TestCounts(2, 9)),
        ("no tests ran in 0.00s", TestCounts()),
        ("== 5 deselected in 0.01s ==", TestCounts()),
        ("1 failed in 0.01s\n== 5 deselected in 0.01s ==\n2 passed in 0.01s", TestCounts(2, 1)),
    ],
)
def test_every_summary_line_of_pytest_counts(line: str, counts: TestCounts) -> None:
    assert read_tests(PYTEST_TEXT, line.encode()).counts == counts


@pytest.mark.parametrize(
    "line",
    [
        "3 tests collected in 0.01s",
        "1 passed",
        "1 passed in a while",
        "all passed in 0.1s",
        "I ran it: 3 passed in 0.1s",
        "9999999999 passed in 0.1s",
    ],
)
def test_what_is_no_summary_line_of_pytest_counts_nothing(line: str) -> None:
    with pytest.raises(Unreadable):
        read_tests(PYTEST_TEXT, line.encode())


@check_rows(
    ("printed", "counts"),
    [
        ("5/7 passed", TestCounts(5, 2)),
        ("Result: 7 of 7 tests passed.", TestCounts(7)),
        ("3/4 tests passing", TestCounts(3, 1)),
        ("1/2 passed\n2/2 passed", TestCounts(2)),
        ("Tests: 1 failed, 3 passed, 4 total", TestCounts(3, 1)),
        ("Tests: 1 passed, 1 total\nTests: 1 failed, 1 total", TestCounts(1, 1)),
        ("Test Suites: 2 failed, 2 total\nTests: 0 total", TestCounts(errors=2)),
        (" Test Files  1 failed (1)\n      Tests  no tests", TestCounts(errors=1)),
        ("Tests run: 5, Failures: 1, Errors: 2, Skipped: 1", TestCounts(1, 1, 2, 1)),
        ("Tests run: 5,  Failures: 1", TestCounts(4, 1)),
        ("[WARNING] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Flakes: 1", TestCounts(2, flaky=1)),
        ("Tests run: 1, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0 s - in a.B",
         TestCounts(1)),
        ("3 passed in 0.1s\nTests: 1 failed, 1 total", TestCounts(3, 1)),  # Both runners count.
        ("Ran 3 tests in 0.001s\n\nOK (skipped=1)\nRan 2 tests in 0.1s\n\nOK", TestCounts(4, 0, 0, 1)),
        ("x\nTAP version 13\nok 1 a\nnot ok 2 b\n1..2\nTAP version 14\n1..1\nok 1\n", TestCounts(2, 1)),
        ("test result: FAILED. 2 passed; 1 failed; 1 ignored; 1 measured; 0 filtered out; finished",
         TestCounts(3, 1, 0, 1)),
        ("3 examples, 1 failure, 1 pending", TestCounts(1, 1, 0, 1)),
        ("0 examples, 0 failures, 1 error occurred outside of examples", TestCounts(errors=1)),
        ("5 runs, 7 assertions, 1 failures, 1 errors, 1 skips", TestCounts(2, 1, 1, 1)),
        ("OK (3 tests, 4 assertions)", TestCounts(3)),
        ("Tests: 6, Assertions: 4, Errors: 1, Failures: 1, Skipped: 1, Incomplete: 1.",
         TestCounts(2, 1, 1, 2)),
        ("  3 passing (12ms)\n  1 pending\n  2 failing", TestCounts(3, 2, 0, 1)),
        ("\u2139 tests 4\n\u2139 pass 1\n\u2139 fail 1\n\u2139 cancelled 1\n\u2139 skipped 1\n\u2139 todo 0", TestCounts(1, 2, 0, 1)),
        ("Passed!  - Failed:     0, Passed:     3, Skipped:     1, Total:     4, Duration: 9 ms - x.dll",
         TestCounts(3, 0, 0, 1)),
        ("     Summary [   2.000s] 5 tests run: 5 passed, 0 skipped", TestCounts(5)),
        ("     Summary [  15.750s] 8/10 tests run: 5 passed (1 slow, 1 flaky, 1 leaky), 2 failed, "
         "1 exec failed, 1 timed out, 2 skipped", TestCounts(5, 3, 1, 2, 1)),
        ("     Summary [  45.250s] 15 stress run iterations: 12 passed, 3 failed; cancelled due to interrupt",
         TestCounts(12, 3)),
        ("\x1b[32;1m     Summary\x1b[0m [   0.012s] \x1b[1m2\x1b[0m tests run: \x1b[1m1\x1b[0m "
         "\x1b[32;1mpassed\x1b[0m, \x1b[1m1\x1b[0m \x1b[31;1mfailed\x1b[0m, \x1b[1m0\x1b[0m "
         "\x1b[33;1mskipped\x1b[0m", TestCounts(1, 1)),
        ("FAILED | 3 passed | 0 failed | 1 measured (1m2s)", TestCounts(4, errors=1)),
        ("[==========] 3 tests from 1 test case ran. (9 ms total)\n[  PASSED  ] 3 tests.", TestCounts(3)),
        ("[==========] 3 tests from 1 test suite ran.\n[  PASSED  ] 3 tests.\n"
         "[  FAILED  ] 1 test suite, listed below:", TestCounts(3, 1)),
        ("All tests passed (1 assertion in 1 test case)\ntest cases: 3 | 1 passed | 2 skipped",
         TestCounts(2, 0, 0, 2)),
        ("test cases: 12 | 10 passed |  2 failed", TestCounts(10, 2)),
        ("[doctest] test cases:      3 |      1 passed |      2 failed |      0 skipped", TestCounts(1, 2)),
        ("1 property, 1 test, 1 failure", TestCounts(1, 1)),
        (" 5 tests, 1 failure, 1 skipped, 1 not run", TestCounts(2, 1, 0, 2)),
        ("a (b): Executed 3 of 5 (1 FAILED) ERROR (1 min 2.1 secs / 0 secs)\n", TestCounts(2, 1, 1)),
        ("a: Executed 2 of 9 DISCONNECTED (1 secs / 0 secs)", TestCounts(2, errors=1)),
        ("a: Executed 2 of 2 (1 FAILED) (0 secs)\na: Executed 2 of 2 SUCCESS (0 secs)", TestCounts(2, 1)),
        ("Running 4 tests using 1 worker\nKilled", TestCounts(errors=1)),
        ("Running 4 tests using 2 workers, shard 1 of 2\n  1 interrupted\n    a.ts:1:1 \u203a b\n"
         "  3 did not run\n", TestCounts(failed=1, skipped=3)),
        ("60% tests passed, 2 tests failed out of 5", TestCounts(3, 2)),
        ("ok  \texample.com/a\t0.01s\nFAIL\texample.com/b\t0.02s\n?   \tc\t[no test files]",
         TestCounts(1, 1)),
    ],
)  # fmt: skip
def test_text_for_people_counts_in_the_ways_that_are_known(
    printed: str, counts: TestCounts
) -> None:
    report = read_tests(TEXT, printed.encode())

    assert (report.counts, report.is_guess, report.cases) == (counts, True, ())


@pytest.mark.parametrize(
    "printed",
    [
        "All tests passed!",
        "Tests: good",
        "8/7 passed",
        "Tests run: 1, Failures: 2",
        "on 2024/11/23 passed",
        "v1.2/3 passed",
        "4 pass\n0 fail",
        "3 passed (1.0s)",
        "TOTAL: 4 SUCCESS",
        "[  PASSED  ] 3 tests.",
        "assertions: 4 | 4 passed",
    ],
)
def test_text_that_counts_nothing_or_too_much_is_not_read(printed: str) -> None:
    with pytest.raises(Unreadable):
        read_tests(TEXT, printed.encode())


def test_where_an_older_rust_says_that_a_test_failed_it_stands_at_the_end_of_the_message() -> None:
    report = read_tests(CARGO, recorded("recorded/cargo_1_63/failed.txt"), "calc")

    assert [(case.name, case.path, case.line) for case in report.cases[:2]] == [
        ("tests::breaks", "calc/src/lib.rs", 15),
        ("tests::halves", "calc/src/lib.rs", 10),
    ]


def test_the_binaries_of_cargo_are_summed_and_a_failure_has_its_place_and_text() -> None:
    report = read_tests(CARGO, recorded("recorded/cargo/failed.txt"), "calc")

    first = report.cases[0]
    assert (first.name, first.path, first.line) == ("tests::is_wrong", "calc/src/lib.rs", 15)
    assert "left: 2" in first.message
    assert len(report.cases) == 8


@pytest.mark.parametrize(
    "printed",
    [
        ONE_PASSED,
        ENDS_WELL,
        ONE_PASSED + "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
        ONE_PASSED + ENDS_WELL + ENDS_BADLY,  # The test printed the first itself.
        ONE_PASSED + ENDS_WELL + "running 2 tests\n",
        "error[E0308]: mismatched types",
    ],
)
def test_tests_of_cargo_without_the_one_result_of_each_binary_are_not_read(printed: str) -> None:
    with pytest.raises(Unreadable):
        read_tests(CARGO, printed.encode())


def test_a_binary_that_aborts_has_no_result() -> None:
    with pytest.raises(Unreadable, match="have no result"):
        read_tests(CARGO, recorded("recorded/cargo/aborted.txt"))


def test_tests_of_one_name_in_two_binaries_of_cargo_are_two() -> None:
    ran = "\nrunning 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured;\n"
    named = f"{NAMES}src/lib.rs (x){ran}{NAMES}tests/it.rs (it){ran}{ran}"

    report = read_tests(CARGO, named.encode())

    assert [(one.suite, one.name) for one in report.cases] == [
        ("src/lib.rs (x)", "a"),
        ("tests/it.rs (it)", "a"),
        ("", "a"),
    ]


def test_what_a_failing_test_prints_is_no_test_of_cargo() -> None:
    printed = (
        "running 1 test\ntest a ... FAILED\n\nfailures:\n\n---- a stdout ----\n"
        "running 1 test\ntest b ... ok\nfailures:\n    a\n\n" + ENDS_BADLY
    )

    report = read_tests(CARGO, printed.encode())

    assert report.counts == TestCounts(failed=1)
    assert [case.name for case in report.cases] == ["a"]


def test_where_a_test_of_cargo_hides_how_it_ended_the_result_counts_and_no_case_is_told() -> None:
    printed = f"running 1 test\ntest a ... so it ended:ok\n{ENDS_WELL}"

    report = read_tests(CARGO, printed.encode())

    assert (report.counts, report.cases) == (TestCounts(1), ())


def test_unittest_tells_of_each_failure_where_and_why() -> None:
    cases = read_tests(UNITTEST, recorded("recorded/unittest/calc.txt"), "ignored").cases

    told = {(case.suite, case.name): case for case in cases}
    halves = told["test_calc.CalcTest", "test_halves"]
    assert (halves.status, halves.path, halves.line) == (CaseStatus.FAILED, "test_calc.py", 10)
    assert halves.message.endswith("AssertionError: 2 != 3")
    assert told["test_calc.SetupTest", "setUpClass"].status is CaseStatus.ERROR
    assert ("test_calc.SubTest", "test_even (n=1)") in told


@pytest.mark.parametrize(
    ("end", "counts"),
    [
        ("Ran 3 tests in 0.1s\n\nOK", TestCounts(3)),
        ("Ran 3 tests in 0.1s\n\nOK (skipped=1, expected failures=1)", TestCounts(1, skipped=2)),
        ("Ran 0 tests in 0.1s\n\nNO TESTS RAN", TestCounts()),
        ("Ran 1 test in 0.1s\n\nOK\nRan 2 tests in 0.1s\n\nOK\nDestroying test database...",
         TestCounts(2)),
    ],
)  # fmt: skip
def test_the_last_lines_of_unittest_count(end: str, counts: TestCounts) -> None:
    assert read_tests(UNITTEST, end.encode()).counts == counts


@pytest.mark.parametrize(
    "end",
    [
        "Ran 3 tests in 0.1s",
        "Ran 3 tests in 0.1s\n\nKilled",
        "Ran 3 tests in 0.1s\n\nOK (failures=1)",
        "Ran 3 tests in 0.1s\n\nFAILED",
        "OK",
    ],
)
def test_without_its_last_lines_unittest_is_not_read(end: str) -> None:
    with pytest.raises(Unreadable):
        read_tests(UNITTEST, end.encode())


def test_failures_of_unittest_that_are_not_as_many_as_it_counts_are_not_told() -> None:
    told = "\n".join([RULES[0], "FAIL: a (b.C.a)", RULES[1], "AssertionError", "", RULES[1]])
    content = f"{told}\nRan 4 tests in 0.1s\n\nFAILED (failures=2)"

    report = read_tests(UNITTEST, content.encode())

    assert report.counts.failed == 2
    assert report.cases == ()


@pytest.mark.parametrize("written_in", [CARGO, UNITTEST, PYTEST_TEXT, TEXT])
def test_text_that_is_not_utf_8_hides_no_summary(written_in: TestFormat) -> None:
    content = {
        CARGO: (ONE_PASSED + ENDS_WELL).encode(),
        UNITTEST: b"Ran 1 test in 0.1s\n\nOK",
        PYTEST_TEXT: b"1 passed in 0.1s",
        TEXT: b"1/1 passed",
    }[written_in]

    assert read_tests(written_in, b"\xff\xfe\x80\n" + content).counts == TestCounts(1)
