from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from processes.definition.model import GatesWithoutSandbox
from tests.engine.cases import case, ports, told
from tests.engine.strategies import gate_reports
from tests.tables import check_rows
from verification.engine.climb import Conclusion, climb, conclude
from verification.engine.gates import GateReport
from verification.engine.gating.findings import FAILED, findings_of
from verification.engine.golden.given import RecordedGates
from verification.engine.outcome import Status, Verdict
from verification.engine.reports.model import TestCounts

PASSED, BROKEN, SKIPPED = Status.PASSED, Status.FAILED, Status.SKIPPED
GOOD, BAD = TestCounts(passed=4), TestCounts(passed=4, errors=2)
NONE, ALL_SKIPPED = TestCounts(), TestCounts(skipped=3)
ALL_GATES = ("install", "build", "types", "test", "lint", "security", "run")


def report(
    status: Status,
    exit_code: int | None = None,
    tests: TestCounts | None = None,
    gate: str = "test",
) -> GateReport:
    return GateReport(gate, status, exit_code=exit_code, tests=tests)


def concluded(reports: Sequence[GateReport], gates: Sequence[str], **of_phase: Any) -> Conclusion:
    asked = case(gates=gates, of_phase=of_phase)
    reach = replace(ports(), gates=RecordedGates(reports))
    return conclude(asked, list(climb(asked, reach)))


@check_rows(
    ("reported", "reason_code"),
    [
        pytest.param(report(PASSED), "", id="passed, nothing else known"),
        pytest.param(report(PASSED, 0), "", id="passed"),
        pytest.param(report(PASSED, 0, GOOD), "", id="passed, counted"),
        pytest.param(report(PASSED, None, GOOD), "", id="passed, counted, no exit code"),
        pytest.param(report(BROKEN), "tests_failed", id="failed, nothing else known"),
        pytest.param(report(BROKEN, 1), "tests_failed", id="failed"),
        pytest.param(report(BROKEN, 1, BAD), "tests_failed", id="failed, counted"),
        pytest.param(report(BROKEN, None, BAD), "tests_failed", id="failed, no exit code"),
        pytest.param(report(SKIPPED), "", id="skipped"),
        pytest.param(report(SKIPPED, 0), "", id="skipped, exit 0"),
        pytest.param(report(SKIPPED, 1), "gate_contradiction", id="skipped, exit 1"),
        pytest.param(report(SKIPPED, None, BAD), "gate_contradiction", id="skipped, and failed"),
        pytest.param(report(SKIPPED, 137), "gate_contradiction", id="skipped, and killed"),
        pytest.param(report(Status.ERROR), "gate_error", id="error"),
        pytest.param(report(Status.ERROR, 0, GOOD), "gate_error", id="error, exit 0"),
        pytest.param(report(Status.TIMED_OUT), "gate_timed_out", id="timed out"),
        pytest.param(report(Status.TIMED_OUT, -9, GOOD), "gate_timed_out", id="timed out, counted"),
        pytest.param(report(PASSED, 1), "gate_contradiction", id="passed, exit 1"),
        pytest.param(report(BROKEN, 0), "gate_contradiction", id="failed, exit 0"),
        pytest.param(report(PASSED, 0, BAD), "gate_contradiction", id="exit 0, tests failed"),
        pytest.param(report(BROKEN, 1, GOOD), "gate_contradiction", id="exit 1, tests passed"),
        pytest.param(report(PASSED, None, BAD), "gate_contradiction", id="passed, tests failed"),
        pytest.param(report(BROKEN, None, GOOD), "gate_contradiction", id="failed, tests passed"),
        pytest.param(report(BROKEN, 137), "gate_out_of_memory", id="out of memory"),
        pytest.param(report(PASSED, 137), "gate_out_of_memory", id="memory is no success"),
        pytest.param(report(BROKEN, 137, BAD), "gate_out_of_memory", id="memory, tests failed"),
        pytest.param(report(BROKEN, 137, GOOD), "gate_contradiction", id="memory, tests passed"),
        pytest.param(report(BROKEN, 137, NONE), "gate_out_of_memory", id="memory, before any test"),
        pytest.param(report(BROKEN, 5, NONE), "no_tests", id="no tests is not failed tests"),
        pytest.param(report(BROKEN, 1, NONE), "gate_contradiction", id="no tests, exit 1"),
        pytest.param(report(BROKEN, 1, ALL_SKIPPED), "gate_contradiction", id="skipped, exit 1"),
        pytest.param(report(BROKEN, 5, ALL_SKIPPED), "no_tests", id="whole modules skipped"),
        pytest.param(report(PASSED, 0, NONE), "no_tests", id="no tests, exit 0"),
        pytest.param(report(SKIPPED, 5, NONE), "no_tests", id="no tests, called skipped"),
        pytest.param(report(PASSED, 0, ALL_SKIPPED), "no_tests", id="all skipped is not passed"),
        pytest.param(report(BROKEN, 4, NONE), "gate_contradiction", id="tests never come to"),
        pytest.param(report(PASSED, 2, NONE), "gate_contradiction", id="passed, never come to"),
        pytest.param(report(BROKEN, 1, NONE, "lint"), "lint_failed", id="only tests are counted"),
    ],
)
def test_what_a_report_says(reported: GateReport, reason_code: str) -> None:
    assert [one.reason_code for one in findings_of(reported)] == [reason_code] * bool(reason_code)


@pytest.mark.parametrize("gate", ALL_GATES)
def test_each_gate_fails_with_a_reason_of_its_own(gate: str) -> None:
    [found] = findings_of(report(BROKEN, 1, gate=gate))

    assert found.rule == gate
    assert found.reason_code == FAILED[gate]
    assert len(set(FAILED.values())) == len(ALL_GATES)


