from __future__ import annotations

import pytest

from tests.engine.reports.test_test_reports import recorded
from tests.tables import check_rows
from verification.engine.reports.model import CaseStatus, TestCounts, Unreadable
from verification.engine.reports.testing import junit


@check_rows(
    ("suite", "counts"),
    [
        ('<testsuite tests="1"><testcase name="a"/></testsuite>', TestCounts(passed=1)),
        ('<testsuite><testcase><failure/><failure/></testcase></testsuite>', TestCounts(failed=1)),
        ('<testsuite failures="2"><testcase><failure/><failure/></testcase></testsuite>',
         TestCounts(failed=1)),
        ('<testsuite><testcase><failure/><error/></testcase></testsuite>', TestCounts(errors=1)),
        ('<testsuite><testcase><skipped/></testcase></testsuite>', TestCounts(skipped=1)),
        ('<testsuite><testcase><skipped/><failure/></testcase></testsuite>', TestCounts(failed=1)),
        ('<testsuite><testcase><skipped type="todo"/><failure/></testcase></testsuite>',
         TestCounts(skipped=1)),
        ('<testsuite><testcase status="notrun"/></testsuite>', TestCounts(skipped=1)),
        ('<testsuite><testcase><flakyFailure/></testcase></testsuite>',
         TestCounts(passed=1, flaky=1)),
        ('<testsuite failures="0" errors="1" tests="2"><testcase><flakyError/></testcase></testsuite>',
         TestCounts(passed=1, flaky=1)),
        ('<testsuite><testcase><flakyFailure/><skipped/></testcase></testsuite>',
         TestCounts(skipped=1)),
        ('<testsuite><testcase><flakyFailure/><failure/></testcase></testsuite>',
         TestCounts(failed=1)),
        ('<testsuite failures="1"><testcase><failure/><rerunFailure/></testcase></testsuite>',
         TestCounts(failed=1)),
        ('<testsuite failures="2"><testcase><rerunFailure/><rerunFailure/></testcase></testsuite>',
         TestCounts(failed=1)),
        ('<testsuite><testcase><rerunError/></testcase></testsuite>', TestCounts(errors=1)),
        ('<testsuites tests="2"><testsuite tests="2"><testcase/><testsuite tests="1"><testcase/>'
         '</testsuite></testsuite></testsuites>', TestCounts(passed=2)),
        ('<testsuites xmlns="urn:x"><testsuite><testcase/></testsuite></testsuites>',
         TestCounts(passed=1)),
        ('<testsuite name="pytest" tests="3"><testcase/></testsuite>', TestCounts(passed=1)),
        ("<testsuites/>", TestCounts()),
    ],
)  # fmt: skip
def test_each_case_is_counted_once(suite: str, counts: TestCounts) -> None:
    assert junit.read(suite.encode()).counts == counts


@check_rows(
    "suite",
    [
        '<testsuite tests="2"><testcase/></testsuite>',
        '<testsuite tests="0"><testcase/></testsuite>',
        '<testsuite failures="1"><testcase/></testsuite>',
        '<testsuite errors="1" tests="0"/>',
        '<testsuite name="pytest" tests="10"/>',
        '<testsuite failures="0" errors="0"><testcase><failure/></testcase></testsuite>',
        '<testsuite failures="0"><testcase><rerunFailure/></testcase></testsuite>',
        '<testsuite failures="2"><testcase><flakyFailure/></testcase></testsuite>',
        '<testsuite failures="0"><testcase><flakyFailure/></testcase>'
        "<testcase><failure/></testcase></testsuite>",
        '<testsuite name="pytest" failures="1"><testcase/></testsuite>',
        '<testsuites failures="1"><testsuite failures="0"><testcase/></testsuite></testsuites>',
        '<testsuites><testsuite tests="2"><testcase/></testsuite></testsuites>',
        '<testsuite tests="many"><testcase/></testsuite>',
        '<testsuite tests="-1"/>',
        '<testsuite tests="99999999999999999999"/>',
    ],
)
def test_numbers_that_are_not_those_of_the_cases_are_not_believed(suite: str) -> None:
    with pytest.raises(Unreadable):
        junit.read(suite.encode())


def test_a_suite_of_node_that_failed_by_itself_is_told_by_its_last_comments_alone() -> None:
    with pytest.raises(Unreadable, match="more tests failed than it shows"):
        junit.read(recorded("recorded/node/calc.xml"))


@pytest.mark.parametrize(
    "report",
    [
        "recorded/gotestsum/broken.xml",  # An error without a case, for what was not built.
        "recorded/jest_junit/after.xml",  # A case that failed, and is not counted.
    ],
)
def test_a_runner_that_contradicts_itself_is_not_believed(report: str) -> None:
    with pytest.raises(Unreadable, match="not those of its cases"):
        junit.read(recorded(report))


