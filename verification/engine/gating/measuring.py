"""What gates told, as far as a score is made of it, and why the rest is not known."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from verification.engine.gates import OUT_OF_MEMORY_EXIT_CODE, GateReport, contradiction_of
from verification.engine.gating.stages import (
    BUILD,
    COVERAGE,
    INSTALL,
    LINT,
    ORDER,
    OWN_COVERAGE,
    RUN,
    SECURITY,
    TEST,
    TYPES,
)
from verification.engine.outcome import Status
from verification.engine.reports.coverage import unreported_words
from verification.engine.reports.model import ProblemSeverity, TestCounts
from verification.engine.scoring import Measured, PartName

MAX_WHY_CHARS = 200
_LINES = (COVERAGE, OWN_COVERAGE)


@dataclass(frozen=True, slots=True)
class _Told:
    """The reports of some gates, and why nothing can be measured by them, '' where it can."""

    reports: tuple[GateReport, ...]
    why: str


def measured(reports: Sequence[GateReport], asked: Collection[str] = ()) -> Measured:
    """Over all components. `asked` are the gates that the phase asks for.

    What one component's gate did not get to tell is not known of the whole.
    """
    of_all = _told(reports, asked, *ORDER)
    builds, tests = _told(reports, asked, INSTALL, BUILD), _told(reports, asked, TEST)
    lints, looks = _told(reports, asked, LINT), _told(reports, asked, SECURITY)
    found = Measured(
        install_ok=_went_well(reports, INSTALL),
        build_ok=_went_well(reports, BUILD),
        tests=_tests(tests),
        lint_problems=_problems(lints),
        critical_errors=_critical(of_all),
        high_security=_high(looks),
        changed_lines=_changed(tests),
        is_coverage_word=any(one.is_coverage_word and one.changed_lines for one in tests.reports),
        unreported=tuple(file for one in tests.reports for file in one.unreported),
    )
    why = {
        PartName.BUILD: _why_not_built(builds, found),
        PartName.TESTS: _why(tests) if found.tests is None else "",
        PartName.LINT: _why(lints) if found.lint_problems is None else "",
        PartName.CRITICAL: _why(of_all) if found.critical_errors is None else "",
        PartName.SECURITY: _why(looks) if found.high_security is None else "",
        PartName.COVERAGE: _why_not_covered(tests) if found.changed_lines is None else "",
    }
    return replace(found, why={name: one[:MAX_WHY_CHARS] for name, one in why.items() if one})


def _why_not_built(told: _Told, found: Measured) -> str:
    if told.why or (found.install_ok, found.build_ok) != (None, None):
        return told.why
    return _why(told)


def _told(reports: Iterable[GateReport], asked: Collection[str], *gates: str) -> _Told:
    found = tuple(one for one in reports if one.gate in gates)
    silent = [gate for gate in gates if gate in asked and all(one.gate != gate for one in found)]
    doubts = (*map(_doubt, found), *(f"gate error: {gate} told nothing" for gate in silent))
    return _Told(found, next(filter(None, doubts), ""))


def _doubt(report: GateReport) -> str:
    """Why a report says nothing of the work; '' where it does."""
    if report.is_lost:
        return f"lost: {report.name}"
    if report.status is Status.ERROR:
        return f"gate error: {report.name} could not be run or read"
    if contradiction_of(report):
        return f"contradiction: {report.name}"
    return f"skipped: {report.name}. {_said(report)}" if _is_left_out(report) else ""


def _is_left_out(report: GateReport) -> bool:
    """Whether it was to run and was not, for what came before it."""
    return report.status is Status.SKIPPED and bool(report.command) and report.tests is None


def _ran(told: _Told) -> list[GateReport]:
    return [one for one in told.reports if one.status is not Status.SKIPPED]


def _said(report: GateReport) -> str:
    return next(iter(report.detail.splitlines()), "")


def _went_well(reports: Sequence[GateReport], gate: str) -> bool | None:
    ran = [one for one in reports if one.gate == gate and not _doubt(one)]
    if any(one.status in (Status.FAILED, Status.TIMED_OUT) for one in ran):
        return False
    if any(one.gate == gate and _doubt(one) for one in reports):
        return None
    return True if any(one.status is Status.PASSED for one in ran) else None


def _tests(told: _Told) -> TestCounts | None:
    if told.why or not told.reports or any(one.was_cut_off for one in told.reports):
        return None
    known = [_new(one.tests, one) for one in told.reports if one.tests]
    is_whole = all(one.tests for one in _ran(told))
    return sum(known, TestCounts()) if known and is_whole else None


def _new(tests: TestCounts, report: GateReport) -> TestCounts:
    """Without what failed before the work."""
    errors = min(tests.errors, max(0, report.old_failures - tests.failed))
    failed = min(tests.failed, report.old_failures)
    return replace(tests, failed=tests.failed - failed, errors=tests.errors - errors)


def _covers(told: _Told) -> bool:
    return any(one.changed_lines for one in told.reports)


def _why_not_covered(told: _Told) -> str:
    """Nobody is told of a part that only counts where it is measured, unless it could have been."""
    if _covers(told):
        return _why(told)
    if silent := unreported_words([file for one in told.reports for file in one.unreported]):
        return silent
    asked = [one for one in _ran(told) if any(file in one.command for file in _LINES)]
    mute = (one for one in asked if one.coverage is None)
    return next((f"not counted: {one.name} did not tell which lines it ran" for one in mute), "")


def _changed(told: _Told) -> tuple[int, int] | None:
    if told.why or not _covers(told) or any(one.was_cut_off for one in told.reports):
        return None
    known = [one.changed_lines for one in told.reports if one.changed_lines]
    return sum(one for one, _ in known), sum(one for _, one in known)


def _problems(told: _Told) -> int | None:
    ran = _ran(told)
    if told.why or not ran or any(one.was_cut_off for one in ran):
        return None
    known = [one.problem_count - one.old_problems for one in ran if one.problem_count is not None]
    return sum(known) if len(known) == len(ran) else None


def _critical(told: _Told) -> int | None:
    """Gates that could not come to their end for the work's sake, and failed type checks.

    A linter that took too long weighs no more than what it could have found.

    One is one, whatever else was lost; that there is none takes all of them.
    """
    ran = [one for one in _ran(told) if not _doubt(one)]
    found = sum(
        (one.was_cut_off and one.gate != LINT)
        or (one.status is Status.FAILED and one.gate in (TYPES, RUN) and not one.is_old)
        for one in ran
    )
    return found if found or (ran and not told.why) else None


def _high(told: _Told) -> int | None:
    if _problems(told) is None:
        return None
    high = ProblemSeverity.HIGH
    found = [problem for one in _ran(told) for problem in one.problems]
    return sum(problem.severity is high and not problem.waived for problem in found)


def _why(told: _Told) -> str:
    """Why these gates measure nothing; '' where nobody asked for them."""
    if told.why:
        return told.why
    for report in told.reports:
        if report.status is Status.TIMED_OUT:
            return f"timed out: {report.name}"
        if report.exit_code == OUT_OF_MEMORY_EXIT_CODE:
            return f"out of memory: {report.name}"
    for report in _ran(told):
        if report.tests is None and report.problem_count is None:
            return f"not counted: {report.name} {report.status}, and reported no numbers"
    return next((f"skipped: {_said(one) or one.name}" for one in told.reports), "")
