from __future__ import annotations

from pathlib import Path

import pytest

from tests.tables import check_rows
from verification.engine.reports.model import (
    MAX_CASES,
    MAX_REPORT_BYTES,
    CaseStatus,
    TestCounts,
    Unreadable,
)
from verification.engine.reports.testing import TestFormat, junit, read_tests

HERE = Path(__file__).parent
GO, JUNIT, TAP = TestFormat.GO, TestFormat.JUNIT, TestFormat.TAP
JEST, MOCHA, CARGO = TestFormat.JEST, TestFormat.MOCHA, TestFormat.CARGO
TRX, UNITTEST, RSPEC = TestFormat.TRX, TestFormat.UNITTEST, TestFormat.RSPEC
PYTEST_TEXT, TEXT = TestFormat.PYTEST_TEXT, TestFormat.TEXT
NUNIT2, NUNIT3, XUNIT, DART = (
    TestFormat.NUNIT2,
    TestFormat.NUNIT3,
    TestFormat.XUNIT,
    TestFormat.DART,
)

# Format, report, the exit code of what wrote it, counts: passed, failed, errors, skipped, flaky.
REPORTS = [
    (JUNIT, "recorded/pytest/mixed.xml", 1, (3, 2, 3, 2)),
    (JUNIT, "recorded/pytest/mixed_xunit1.xml", 1, (3, 2, 3, 2)),
    (JUNIT, "recorded/pytest/passed.xml", 0, (2, 0, 0, 0)),
    (JUNIT, "recorded/pytest/uncollected.xml", 2, (0, 0, 1, 0)),
    (JUNIT, "recorded/pytest/subtests.xml", 1, (1, 1, 0, 0)),
    (JUNIT, "recorded/pytest/nothing.xml", 5, (0, 0, 0, 0)),
    (JUNIT, "recorded/rspec/calc.xml", 1, (1, 2, 0, 1)),
    (JUNIT, "recorded/rspec/fine.xml", 0, (1, 0, 0, 0)),
    (JUNIT, "recorded/rspec/bad.xml", 1, (0, 0, 0, 0)),  # It does not tell what it could not load.
    (JUNIT, "recorded/phpunit/calc.xml", 2, (2, 1, 2, 2)),
    (JUNIT, "recorded/phpunit/fine.xml", 0, (1, 0, 0, 0)),
    (JUNIT, "recorded/gotestsum/calc.xml", 1, (3, 3, 0, 1)),  # It counts the tests around subtests.
    (JUNIT, "recorded/gotestsum/ok.xml", 0, (5, 0, 0, 0)),
    (JUNIT, "recorded/gotestsum/panics.xml", 1, (1, 2, 0, 0)),
    (JUNIT, "recorded/node/ok.xml", 0, (1, 0, 0, 0)),
    (JUNIT, "recorded/node/bad.xml", 1, (0, 1, 0, 0)),
    (JUNIT, "recorded/surefire/TEST-calc.CalcTest.xml", 1, (1, 1, 1, 1)),
    (JUNIT, "recorded/surefire/TEST-calc.SetupTest.xml", 1, (0, 0, 1, 0)),
    (JUNIT, "recorded/surefire/TEST-calc.FineTest.xml", 0, (1, 0, 0, 0)),
    (JUNIT, "recorded/jest_junit/calc.xml", 1, (2, 1, 0, 1)),  # It knows no todo.
    (JUNIT, "recorded/jest_junit/fine.xml", 0, (1, 0, 0, 0)),
    (JUNIT, "recorded/jest_junit/bad.xml", 1, (0, 0, 0, 0)),  # Nor what could not run.
    (JUNIT, "recorded/vitest/calc.xml", 1, (1, 1, 0, 2)),
    (JUNIT, "recorded/vitest/fine.xml", 0, (1, 0, 0, 0)),
    (JUNIT, "recorded/vitest/bad.xml", 1, (0, 1, 0, 0)),
    (JUNIT, "recorded/vitest/after.xml", 1, (1, 1, 0, 0)),
    (JUNIT, "recorded/mocha/calc.xml", 2, (1, 2, 0, 1)),
    (JUNIT, "recorded/mocha/fine.xml", 0, (1, 0, 0, 0)),
    (GO, "recorded/go/calc.jsonl", 1, (3, 2, 0, 1)),
    (GO, "recorded/go/broken.jsonl", 2, (0, 0, 1, 0)),
    (GO, "recorded/go/bare.jsonl", 0, (0, 0, 0, 0)),
    (GO, "recorded/go/panics.jsonl", 1, (1, 1, 0, 0)),
    (GO, "recorded/go/ok.jsonl", 0, (4, 0, 0, 0)),
    (GO, "recorded/go/exits.jsonl", 1, (1, 0, 1, 0)),
    (GO, "recorded/go/twice.jsonl", 0, (4, 0, 0, 0)),
    (GO, "recorded/go/all.jsonl", 2, (9, 3, 2, 1)),
    (GO, "recorded/go_1_27/broken.jsonl", 1, (0, 0, 1, 0)),
    (GO, "recorded/go_1_27/ok.jsonl", 0, (4, 0, 0, 0)),  # Its benchmark is no test.
    (GO, "recorded/go_1_27/all.jsonl", 1, (9, 3, 2, 1)),
    (TAP, "recorded/node/calc.tap", 1, (4, 2, 0, 2)),
    (TAP, "recorded/node/ok.tap", 0, (1, 0, 0, 0)),
    (TAP, "recorded/node/bad.tap", 1, (0, 1, 0, 0)),
    (TAP, "recorded/node/all.tap", 1, (5, 3, 0, 2)),
    (TAP, "recorded/node/files.tap", 1, (6, 2, 0, 4)),
    (TAP, "recorded/mocha/calc.tap", 2, (1, 2, 0, 1)),
    (TAP, "recorded/mocha/fine.tap", 0, (1, 0, 0, 0)),
    (TAP, "recorded/tape/calc.tap", 1, (1, 1, 0, 0)),  # It counts what is asserted.
    (TAP, "recorded/ava/calc.tap", 1, (1, 1, 0, 1)),
    (TAP, "recorded/bats/calc.tap", 1, (1, 2, 0, 1)),
    (TAP, "written/tap/version_12.tap", 1, (2, 1, 0, 0)),
    (TAP, "written/tap/version_14.tap", 1, (2, 1, 0, 2)),
    (TAP, "written/tap/bailed_out.tap", 255, (1, 0, 1, 0)),
    (JEST, "recorded/jest/calc.json", 1, (1, 1, 0, 2)),
    (JEST, "recorded/jest/fine.json", 0, (1, 0, 0, 0)),
    (JEST, "recorded/jest/bad.json", 1, (0, 0, 1, 0)),
    (JEST, "recorded/jest/after.json", 1, (1, 0, 1, 0)),
    (JEST, "recorded/jest/all.json", 1, (3, 1, 2, 2)),
    (JEST, "recorded/vitest/calc.json", 1, (1, 1, 0, 2)),
    (JEST, "recorded/vitest/fine.json", 0, (1, 0, 0, 0)),
    (JEST, "recorded/vitest/bad.json", 1, (0, 0, 1, 0)),
    (JEST, "recorded/vitest/after.json", 1, (1, 0, 1, 0)),
    (MOCHA, "recorded/mocha/calc.json", 2, (1, 1, 1, 1)),
    (MOCHA, "recorded/mocha/fine.json", 0, (1, 0, 0, 0)),
    (CARGO, "recorded/cargo/failed.txt", 101, (6, 1, 0, 1)),
    (CARGO, "recorded/cargo/passed.txt", 0, (6, 0, 0, 1)),
    (CARGO, "recorded/cargo/uncaptured.txt", 0, (1, 0, 0, 0)),
    (CARGO, "recorded/cargo/together.txt", 101, (2, 1, 0, 1)),  # With standard error.
    (CARGO, "recorded/cargo_1_63/failed.txt", 101, (1, 2, 0, 0)),
    (TRX, "written/trx/mixed.trx", 1, (1, 1, 0, 1)),
    (TRX, "written/trx/passed.trx", 0, (2, 0, 0, 0)),
    (TRX, "written/trx/aborted.trx", 1, (1, 0, 1, 0)),
    (TRX, "written/trx/together.trx", 1, (4, 1, 1, 1)),
    (JUNIT, "written/surefire/TEST-calc.FlakyTest.xml", 1, (3, 1, 0, 0, 2)),
    (JUNIT, "written/gotestsum/reruns.xml", 0, (3, 0, 0, 0, 2)),
    (GO, "written/go/reruns.jsonl", 0, (2, 0, 0, 0, 1)),
    # It counts 2 passed, 3 failed, 1 warning, 1 inconclusive, 1 skipped.
    (NUNIT3, "written/nunit3/mixed.xml", 3, (3, 1, 2, 2)),
    (NUNIT3, "written/nunit3/passed.xml", 0, (1, 0, 0, 0)),
    (NUNIT3, "written/nunit3/torn_down.xml", 1, (1, 0, 1, 0)),  # Its one test passed.
    (NUNIT3, "written/nunit3/unity.xml", 2, (1, 0, 1, 0)),
    # It counts 1 passed, 1 failure, 1 error, 1 inconclusive, 2 not run.
    (NUNIT2, "written/nunit2/mixed.xml", 2, (1, 1, 1, 3)),
    (NUNIT2, "written/nunit2/before_2_5.xml", 1, (2, 1, 0, 1)),
    (NUNIT2, "written/nunit2/pester.xml", 0, (1, 0, 0, 1)),
    (XUNIT, "written/xunit/mixed.xml", 1, (2, 1, 1, 1)),
    (XUNIT, "written/xunit/passed_v3.xml", 0, (2, 0, 0, 1)),
    (DART, "written/dart/mixed.jsonl", 1, (2, 1, 2, 1, 1)),
    (DART, "written/dart/flutter.jsonl", 0, (2, 0, 0, 0)),
    (RSPEC, "recorded/rspec/calc.json", 1, (1, 3, 0, 1)),
    (RSPEC, "recorded/rspec/fine.json", 0, (1, 0, 0, 0)),
    (RSPEC, "recorded/rspec/bad.json", 1, (0, 0, 1, 0)),
    (RSPEC, "recorded/minitest/calc.json", 1, (1, 2, 0, 1)),
    (UNITTEST, "recorded/unittest/calc.txt", 1, (1, 4, 2, 2)),
    (UNITTEST, "recorded/unittest/brief.txt", 1, (1, 4, 2, 2)),
    (UNITTEST, "recorded/unittest/fine.txt", 0, (2, 0, 0, 1)),
    (UNITTEST, "recorded/unittest/bad.txt", 1, (0, 0, 1, 0)),
    (UNITTEST, "recorded/unittest/none.txt", 0, (0, 0, 0, 0)),
    (PYTEST_TEXT, "recorded/pytest/mixed.txt", 1, (4, 2, 3, 2)),
    (PYTEST_TEXT, "recorded/pytest/passed.txt", 0, (2, 0, 0, 0)),
    (PYTEST_TEXT, "recorded/pytest/uncollected.txt", 2, (0, 0, 1, 0)),
    (PYTEST_TEXT, "recorded/pytest/nothing.txt", 5, (0, 0, 0, 0)),
    (PYTEST_TEXT, "recorded/pytest/quiet.txt", 0, (2, 0, 0, 0)),
    (TEXT, "recorded/pytest/mixed.txt", 1, (4, 2, 3, 2)),
    (TEXT, "recorded/jest/all.txt", 1, (3, 1, 0, 2)),
    (TEXT, "recorded/jest/bad.txt", 1, (0, 0, 1, 0)),
    (TEXT, "recorded/vitest/calc.txt", 1, (1, 1, 0, 2)),
    (TEXT, "recorded/vitest/fine.txt", 0, (1, 0, 0, 0)),
    (TEXT, "recorded/vitest/bad.txt", 1, (0, 0, 1, 0)),
    (TEXT, "recorded/vitest/stray.txt", 1, (1, 0, 1, 0)),
    (TEXT, "recorded/surefire/calc.txt", 1, (2, 1, 2, 1)),
    (TEXT, "recorded/googletest/skipped.txt", 0, (3, 0, 0, 2)),
    (TEXT, "recorded/googletest/failed_in_colour.txt", 1, (2, 1, 0, 2)),
    (TEXT, "recorded/googletest/failed_brief.txt", 1, (2, 1, 0, 2)),
    (TEXT, "recorded/googletest/crashed.txt", 134, (0, 0, 1, 0)),
    (TEXT, "recorded/googletest/repeated.txt", 0, (6, 0, 0, 4)),
    (TEXT, "recorded/googletest/none.txt", 0, (0, 0, 0, 0)),
    (TEXT, "recorded/catch2/passed.txt", 0, (1, 0, 0, 0)),
    (TEXT, "recorded/catch2/expected_in_colour.txt", 0, (4, 0, 0, 1)),
    (TEXT, "recorded/catch2/failed_in_colour.txt", 1, (3, 1, 0, 1)),
    (TEXT, "recorded/catch2/crashed.txt", 134, (2, 1, 0, 1)),
    (TEXT, "recorded/catch2/compact.txt", 0, (4, 0, 0, 0)),
    (TEXT, "recorded/catch2/compact_failed.txt", 1, (0, 1, 0, 0)),
    (TEXT, "recorded/doctest/passed_in_colour.txt", 0, (3, 0, 0, 1)),
    (TEXT, "recorded/doctest/failed.txt", 1, (2, 1, 0, 1)),
    (TEXT, "recorded/doctest/crashed.txt", 134, (2, 1, 0, 1)),
    (TEXT, "recorded/doctest/none.txt", 0, (0, 0, 0, 4)),
    (TEXT, "recorded/exunit/passed_in_colour.txt", 0, (3, 0, 0, 1)),
    (TEXT, "recorded/exunit/failed_in_colour.txt", 2, (2, 1, 0, 1)),
    (TEXT, "recorded/exunit/excluded.txt", 0, (2, 0, 0, 2)),
    (TEXT, "recorded/exunit/invalid.txt", 2, (3, 0, 2, 1)),
    (TEXT, "recorded/exunit/none.txt", 1, (0, 0, 0, 4)),
    (TEXT, "recorded/bun/passed.txt", 0, (4, 0, 0, 4)),
    (TEXT, "recorded/bun/passed_in_colour.txt", 0, (4, 0, 0, 4)),
    (TEXT, "recorded/bun/failed_in_colour.txt", 1, (2, 2, 0, 4)),
    (TEXT, "recorded/bun/thrown.txt", 1, (4, 1, 1, 4)),
    (TEXT, "recorded/bun/bailed.txt", 1, (0, 1, 0, 0)),
    (TEXT, "recorded/bun/filtered.txt", 0, (2, 0, 0, 0)),
    (TEXT, "recorded/deno/passed_in_colour.txt", 0, (4, 0, 0, 2)),
    (TEXT, "recorded/deno/failed.txt", 1, (2, 2, 0, 2)),
    (TEXT, "recorded/deno/filtered.txt", 0, (2, 0, 0, 0)),
    (TEXT, "recorded/deno/none.txt", 0, (0, 0, 0, 0)),
    (TEXT, "recorded/deno/thrown.txt", 1, (0, 1, 0, 0)),
    (TEXT, "recorded/playwright/list.txt", 0, (3, 0, 0, 1)),
    (TEXT, "recorded/playwright/line.txt", 0, (3, 0, 0, 1)),
    (TEXT, "recorded/playwright/failed_in_colour.txt", 1, (2, 1, 0, 1)),
    (TEXT, "recorded/playwright/flaky.txt", 0, (3, 0, 0, 1, 1)),
    (TEXT, "recorded/playwright/stopped.txt", 1, (1, 1, 1, 2)),
    (TEXT, "recorded/playwright/skipped.txt", 0, (0, 0, 0, 1)),
    (TEXT, "recorded/karma/progress.txt", 0, (2, 0, 0, 1)),
    (TEXT, "recorded/karma/failed_in_colour.txt", 1, (1, 1, 0, 1)),
    (TEXT, "recorded/karma/dots.txt", 0, (2, 0, 0, 1)),
    (TEXT, "recorded/karma/dots_failed.txt", 1, (1, 1, 0, 1)),
    (TEXT, "recorded/karma/two_failed.txt", 1, (2, 2, 0, 1)),
    (TEXT, "recorded/karma/none.txt", 0, (0, 0, 0, 0)),
    (TEXT, "recorded/qunit/passed.txt", 0, (2, 0, 0, 2)),
    (TEXT, "recorded/qunit/failed.txt", 1, (1, 1, 0, 2)),
    (TEXT, "recorded/jasmine/passed.txt", 0, (2, 0, 0, 1)),
    (TEXT, "recorded/jasmine/failed.txt", 3, (1, 1, 0, 1)),
    (TEXT, "recorded/jasmine/suite_failed.txt", 3, (0, 2, 0, 0)),
]
GUESSES = {UNITTEST, PYTEST_TEXT, TEXT}


