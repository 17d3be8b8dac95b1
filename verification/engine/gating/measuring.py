"""What gates told, as far as a score is made of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from verification.engine.gates import OUT_OF_MEMORY_EXIT_CODE, GateReport
from verification.engine.outcome import Status
from verification.engine.reports.model import ProblemSeverity, TestCounts
from verification.engine.scoring import Measured

_DECIDED = (Status.PASSED, Status.FAILED)
_BROKEN = (Status.FAILED, Status.TIMED_OUT)


def measured(reports: Sequence[GateReport]) -> Measured:
    """Over all components; what a gate did not get to tell is not measured."""
    return Measured(
        install_ok=_went_well(_of(reports, "install")),
        build_ok=_went_well(_of(reports, "build")),
        tests=_tests(_of(reports, "test")),
        lint_problems=_problems(_of(reports, "lint")),
        critical_errors=_critical(reports),
        high_security=_high(_of(reports, "security")),
    )


def _of(reports: Iterable[GateReport], gate: str) -> list[GateReport]:
    return [one for one in reports if one.gate == gate and one.status is not Status.SKIPPED]


def _went_well(reports: Sequence[GateReport]) -> bool | None:
    if any(one.status in _BROKEN for one in reports):
        return False
    is_known = bool(reports) and all(one.status is Status.PASSED for one in reports)
    return True if is_known else None


def _tests(reports: Sequence[GateReport]) -> TestCounts | None:
    known = [one.tests for one in reports if one.tests and not one.contradiction]
    if not known:
        return None
    return TestCounts(
        passed=sum(one.passed for one in known),
        failed=sum(one.failed for one in known),
        errors=sum(one.errors for one in known),
        skipped=sum(one.skipped for one in known),
    )


def _problems(reports: Sequence[GateReport]) -> int | None:
    counts = [one.problem_count for one in reports if one.status in _DECIDED]
    known = [one for one in counts if one is not None]
    return sum(known) if known and len(known) == len(reports) else None


def _critical(reports: Sequence[GateReport]) -> int | None:
    """Gates that could not come to their end for the work's sake, and failed type checks."""
    ran = [one for one in reports if one.status in (*_DECIDED, Status.TIMED_OUT)]
    if not ran:
        return None
    return sum(
        one.status is Status.TIMED_OUT
        or one.exit_code == OUT_OF_MEMORY_EXIT_CODE
        or (one.status is Status.FAILED and one.gate in ("types", "run"))
        for one in ran
    )


def _high(reports: Sequence[GateReport]) -> int | None:
    known = [one for one in reports if one.status in _DECIDED and one.problem_count is not None]
    if not known or len(known) != len(reports):
        return None
    high = ProblemSeverity.HIGH
    return sum(problem.severity is high for one in known for problem in one.problems)
