"""Base against candidate: what failed before the work does not count against it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from verification.engine.gates import GateReport
from verification.engine.gating.judging import MAX_TOLD, Judged
from verification.engine.gating.stages import BUILD, INSTALL
from verification.engine.outcome import Status
from verification.engine.reports.model import Problem, TestCase

T = TypeVar("T")

NOTHING_TRIED = (INSTALL, BUILD)
"""Where these fail, nothing after them is tried."""
_NUMBERS = re.compile(r"\d+")


def wants_base(report: GateReport) -> bool:
    """Whether it complains of something that may have been there before the work."""
    if report.is_lost or report.contradiction or report.status in (Status.SKIPPED, Status.ERROR):
        return False
    return report.status is not Status.PASSED or bool(report.problem_count)


def restored(told: Judged) -> GateReport:
    """As it was told at first: what was old, new or accepted then may not be so now."""
    report = replace(told.report, changed_lines=None, unrun=())
    if told.tests:
        report = replace(report, failures=tuple(_bad(told)[:MAX_TOLD]), old_failures=0)
    if told.problems:
        report = replace(report, problems=told.problems.problems[:MAX_TOLD], old_problems=0)
    return replace(report, is_old=False)


def compared(candidate: Judged, base: Judged | None) -> GateReport:
    """What the candidate is told, with only what is new; `base` None: nothing was there to try.

    A base that was lost leaves it open whose fault it is: the candidate's report is lost, too.
    """
    report = candidate.report
    if base is None:
        return report
    if base.report.is_lost or base.report.contradiction:
        why = base.report.detail or base.report.contradiction
        return replace(
            report, is_lost=True, detail=f"What {report.name} told before the work is lost: {why}"
        )
    failures = _new(_bad(candidate), _bad(base), _case)
    problems = _new(_problems(candidate), _problems(base), _problem)
    old_failures = len(_bad(candidate)) - len(failures)
    old_problems = len(_problems(candidate)) - len(problems)
    weighed = replace(
        report,
        failures=tuple(failures[:MAX_TOLD]),
        problems=tuple(problems[:MAX_TOLD]),
        old_failures=old_failures,
        old_problems=old_problems,
    )
    if failures or problems or not _ends_alike(report, base.report):
        return weighed
    return _old(weighed)


def _old(report: GateReport) -> GateReport:
    """All that is told was there before; what tells nothing in particular is anybody's guess."""
    is_named = bool(report.old_failures or report.old_problems)
    if is_named and report.gate not in NOTHING_TRIED:
        return replace(report, is_old=True)
    if report.gate in NOTHING_TRIED:
        why = "nothing that follows it could be tried"
    else:
        why = "what is new cannot be told from it"
    ended = "took too long" if report.status is Status.TIMED_OUT else "failed"
    return replace(
        report, status=Status.ERROR, detail=f"{report.name} {ended} before the work as well: {why}."
    )


def _ends_alike(report: GateReport, base: GateReport) -> bool:
    return report.status is base.status and report.exit_code == base.exit_code


def _bad(told: Judged) -> Sequence[TestCase]:
    return [one for one in told.tests.cases if one.status.is_bad] if told.tests else []


def _problems(told: Judged) -> Sequence[Problem]:
    return told.problems.problems if told.problems else ()


def _new(now: Iterable[T], before: Iterable[T], key: Callable[[T], Hashable]) -> list[T]:
    """Those that are more than there were before."""
    left = Counter(map(key, before))
    found = []
    for one in now:
        name = key(one)
        if left[name]:
            left[name] -= 1
        else:
            found.append(one)
    return found


def _case(case: TestCase) -> Hashable:
    """A test is known by its name: how it fails may differ each time."""
    return case.suite, case.name


def _problem(problem: Problem) -> Hashable:
    """Lines move, and messages count."""
    return problem.path, problem.rule, _NUMBERS.sub("", problem.message)