def recorded(report: str) -> bytes:
    return (HERE / report).read_bytes()


@check_rows(("written_in", "report", "exit_code", "counts"), REPORTS)
def test_a_report_counts_what_its_runner_counted(
    written_in: TestFormat, report: str, exit_code: int, counts: tuple[int, ...]
) -> None:
    content = recorded(report)

    read = read_tests(written_in, content)
    with_windows_line_ends = read_tests(written_in, content.replace(b"\n", b"\r\n"))

    assert read.counts == with_windows_line_ends.counts == TestCounts(*counts)
    assert read.is_guess is (written_in in GUESSES)
    is_bad = read.counts.failed + read.counts.errors > 0
    assert is_bad is (exit_code not in (0, 5)) or read.counts.ran == 0


@pytest.mark.parametrize(
    ("written_in", "report", "file"),
    [
        (JEST, "recorded/jest/calc.json", "j/calc.test.js"),
        (JEST, "recorded/vitest/calc.json", "v/calc.test.js"),
        (MOCHA, "recorded/mocha/calc.json", "m/calc.js"),
        (RSPEC, "recorded/rspec/calc.json", "spec/calc_spec.rb"),  # One fails in lib/calc.rb.
        (XUNIT, "written/xunit/passed_v3.xml", "tests/CalcTests.cs"),
        (DART, "written/dart/flutter.jsonl", "app/test/widget_test.dart"),
    ],
)
def test_a_test_is_told_with_the_file_it_stands_in_wherever_it_failed(
    written_in: TestFormat, report: str, file: str
) -> None:
    found = read_tests(written_in, (HERE / report).read_bytes())

    assert {one.file for one in found.cases} == {file}


