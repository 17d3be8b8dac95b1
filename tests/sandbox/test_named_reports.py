"""Reports that the work names itself, and tools that are asked for theirs, in real containers."""

from __future__ import annotations

import pytest
from docker import APIClient

from tests.sandbox.engine import tried
from verification.engine.gates import GateReport
from verification.engine.gating.findings import findings_of
from verification.engine.reports.model import TestCounts

pytestmark = pytest.mark.docker

GOOD = '<testsuite tests="1"><testcase name="adds"/></testsuite>'
OWN = "components:\n  - path: .\n    reports: {test: out/report.xml}\n"
PLAN = "Test commands:\n\n    sh run.sh\n"
TESTS = """\
import unittest

class Sums(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(1 + 1, 2)

    def test_halves(self):
        self.assertEqual(4 / 2, 3)
"""


def reported(engine: APIClient, script: str, **more: str) -> GateReport:
    files = {"requirements.txt": "", "loomverify.yaml": OWN, "run.sh": script, **more}
    return tried(engine, files, "test", plan=PLAN).reports["test"]


def test_a_report_that_the_command_wrote_is_the_works_own_word(engine: APIClient) -> None:
    report = reported(engine, f"mkdir -p out\necho '{GOOD}' > out/report.xml\n")

    assert (report.tests, report.is_word) == (TestCounts(passed=1), True)
    assert not report.has_passing_tests


def test_one_that_came_with_the_work_or_lies_behind_a_link_is_none(engine: APIClient) -> None:
    stale = reported(engine, "true\n", **{"out/report.xml": GOOD})
    linked = reported(
        engine, f"mkdir out\necho '{GOOD}' > real.xml\nln -s ../real.xml out/report.xml\n"
    )

    for report in (stale, linked):
        assert report.tests is None
        assert [one.reason_code for one in findings_of(report)] == ["gate_contradiction"]


def test_unittest_tells_of_each_test_by_our_runner(engine: APIClient) -> None:
    files = {"requirements.txt": "", "test_sums.py": TESTS}
    plan = "Test commands:\n\n    python -m unittest discover -v\n"

    report = tried(engine, files, "test", plan=plan).reports["test"]

    assert (report.tests, report.is_guess) == (TestCounts(passed=1, failed=1), False)
    [finding] = findings_of(report)
    assert (finding.path, finding.line) == ("test_sums.py", 8)


def test_lines_that_ran_are_told_by_the_works_own_word_where_nobody_else_can(
    engine: APIClient,
) -> None:
    own = "components:\n  - path: .\n    language: make\n    reports: {coverage: out/lcov.info}\n"
    check = "check:\n\tmkdir -p out\n\tcp lines.txt out/lcov.info\n\techo 2 of 2 tests passed\n"
    lines = "SF:calc.sh\nDA:1,1\nDA:2,0\nend_of_record\n"
    files = {"loomverify.yaml": own, "Makefile": check, "lines.txt": lines, "calc.sh": "a\nb\n"}

    report = tried(engine, files, "test", covers=True).reports["test"]

    assert (report.coverage, report.is_coverage_word) == ((1, 2), True)
