"""NUnit's and xUnit.net's XML."""

from __future__ import annotations

import pytest

from tests.engine.reports.test_test_reports import NUNIT2, NUNIT3, XUNIT, recorded
from tests.tables import check_rows
from verification.engine.reports.model import CaseStatus, TestCounts, Unreadable
from verification.engine.reports.testing import TestFormat, read_tests

RUN = "<test-run {}>{}</test-run>"
SUITE = '<test-suite name="S" {}>{}</test-suite>'
FAILURE = "<failure><message>no</message></failure>"


def case(result: str, inner: str = "", **more: str) -> str:
    attributes = "".join(f' {name}="{value}"' for name, value in more.items())
    return f'<test-case name="T" result="{result}"{attributes}>{inner}</test-case>'


@check_rows(
    ("run", "counts"),
    [
        (RUN.format("", case("Passed")), TestCounts(1)),
        (RUN.format("", case("Warning")), TestCounts(1)),
        (RUN.format("", case("Failed", label="Error")), TestCounts(errors=1)),
        (RUN.format("", case("Failed", label="Invalid")), TestCounts(errors=1)),
        (RUN.format("", case("Failed(Error)")), TestCounts(errors=1)),
        (RUN.format("", case("Failed")), TestCounts(failed=1)),
        (RUN.format("", case("Skipped", label="Ignored")),
         TestCounts(skipped=1)),
        (RUN.format('total="2" passed="1" warnings="1"', case("Passed") + case("Warning")),
         TestCounts(2)),
        (RUN.format('total="2" passed="2"', case("Passed") + case("Warning")), TestCounts(2)),
        (RUN.format('total="1" skipped="1"', case("Passed") + case("Skipped")),
         TestCounts(1, skipped=1)),
        (RUN.format('testcasecount="0" result="Passed" total="0"', ""), TestCounts()),
        # It could not be loaded.
        (RUN.format('result="Failed"', SUITE.format('result="Failed" label="Invalid"', FAILURE)),
         TestCounts(errors=1)),
        (RUN.format('result="Failed" total="0"', ""), TestCounts(errors=1)),
        # What cleans up after one of two suites failed.
        (RUN.format('result="Failed"', SUITE.format('result="Failed" site="TearDown"',
                                                    FAILURE + case("Passed"))
                    + SUITE.format('result="Failed" site="Child"', case("Failed"))),
         TestCounts(1, 1, 1)),
    ],
)  # fmt: skip
def test_a_test_of_nunit_3_counts_by_its_result(run: str, counts: TestCounts) -> None:
    assert read_tests(NUNIT3, run.encode()).counts == counts


@check_rows(
    ("results", "counts"),
    [
        ('<test-results total="0" failures="0" not-run="0"/>', TestCounts()),
        ('<test-results><test-case name="a" executed="true" success="true"/></test-results>',
         TestCounts(1)),
        ('<test-results failures="1"><test-case executed="True" success="False"/></test-results>',
         TestCounts(failed=1)),
        ('<test-results total="0" not-run="1"><test-case executed="False"/></test-results>',
         TestCounts(skipped=1)),
        ('<test-results total="1" failures="0"><test-suite success="False"><failure/><results>'
         '<test-case executed="True" success="True"/></results></test-suite></test-results>',
         TestCounts(1, errors=1)),
    ],
)  # fmt: skip
def test_a_test_of_nunit_2_counts_by_what_its_version_writes(
    results: str, counts: TestCounts
) -> None:
    assert read_tests(NUNIT2, results.encode()).counts == counts


XUNIT_RUN = "<assemblies><assembly {}>{}</assembly></assemblies>"
COLLECTION = "<collection {}>{}</collection>"
PASS, FAIL = '<test name="N.T" type="N" result="Pass"/>', '<test name="N.U" result="Fail"/>'