def test_a_test_of_node_stands_in_the_file_that_is_said_before_it() -> None:
    cases = read_tests(TAP, recorded("recorded/node/files.tap")).cases

    told = {
        file: {(one.suite, one.name, one.status.is_bad) for one in cases if one.file == file}
        for file in {one.file for one in cases}
    }
    own = {
        ("", "adds", False), ("s", "adds", False), ("s", "bad", True),
        ("outer", "in", False), ("", "sk", False), ("", "td", False),
    }  # fmt: skip
    assert told == {"a.test.js": own, "b.test.js": own}
    assert not any(one.file for one in read_tests(TAP, recorded("recorded/node/calc.tap")).cases)


@check_rows("written_in", list(TestFormat))
@check_rows("content", [b"", b"\n", b"{}", b"[]", b"null", b"<a/>", b"ok", b"\xff\xfe"])
def test_what_is_no_report_is_not_read(written_in: TestFormat, content: bytes) -> None:
    with pytest.raises(Unreadable):
        read_tests(written_in, content)


@pytest.mark.extended
def test_the_report_of_many_tests_is_read() -> None:
    case = (
        '<testcase classname="tests.unit.test_{0}" name="test_it" file="tests/unit/test_{0}.py"/>'
    )
    cases = "".join(map(case.format, range(70_000)))

    report = read_tests(JUNIT, f'<testsuite tests="70000">{cases}</testsuite>'.encode())

    assert report.counts == TestCounts(passed=70_000)
    assert len(report.cases) == MAX_CASES