@pytest.mark.parametrize(
    ("reported", "verdict", "outcome"),
    [
        pytest.param(report(PASSED, 0, GOOD), "accept", "pass", id="passed"),
        pytest.param(report(SKIPPED), "accept", "pass", id="skipped"),
        pytest.param(report(PASSED, 0, NONE), "accept", "pass", id="no tests"),
        pytest.param(report(BROKEN, 1, BAD), "reject", "fail", id="failed"),
        pytest.param(report(Status.TIMED_OUT), "reject", "fail", id="timed out"),
        pytest.param(report(PASSED, 0, BAD), "undecided", "fail", id="contradiction"),
        pytest.param(report(Status.ERROR), "undecided", "fail", id="error"),
    ],
)
def test_a_gates_report_decides(reported: GateReport, verdict: str, outcome: str) -> None:
    conclusion = concluded([reported], ["test"])

    assert (conclusion.verdict, conclusion.outcome) == (verdict, outcome)
    level = "HIGH" if reported.has_passing_tests and verdict == "accept" else "MEDIUM"
    assert conclusion.confidence_level == {"reject": "FAILED"}.get(verdict, level)


def test_a_linter_that_fails_is_a_warning() -> None:
    conclusion = concluded([report(BROKEN, 1, gate="lint")], ["lint"])

    assert told(conclusion) == [("lint", "advisory", "lint_failed")]
    assert conclusion.outcome == "pass_with_warnings"


def test_a_gate_that_was_asked_for_and_not_reported_leaves_the_run_undecided() -> None:
    conclusion = concluded([report(PASSED, 0, gate="build")], ["build", "test"])

    assert told(conclusion) == [("test", "hard", "gate_error")]
    assert conclusion.verdict == "undecided"


@pytest.mark.parametrize(
    ("reports", "setting", "findings", "verdict", "level"),
    [
        ([], "medium", [("install", "advisory", "gate_error")], "accept", "MEDIUM"),
        (
            [report(PASSED, 0, gate="security")],
            "medium",
            [("install", "advisory", "gate_error")],
            "accept",
            "MEDIUM",
        ),
        (
            [report(PASSED, 0, gate="install")],
            "medium",
            [("test", "hard", "gate_error")],
            "undecided",
            "MEDIUM",
        ),
        (
            [],
            "undecided",
            [("install", "hard", "gate_error"), ("test", "hard", "gate_error")],
            "undecided",
            "MEDIUM",
        ),
    ],
)
def test_work_that_no_gate_recognises_is_decided_without_gates_where_the_process_allows(
    reports: list[GateReport],
    setting: str,
    findings: list[tuple[str, str, str]],
    verdict: str,
    level: str,
) -> None:
    conclusion = concluded(
        reports, ["install", "test"], gates_without_sandbox=GatesWithoutSandbox(setting)
    )

    assert told(conclusion) == findings
    assert (conclusion.verdict, conclusion.confidence_level) == (verdict, level)


def test_a_report_that_nobody_asked_for_says_nothing() -> None:
    conclusion = concluded([report(BROKEN, 1), report(PASSED, 0, gate="build")], ["build"])

    assert told(conclusion) == []
    assert conclusion.verdict == "accept"


def test_a_certain_failure_is_told_beside_a_lost_gate() -> None:
    conclusion = concluded(
        [report(Status.ERROR, gate="build"), report(BROKEN, 1)], ["build", "test"]
    )

    assert conclusion.verdict == "reject"
    assert conclusion.reason_code == "tests_failed"


def test_components_are_told_apart_and_what_was_reported_twice_is_told_once() -> None:
    web, api = (replace(report(BROKEN, 1), component=name) for name in ("web", "api"))

    conclusion = concluded([web, api, web], ["test"])

    assert sorted(one.message for one in conclusion.findings) == [
        "test of api failed.",
        "test of web failed.",
    ]


@pytest.mark.parametrize(
    ("reported", "message"),
    [
        (report(PASSED, 0, BAD), "test was reported as passed and ended with exit code 0, and its "
         "report says 4 passed, 0 failed, 2 errors."),
        (report(BROKEN, 0), "test was reported as failed and ended with exit code 0."),
        (report(PASSED, 0, ALL_SKIPPED), "No test ran: 3 skipped."),
    ],
    ids=["counted", "not counted", "skipped"],
)  # fmt: skip
def test_a_contradiction_is_told_with_what_contradicts(reported: GateReport, message: str) -> None:
    assert [one.message for one in findings_of(reported)] == [message]


@given(gate_reports())
def test_only_a_report_in_which_nothing_went_wrong_is_accepted(reported: GateReport) -> None:
    conclusion = concluded([reported], [reported.gate])
    tests = reported.tests or TestCounts()

    if conclusion.verdict is Verdict.ACCEPT and reported.gate != "lint":
        assert reported.status in (PASSED, SKIPPED) or tests.ran == 0
        assert reported.exit_code in (None, 0) or (reported.exit_code == 5 and tests.ran == 0)
        assert tests.failed + tests.errors == 0


@given(gate_reports())
def test_the_work_is_blamed_only_where_all_that_is_known_speaks_against_it(
    reported: GateReport,
) -> None:
    conclusion = concluded([reported], [reported.gate])
    tests = reported.tests or TestCounts(failed=1)

    if conclusion.verdict is Verdict.REJECT and reported.status is not Status.TIMED_OUT:
        assert reported.status is BROKEN or reported.exit_code == 137
        assert reported.exit_code != 0
        assert tests.failed + tests.errors > 0 or tests.ran == 0
