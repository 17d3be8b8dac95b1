"""What gates told, as far as a score is made of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from verification.engine.gates import OUT_OF_MEMORY_EXIT_CODE, GateReport
from verification.engine.gating.stages import BUILD, INSTALL, LINT, RUN, SECURITY, TEST, TYPES
from verification.engine.outcome import Status
from verification.engine.reports.model import ProblemSeverity, TestCounts
from verification.engine.scoring import Measured

_DECIDED = (Status.PASSED, Status.FAILED)
_BROKEN = (Status.FAILED, Status.TIMED_OUT)


def measured(reports: Sequence[GateReport]) -> Measured:
    """Over all components; what a gate did not get to tell is not measured."""
    return Measured(
        install_ok=_went_well(_of(reports, INSTALL)),
        build_ok=_went_well(_of(reports, BUILD)),
        tests=_tests(_of(reports, TEST)),
        lint_problems=_problems(_of(reports, LINT)),
        critical_errors=_critical(reports),
        high_security=_high(_of(reports, SECURITY)),
        changed_lines=_changed(_of(reports, TEST)),
    )


def _of(reports: Iterable[GateReport], gate: str) -> list[GateReport]:
    return [one for one in reports if one.gate == gate and one.status is not Status.SKIPPED]


def _went_well(reports: Sequence[GateReport]) -> bool | None:
    if any(one.status in _BROKEN for one in reports):
        return False
    is_known = bool(reports) and all(one.status is Status.PASSED for one in reports)
    return True if is_known else None


def _tests(reports: Sequence[GateReport]) -> TestCounts | None:
    known = [_new(one.tests, one) for one in reports if one.tests and not one.contradiction]
    return sum(known, TestCounts()) if known else None


def _new(tests: TestCounts, report: GateReport) -> TestCounts:
    """Without what failed before the work."""
    errors = min(tests.errors, max(0, report.old_failures - tests.failed))
    failed = min(tests.failed, report.old_failures)
    return replace(tests, failed=tests.failed - failed, errors=tests.errors - errors)


def _changed(reports: Sequence[GateReport]) -> tuple[int, int] | None:
    known = [one.changed_lines for one in reports if one.changed_lines and not one.contradiction]
    return (sum(one for one, _ in known), sum(one for _, one in known)) if known else None


def _problems(reports: Sequence[GateReport]) -> int | None:
    known = [
        one.problem_count - one.old_problems
        for one in reports
        if one.status in _DECIDED and one.problem_count is not None
    ]
    return sum(known) if known and len(known) == len(reports) else None


def _critical(reports: Sequence[GateReport]) -> int | None:
    """Gates that could not come to their end for the work's sake, and failed type checks."""
    ran = [one for one in reports if one.status in (*_DECIDED, Status.TIMED_OUT)]
    if not ran:
        return None
    return sum(
        one.status is Status.TIMED_OUT
        or one.exit_code == OUT_OF_MEMORY_EXIT_CODE
        or (one.status is Status.FAILED and one.gate in (TYPES, RUN) and not one.is_old)
        for one in ran
    )


def _high(reports: Sequence[GateReport]) -> int | None:
    known = [one for one in reports if one.status in _DECIDED and one.problem_count is not None]
    if not known or len(known) != len(reports):
        return None
    high = ProblemSeverity.HIGH
    found = [problem for one in known for problem in one.problems]
    return sum(problem.severity is high and not problem.waived for problem in found)