@pytest.mark.parametrize(
    ("report", "name", "place"),
    [
        ("recorded/pytest/mixed.xml", "test_is_one[2]", ("back/test_calc.py", 9)),
        ("recorded/pytest/mixed.xml", "test_left", ("back/test_calc.py", 29)),
        ("recorded/pytest/mixed.xml", "test_adds", ("", None)),
        ("recorded/pytest/mixed_xunit1.xml", "test_adds", ("back/test_calc.py", 3)),
        ("recorded/pytest/uncollected.xml", "bad.test_bad", ("back/bad/test_bad.py", 1)),
        ("recorded/rspec/calc.xml", "Calc is broken", ("back/spec/calc_spec.rb", 7)),
        ("recorded/phpunit/calc.xml", "testBreaks", ("CalcTest.php", 8)),  # Absolute there.
    ],
)
def test_a_case_stands_where_it_failed(
    report: str, name: str, place: tuple[str, int | None]
) -> None:
    cases = {case.name: case for case in junit.read(recorded(report), "back").cases}

    assert (cases[name].path, cases[name].line) == place


def test_a_case_says_why_it_failed_and_what_it_stands_in() -> None:
    failed = junit.read(recorded("recorded/pytest/mixed.xml")).cases[0]

    assert (failed.name, failed.suite, failed.duration_ms) == ("test_is_one[2]", "test_calc", 1)
    assert "E       assert 2 == 1" in failed.message


def test_several_reports_are_read_as_one() -> None:
    contents = [recorded(f"recorded/phpunit/{name}.xml") for name in ("calc", "fine")]

    assert junit.read_all(contents).counts == TestCounts(passed=3, failed=1, errors=2, skipped=2)


@pytest.mark.parametrize("contents", [[], [b"<testsuite/>", b""], [b" " * 15_000_000] * 2])
def test_several_reports_are_all_read_or_none(contents: list[bytes]) -> None:
    with pytest.raises(Unreadable):
        junit.read_all(contents)


def test_a_message_that_its_text_repeats_is_told_once() -> None:
    case = b'<testcase><failure message="no">no: never</failure></testcase>'

    told = junit.read(b"<testsuite>" + case + b"</testsuite>").cases[0]

    assert (told.status, told.message) == (CaseStatus.FAILED, "no: never")


def test_of_a_test_that_pytest_ran_again_the_last_try_counts() -> None:
    once = '<testcase classname="t" name="one"/>'
    again = '<testcase classname="t" name="two"/>'
    bad = '<testcase classname="t" name="two"><failure message="no"/></testcase>'
    suite = (
        '<testsuites><testsuite name="{0}" failures="{1}" tests="2">{2}</testsuite></testsuites>'
    )

    good = junit.read(suite.format("pytest", 0, once + again * 3).encode())
    never = junit.read(suite.format("pytest", 1, again + once + bad).encode())

    assert good.counts == TestCounts(passed=2, flaky=1)
    assert never.counts == TestCounts(passed=1, failed=1)
    for odd in (
        suite.format("other", 0, once + again * 3),
        suite.format("pytest", 0, once + bad + again),
        suite.format("pytest", 0, once + again + '<testcase classname="t" name="three"/>'),
    ):
        with pytest.raises(Unreadable):
            junit.read(odd.encode())


def gotestsum(*cases: tuple[str, str]) -> bytes:
    """A suite as gotestsum writes it, of (test, `failure`, `skipped` or '')."""
    inner = "".join(
        f'<testcase classname="p" name="{name}">{f"<{end}/>" if end else ""}</testcase>'
        for name, end in cases
    )
    failures = sum(end == "failure" for _, end in cases)
    counts = f'tests="{len(cases)}" failures="{failures}"'
    version = '<properties><property name="go.version" value="go1.23.1"/></properties>'
    suite = f'<testsuite name="p" {counts}>{version}{inner}</testsuite>'
    return f"<testsuites {counts}>{suite}</testsuites>".encode()


@check_rows(
    ("cases", "counts"),
    [
        ([("A", "failure"), ("A", "")], TestCounts(passed=1, flaky=1)),
        ([("A", "failure"), ("A", "failure"), ("A", ""), ("B", "")], TestCounts(2, flaky=1)),
        ([("A", "failure"), ("A", "failure"), ("B", "")], TestCounts(1, 1)),
        ([("A/b", "failure"), ("A/c", "failure"), ("A", "failure"),
          ("A/b", ""), ("A", ""), ("A/c", ""), ("A", "")], TestCounts(3, flaky=3)),
        ([("A", "failure"), ("A", "skipped")], TestCounts(failed=1)),
        # `-count=2` ran all of them twice.
        ([("A", "failure"), ("A", ""), ("B", ""), ("B", "")], TestCounts(3, 1)),
    ],
)  # fmt: skip
def test_a_test_that_gotestsum_ran_again_is_flaky_when_it_passed_at_last(
    cases: list[tuple[str, str]], counts: TestCounts
) -> None:
    assert junit.read(gotestsum(*cases)).counts == counts


def test_of_other_runners_two_tests_of_one_name_are_two_tests() -> None:
    suite = '<testsuite><testcase name="a"><failure/></testcase><testcase name="a"/></testsuite>'

    assert junit.read(suite.encode()).counts == TestCounts(passed=1, failed=1)


def test_a_flaky_test_says_how_it_failed() -> None:
    case = (
        b'<testcase name="a"><flakyFailure message="was true" type="E">'
        b"<stackTrace>at ex.T.a(T.java:3)</stackTrace></flakyFailure></testcase>"
    )

    flaky = junit.read(b"<testsuite>" + case + b"</testsuite>").cases[0]

    assert (flaky.status, flaky.is_flaky) == (CaseStatus.PASSED, True)
    assert flaky.message == "was true\nat ex.T.a(T.java:3)"
