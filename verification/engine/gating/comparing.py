"""Base against candidate: what failed before the work does not count against it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from verification.engine.gates import GateReport, is_warning
from verification.engine.gating.anchoring import by_line
from verification.engine.gating.changing import UNWEIGHED
from verification.engine.gating.judging import MAX_TOLD, Judged
from verification.engine.gating.stages import BUILD, INSTALL, LINT, RUN, SECURITY, TYPES
from verification.engine.outcome import Status
from verification.engine.reports.model import (
    CaseStatus,
    Problem,
    ProblemReport,
    TestCase,
    TestCounts,
)

T = TypeVar("T")

NOTHING_TRIED = (INSTALL, BUILD)
"""Where these fail, nothing after them is tried."""
_NUMBERS = re.compile(r"\d+")


def wants_base(report: GateReport) -> bool:
    """Whether it complains of something that may have been there before the work.

    What is expected of a start is what the work is for: that it failed before excuses nothing.
    """
    if report.is_lost or report.contradiction or report.status in (Status.SKIPPED, Status.ERROR):
        return False
    is_failed = report.status is not Status.PASSED or bool(report.problem_count)
    return is_failed and report.gate != RUN


def restored(told: Judged) -> GateReport:
    """As it was told at first: what was old, new or accepted then may not be so now."""
    report = told.report
    if told.tests:
        report = replace(report, failures=tuple(_bad(told)[:MAX_TOLD]), old_failures=0)
    if told.problems:
        report = replace(report, problems=told.problems.problems[:MAX_TOLD], old_problems=0)
    unwaived = tuple(replace(one, waived="") for one in report.problems)
    return replace(report, problems=unwaived, is_old=False, **UNWEIGHED)


def anchored(told: Judged, read: Callable[[str], bytes]) -> Judged:
    """What security found, named by its lines: a secret in place of another one is new.

    `read` raises `KeyError` for no file.
    """
    if told.report.gate != SECURITY or told.problems is None:
        return told
    named = tuple(map(by_line(read), told.problems.problems))
    return replace(told, problems=replace(told.problems, problems=named))


def joined(told: Iterable[Judged]) -> Judged | None:
    """What security told of all components as one: what is a component may change with the work.

    The report is the worst one's. None where none was looked at.
    """
    found = [one for one in told if one.report.status is not Status.SKIPPED]
    if not found:
        return None
    worst = min(found, key=lambda one: (not one.report.is_lost, _rank(one.report)))
    problems = ProblemReport(
        sum(one.problems.total for one in found if one.problems),
        tuple(problem for one in found for problem in _problems(one)),
    )
    return replace(worst, problems=problems)


def _rank(report: GateReport) -> int:
    if report.contradiction:
        return 0
    return (Status.ERROR, Status.TIMED_OUT, Status.FAILED, Status.PASSED).index(report.status) + 1


def compared(candidate: Judged, base: Judged | None) -> GateReport:
    """What the candidate is told, with only what is new; `base` None: nothing was there to try.

    A base that was lost leaves it open whose fault it is: the candidate's report is lost, too.
    Source: docs/gates.md, "Base against candidate".
    """
    report = candidate.report
    if base is None or (report.gate == LINT and (base.report.is_lost or _tells_nothing(base))):
        return report
    if base.report.is_lost or base.report.contradiction:
        why = base.report.detail or base.report.contradiction
        lost = f"What {report.name} told before the work is lost: {why}"
        return replace(report, is_lost=True, detail=lost, inputs_sha256="")
    if report.is_word or base.report.is_word:
        return _by_word(report, base.report)
    weighed = _weighed(candidate, base)
    is_named = bool(weighed.failures or _blamed(weighed, report))
    if is_named or report.status is not Status.PASSED:
        if base.report.was_cut_off:
            return _doubted(report, "it did not come to its end before the work")
        if _tells_nothing(base) and (is_named or not _ends_alike(report, base.report)):
            return _doubted(report, "what was wrong before the work is not known")
    if is_named or not _ends_alike(report, base.report):
        return weighed
    why = _why_not_excused(weighed, candidate, base)
    return _doubted(weighed, why) if why else replace(weighed, is_old=True)


def _by_word(report: GateReport, base: GateReport) -> GateReport:
    """The work's own word on what failed excuses nothing: exit codes alone are known."""
    is_tried = base.status is not Status.SKIPPED or bool(base.command)
    if report.gate == LINT or base.status is Status.PASSED or not is_tried:
        return report
    return _doubted(report, "what was wrong before the work is the work's own word")


def fails_alike(report: GateReport, other: GateReport) -> bool:
    """Whether two runs of the same tests failed by the same ones."""
    return (
        _ends_alike(report, other)
        and (_ended(report), report.contradiction) == (_ended(other), other.contradiction)
        and {*map(_case, report.failures)} == {*map(_case, other.failures)}
    )


