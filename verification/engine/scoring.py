"""How good work is, 0 to 10, told by its parts; and whether to go on mending it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from processes.definition.model import ScoreLoop
from verification.engine.reports.model import TestCounts

TOP = 10.0
NEITHER = 5.0
"""Where nothing was measured and no judge gave a score: a person is asked."""
FEW_LINT_PROBLEMS = 5
SEMANTIC_PARTS = {
    "correctness": 3,
    "completeness": 2,
    "testing": 2,
    "quality": 2,
    "practice": 1,
}
"""What a judge is asked to add up."""


class ScoreSource(StrEnum):
    SEMANTIC = "semantic"
    AUTOMATED = "automated"
    NEITHER = "neither"


class LoopDecision(StrEnum):
    FINISH = "finish"
    FINISH_FORCED = "finish_forced"
    STOP = "stop"
    ITERATE = "iterate"


@dataclass(frozen=True, slots=True)
class Measured:
    """What gates told; None: it was not measured.

    `changed_lines` are (covered, all) of those that a coverage report speaks of.
    """

    install_ok: bool | None = None
    build_ok: bool | None = None
    tests: TestCounts | None = None
    lint_problems: int | None = None
    critical_errors: int | None = None
    high_security: int | None = None
    changed_lines: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """`points` of `most`, 0 where nothing was measured; `why` says what was found."""

    name: str
    points: float
    most: float
    is_measured: bool
    why: str


@dataclass(frozen=True, slots=True)
class Score:
    """`total` is 0 to 10. `asks_person`: nothing stands behind it."""

    total: float
    source: ScoreSource
    parts: Sequence[Part] = ()

    @property
    def asks_person(self) -> bool:
        return self.source is ScoreSource.NEITHER


@dataclass(frozen=True, slots=True)
class Loop:
    decision: LoopDecision
    why: str


def automated(measured: Measured) -> Score | None:
    """Add up what gates told; None: they told nothing.

    The optional parts count only where they were measured, and the whole is out of 10 all the same.

    >>> automated(Measured()) is None
    True
    """
    parts = [
        _build(measured),
        _tests(measured.tests),
        _lint(measured.lint_problems),
        _critical(measured.critical_errors),
        *(one for one in (_security(measured), _coverage(measured)) if one.is_measured),
    ]
    if measured.install_ok is False:
        return Score(0.0, ScoreSource.AUTOMATED, tuple(parts))
    if not any(part.is_measured for part in parts):
        return None
    earned, most = sum(part.points for part in parts), sum(part.most for part in parts)
    return Score(round(TOP * earned / most, 2), ScoreSource.AUTOMATED, tuple(parts))


def resolved(semantic: Sequence[float], measured: Measured) -> Score:
    """A judge's score, the median of several; else what gates told; else 5 and a person."""
    found = automated(measured)
    given = [one for one in semantic if math.isfinite(one) and 0 <= one <= TOP]
    if given:
        total = round(statistics.median(given), 2)
        return Score(total, ScoreSource.SEMANTIC, found.parts if found else ())
    return found or Score(NEITHER, ScoreSource.NEITHER)


def decided(score: Score, *, loop: ScoreLoop, iterations: int, cost_usd: float) -> Loop:
    """Whether the work is finished, mended once more, or stopped. `iterations` are those done."""
    if score.total >= loop.threshold and not score.asks_person:
        return Loop(LoopDecision.FINISH, f"{score.total:g} reaches {loop.threshold:g}.")
    if iterations >= loop.max_iterations:
        told = f"{iterations} rounds of {loop.max_iterations} are done; {score.total:g} stays."
        return Loop(LoopDecision.FINISH_FORCED, told)
    budget = loop.budget_usd
    if budget is not None and cost_usd >= budget:
        return Loop(LoopDecision.STOP, f"${cost_usd:.2f} of ${budget:.2f} are spent.")
    told = f"{score.total:g} of {loop.threshold:g}, round {iterations} of {loop.max_iterations}."
    return Loop(LoopDecision.ITERATE, told)


def _build(measured: Measured) -> Part:
    if measured.install_ok is False:
        return _told("build", 3, 0, "The install failed.")
    if measured.build_ok is None:
        if measured.install_ok is None:
            return _unmeasured("build", 3)
        return _told("build", 3, 3, "It installs; nothing is to be built.")
    return _told("build", 3, 3 * measured.build_ok, "built" if measured.build_ok else "failed")


def _tests(counts: TestCounts | None) -> Part:
    if counts is None or not counts.ran:
        return _unmeasured("tests", 4)
    return _told("tests", 4, 4 * counts.passed / counts.ran, f"{counts.passed} of {counts.ran}")


def _lint(problems: int | None) -> Part:
    if problems is None:
        return _unmeasured("lint", 2)
    points = 2 if problems == 0 else 1 if problems < FEW_LINT_PROBLEMS else 0
    return _told("lint", 2, points, f"{problems} found")


def _critical(errors: int | None) -> Part:
    if errors is None:
        return _unmeasured("no critical errors", 1)
    return _told("no critical errors", 1, 1 if errors == 0 else 0, f"{errors} found")


def _security(measured: Measured) -> Part:
    high = measured.high_security
    if high is None:
        return _unmeasured("security", 1)
    return _told("security", 1, 1 if high == 0 else 0, f"{high} high")


def _coverage(measured: Measured) -> Part:
    covered, lines = measured.changed_lines or (0, 0)
    if not lines:
        return _unmeasured("coverage of changed lines", 1)
    return _told("coverage of changed lines", 1, covered / lines, f"{covered} of {lines}")


def _told(name: str, most: float, points: float, why: str) -> Part:
    return Part(name, points, most, True, why)


def _unmeasured(name: str, most: float) -> Part:
    return Part(name, 0.0, most, False, "not measured")