@pytest.mark.parametrize("content", ["[" + "{}," * 1_000_001, "[" + "1," * 2_000_001])
def test_what_becomes_many_times_as_large_in_memory_is_not_read(content: str) -> None:
    with pytest.raises(Unreadable, match="too many parts"):
        read_tests(JEST, f'{{"testResults": {content}1]}}'.encode())


@check_rows("written_in", list(TestFormat))
def test_a_report_too_large_is_not_read(written_in: TestFormat) -> None:
    with pytest.raises(Unreadable, match="larger than"):
        read_tests(written_in, b" " * (MAX_REPORT_BYTES + 1))


@check_rows("written_in", list(TestFormat))
@check_rows(
    "content",
    [
        b'{"a":' * 100_000,
        b"[" * 100_000,
        b"<testsuite>" * 100_000,
        b"<testsuite>" * 61 + b"</testsuite>" * 61,
        b'<!DOCTYPE a [<!ENTITY b "c">]><testsuite name="&b;"/>',
        b'<?xml version="1.0" encoding="nonsense"?><testsuite/>',
        b'{"Action":"pass","Package":"a","Elapsed":' + b"9" * 10_000 + b"}",
        b"    ok 1\n" * 10,
        b"\n" * 500_001,
    ],
)
def test_a_trap_is_not_read(written_in: TestFormat, content: bytes) -> None:
    with pytest.raises(Unreadable):
        read_tests(written_in, content)


def test_of_very_many_cases_all_are_counted_and_those_that_failed_are_kept_first() -> None:
    passed = b'<testcase name="a"/>' * MAX_CASES
    failed = b'<testcase name="b"><failure/></testcase>'

    report = junit.read(b"<testsuite>" + passed + failed + b"</testsuite>")

    assert report.counts == TestCounts(passed=MAX_CASES, failed=1)
    assert len(report.cases) == MAX_CASES
    assert report.cases[0].status is CaseStatus.FAILED