def _ended(report: GateReport) -> TestCounts | None:
    """How its tests ended at last: how many tries that took is chance."""
    return replace(report.tests, flaky=0) if report.tests else None


def _weighed(candidate: Judged, base: Judged) -> GateReport:
    case = _known_by(candidate, base)
    failures = _new(_bad(candidate), _bad(base), case, never={*map(case, _good(base))})
    problems = _new(_problems(candidate), _problems(base), _problem)
    return replace(
        candidate.report,
        failures=tuple(failures[:MAX_TOLD]),
        problems=tuple(problems[:MAX_TOLD]),
        old_failures=len(_bad(candidate)) - len(failures),
        old_problems=len(_problems(candidate)) - len(problems),
    )


def _blamed(weighed: GateReport, report: GateReport) -> list[Problem]:
    """Warnings that are new explain no failure that was there before."""
    return [one for one in weighed.problems if not is_warning(report, one)]


def _why_not_excused(report: GateReport, candidate: Judged, base: Judged) -> str:
    """Why what fails as before proves nothing; '' where each failure is known from before."""
    if report.gate in NOTHING_TRIED:
        return "it failed before the work as well, and nothing that follows it could be tried"
    if report.was_cut_off:
        return "it came to no end before the work either"
    if not (report.old_failures or report.old_problems) or _is_fatal(report):
        return "it failed before the work as well, and what is new cannot be told from it"
    if not (_is_whole(candidate) and _is_whole(base)):
        return "more failed before and after the work than can be compared"
    if any(one.status is CaseStatus.ERROR for one in _bad(candidate)):
        return "what did not get as far as to fail kept tests from running, before the work as well"
    case = _known_by(candidate, base)
    if {*map(case, _good(base))} - {*map(case, _cases(candidate))}:
        return "tests that passed before the work did not run"
    return ""


def _is_fatal(report: GateReport) -> bool:
    """Mypy looks no further than an error that it cannot go on from."""
    is_mypy = report.gate in (LINT, TYPES) and "mypy" in report.command
    return is_mypy and report.exit_code != 1


def _doubted(report: GateReport, why: str) -> GateReport:
    return replace(report, status=Status.ERROR, detail=f"{report.name} failed: {why}.")


def _tells_nothing(base: Judged) -> bool:
    """Whether it was to be tried, and what it would have complained of is not known."""
    status = base.report.status
    if status is Status.FAILED and not base.report.was_cut_off:
        return not (_bad(base) or _problems(base))
    is_left_out = status is Status.SKIPPED and bool(base.report.command)
    return status is Status.ERROR or is_left_out


def _ends_alike(report: GateReport, base: GateReport) -> bool:
    return report.status is base.status and report.exit_code == base.exit_code


def _is_whole(told: Judged) -> bool:
    """Whether all that was counted is kept one by one."""
    counts, problems = told.tests.counts if told.tests else TestCounts(), told.problems
    all_cases = counts.ran + counts.skipped == len(_cases(told)) or told.tests is None
    return all_cases and (problems is None or problems.total == len(problems.problems))


def _cases(told: Judged) -> Sequence[TestCase]:
    return told.tests.cases if told.tests else ()


def _good(told: Judged) -> Sequence[TestCase]:
    return [one for one in _cases(told) if one.status is CaseStatus.PASSED]


def _bad(told: Judged) -> Sequence[TestCase]:
    return [one for one in _cases(told) if one.status.is_bad]


def _problems(told: Judged) -> Sequence[Problem]:
    return told.problems.problems if told.problems else ()


def _new(
    now: Iterable[T],
    before: Iterable[T],
    key: Callable[[T], Hashable],
    never: Collection[Hashable] = (),
) -> list[T]:
    """Those that are more than there were before; what `never` names stands for several."""
    left = Counter(map(key, before))
    found = []
    for one in now:
        name = key(one)
        if left[name] and name not in never:
            left[name] -= 1
        else:
            found.append(one)
    return found


def _case(case: TestCase) -> tuple[str, str]:
    """A test is known by its name: how it fails may differ each time."""
    return case.suite, case.name


def _known_by(candidate: Judged, base: Judged) -> Callable[[TestCase], Hashable]:
    """By its file, too, where several have its name: else files may move."""
    shared: set[Hashable] = set()
    fileless: set[Hashable] = set()
    for told in (candidate, base):
        shared |= {name for name, many in Counter(map(_case, _cases(told))).items() if many > 1}
        fileless |= {_case(one) for one in _cases(told) if not one.file}
    shared -= fileless
    return lambda one: (*_case(one), one.file if _case(one) in shared else "")


def _problem(problem: Problem) -> Hashable:
    """Lines move, and messages count; what a line says is known where `anchored` asked for it."""
    said = _NUMBERS.sub("", problem.message)
    return problem.path, problem.rule, problem.severity, said, problem.anchor
