from __future__ import annotations

from dataclasses import replace

import pytest

from processes.definition.model import Enforcement
from tests.engine.cases import case, ports
from verification.engine.climb import Conclusion, climb, conclude
from verification.engine.gates import GateReport
from verification.engine.gating.comparing import compared
from verification.engine.gating.judging import Judged
from verification.engine.gating.measuring import measured
from verification.engine.golden.given import RecordedGates
from verification.engine.outcome import ConfidenceLevel, Outcome, Status, Verdict
from verification.engine.reports.model import Problem, ProblemSeverity, TestCounts, gathered

ERROR = Problem("cannot find symbol", "A.java", 7, severity=ProblemSeverity.HIGH)
UNUSED = Problem("unused variable", "A.java", 3, severity=ProblemSeverity.MEDIUM)
OLD_API = Problem("deprecated", "A.java", 2, severity=ProblemSeverity.LOW)
NO_TESTS = GateReport("test", Status.SKIPPED, tests=TestCounts())


def built(status: Status, *problems: Problem) -> Judged:
    found = gathered(problems)
    code = 0 if status is Status.PASSED else 1
    report = GateReport(
        "build", status, exit_code=code, problems=found.problems, problem_count=found.total
    )
    return Judged(report, problems=found)


def concluded(*reports: GateReport) -> Conclusion:
    asked = case(gates=[*dict.fromkeys(one.gate for one in reports)])
    reach = replace(ports(), gates=RecordedGates(reports))
    return conclude(asked, list(climb(asked, reach)))


def test_a_build_that_warns_and_passes_is_a_build_that_passes() -> None:
    report = built(Status.PASSED, OLD_API, UNUSED).report

    found = concluded(report)

    assert (found.verdict, found.outcome) == (Verdict.ACCEPT, Outcome.PASS)
    assert measured([report]).build_ok is True


def test_of_a_build_that_failed_the_errors_are_blamed_and_the_warnings_told() -> None:
    found = concluded(built(Status.FAILED, ERROR, UNUSED, OLD_API).report)

    assert found.verdict is Verdict.REJECT
    assert [(one.message, one.enforcement, one.line) for one in found.findings] == [
        ("cannot find symbol", Enforcement.HARD, 7),
        ("deprecated", Enforcement.ADVISORY, 2),
        ("unused variable", Enforcement.ADVISORY, 3),
    ]


def test_a_build_that_failed_and_only_warned_is_blamed_for_itself() -> None:
    found = concluded(built(Status.FAILED, OLD_API).report)

    hard = [one for one in found.findings if one.enforcement is Enforcement.HARD]
    assert [(one.reason_code, one.message) for one in hard] == [("build_failed", "build failed.")]


def test_a_new_warning_explains_no_failure_that_was_there_before() -> None:
    report = compared(built(Status.FAILED, ERROR, OLD_API), built(Status.FAILED, ERROR))

    assert concluded(report).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("status", "exit_code", "reason_code"),
    [
        (Status.TIMED_OUT, None, "gate_timed_out"),
        (Status.FAILED, 137, "gate_out_of_memory"),
    ],
)
@pytest.mark.parametrize("gate", ["build", "types", "run"])
def test_what_ran_out_of_time_or_memory_says_so_beside_a_gate_without_tests(
    gate: str, status: Status, exit_code: int | None, reason_code: str
) -> None:
    found = concluded(GateReport(gate, status, exit_code=exit_code), NO_TESTS)

    assert (found.verdict, found.reason_code) == (Verdict.REJECT, reason_code)
    assert found.confidence_level is ConfidenceLevel.FAILED


def test_tests_that_ran_out_of_memory_before_the_first_are_not_without_tests() -> None:
    found = concluded(GateReport("test", Status.FAILED, exit_code=137, tests=TestCounts()))

    assert [one.reason_code for one in found.findings] == ["gate_out_of_memory"]
    assert found.confidence_level is ConfidenceLevel.FAILED


def test_a_linter_that_took_too_long_beside_no_tests_fails_nothing() -> None:
    found = concluded(GateReport("lint", Status.TIMED_OUT), NO_TESTS)

    assert (found.verdict, found.outcome) == (Verdict.ACCEPT, Outcome.PASS_WITH_WARNINGS)
    assert found.confidence_level is ConfidenceLevel.MEDIUM