@check_rows(
    ("form", "report"),
    [
        (NUNIT3, RUN.format('failed="0"', case("Failed"))),
        (NUNIT3, RUN.format('passed="2"', case("Passed"))),
        (NUNIT3, RUN.format('total="5"', case("Passed"))),
        (NUNIT3, RUN.format('result="Passed"', case("Failed"))),
        (NUNIT3, RUN.format("", SUITE.format('result="Passed"', case("Failed")))),
        (NUNIT3, RUN.format("", SUITE.format('failed="0"', case("Failed")))),
        (NUNIT3, RUN.format("", case("Passed", FAILURE))),
        (NUNIT3, RUN.format("", case("Succeeded"))),
        (NUNIT3, RUN.format("", case(""))),
        (NUNIT3, RUN.format('total="many"', case("Passed"))),
        (NUNIT3, "<test-suite/>"),
        (NUNIT2, '<test-results failures="0"><test-case executed="True" success="False"/></test-results>'),
        (NUNIT2, '<test-results total="3"><test-case executed="True" success="True"/></test-results>'),
        (NUNIT2, '<test-results errors="1"><test-case result="Success"/></test-results>'),
        (NUNIT2, '<test-results><test-case executed="True"/></test-results>'),
        (NUNIT2, '<test-results><test-case executed="True" success="Turue"/></test-results>'),
        (NUNIT2, '<test-results><test-suite success="True"><results><test-case success="False"/>'
                 "</results></test-suite></test-results>"),
        (NUNIT2, '<test-results total="1" failures="0" not-run="0"/>'),
        (NUNIT2, "<test-run/>"),
        (XUNIT, XUNIT_RUN.format('failed="0"', COLLECTION.format("", FAIL))),
        (XUNIT, XUNIT_RUN.format('passed="2"', COLLECTION.format("", PASS))),
        (XUNIT, XUNIT_RUN.format('total="2"', COLLECTION.format("", PASS))),
        (XUNIT, XUNIT_RUN.format('errors="1"', COLLECTION.format("", PASS))),
        (XUNIT, XUNIT_RUN.format("", COLLECTION.format('failed="0"', FAIL))),
        (XUNIT, XUNIT_RUN.format("", COLLECTION.format("", "<test/>"))),
        (XUNIT, XUNIT_RUN.format("", COLLECTION.format("", PASS.replace("/>", "><failure/></test>")))),
        (XUNIT, "<assemblies><collection/></assemblies>"),
    ],
)  # fmt: skip
def test_numbers_and_results_that_contradict_each_other_are_not_believed(
    form: TestFormat, report: str
) -> None:
    with pytest.raises(Unreadable):
        read_tests(form, report.encode())


def test_xunit_of_version_1_is_refused_by_name() -> None:
    report = b'<assembly><class name="N"><test name="N.T" result="Pass"/></class></assembly>'

    for form in (XUNIT, TestFormat.ANY):
        with pytest.raises(Unreadable, match="version 1"):
            read_tests(form, report)


@pytest.mark.parametrize(
    ("form", "report", "name", "place"),
    [
        (NUNIT3, "written/nunit3/mixed.xml", "Halves", ("tests/CalcTests.cs", 14)),
        (NUNIT2, "written/nunit2/mixed.xml", "Halves", ("tests/CalcTests.cs", 14)),
        (XUNIT, "written/xunit/mixed.xml", "Halves(number: 7)", ("tests/CalcTests.cs", 16)),
        (XUNIT, "written/xunit/mixed.xml", "Database", ("tests/Database.cs", 12)),
        (XUNIT, "written/xunit/passed_v3.xml", "Adds", ("tests/CalcTests.cs", 8)),
    ],
)
def test_a_test_of_dotnet_stands_where_its_trace_meets_a_file(
    form: TestFormat, report: str, name: str, place: tuple[str, int]
) -> None:
    cases = {one.name: one for one in read_tests(form, recorded(report)).cases}

    assert (cases[name].path, cases[name].line) == place


def test_a_test_of_dotnet_is_known_by_its_class_and_says_why_it_did_not_pass() -> None:
    cases = {one.name: one for one in read_tests(XUNIT, recorded("written/xunit/mixed.xml")).cases}

    assert cases["Adds"].suite == "Calc.Tests.CalcTests"
    assert cases["Adds"].duration_ms == 10
    assert cases["Halves(number: 7)"].message.startswith("Assert.Equal() Failure: Values differ")
    assert (cases["Later"].status, cases["Later"].message) == (CaseStatus.SKIPPED, "not yet")


def test_a_file_on_a_drive_of_another_machine_is_none_of_the_work() -> None:
    report = recorded("written/xunit/mixed.xml").replace(b"/workspace/tests/", b"C:\\build\\")

    assert not any(one.path for one in read_tests(XUNIT, report).cases)
