"""The score of a run, 0 to 10, with its parts; and the decision of the score loop."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from processes.definition.model import ScoreLoop
from verification.engine.outcome import Verdict
from verification.engine.rating import SEMANTIC_PARTS, Rating
from verification.engine.reports.coverage import unreported_words
from verification.engine.reports.model import TestCounts

TOP = 10.0
NEITHER = 5.0
"""The score if nothing was measured and no judge gave one. It never decides."""
FEW_LINT_PROBLEMS = 5
NOT_MEASURED = "not asked for"
NOT_GIVEN = "not given"
BY_WORD = " by the work's own word"


class PartName(StrEnum):
    """What gates can tell."""

    BUILD = "build"
    TESTS = "tests"
    LINT = "lint"
    CRITICAL = "no critical errors"
    SECURITY = "security"
    COVERAGE = "coverage of changed lines"


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

    `changed_lines` are (covered, all) of those that are code, `unreported` the files among them that
    no coverage report speaks of, with how many lines of theirs count. `is_coverage_word`: the work
    itself says which lines ran. `why` says by part
    why it was not measured; a part that only counts where it is measured is told of by that alone.
    """

    install_ok: bool | None = None
    build_ok: bool | None = None
    tests: TestCounts | None = None
    lint_problems: int | None = None
    critical_errors: int | None = None
    high_security: int | None = None
    changed_lines: tuple[int, int] | None = None
    unreported: tuple[tuple[str, int], ...] = ()
    is_coverage_word: bool = False
    why: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Part:
    """`points` of `most`, 0 where nothing was measured; `why` says what was found, or why nothing.

    `is_optional`: out of the count where it was not measured.
    """

    name: str
    points: float
    most: float
    is_measured: bool
    why: str
    is_optional: bool = False

    @property
    def is_left_out(self) -> bool:
        return self.is_optional and not self.is_measured


@dataclass(frozen=True, slots=True)
class Score:
    """`total` is 0 to 10.

    `parts` are measured by gates, `semantic` are given by judges, whichever gives the total.
    """

    total: float
    source: ScoreSource
    parts: Sequence[Part] = ()
    semantic: Sequence[Part] = ()


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
    parts = parts_of(measured)
    if measured.install_ok is False:
        nothing = (replace(part, points=0.0) for part in parts)
        return Score(0.0, ScoreSource.AUTOMATED, tuple(nothing))
    if not any(part.is_measured for part in parts):
        return None
    counted = [part for part in parts if not part.is_left_out]
    earned, most = sum(part.points for part in counted), sum(part.most for part in counted)
    return Score(round(TOP * earned / most, 2), ScoreSource.AUTOMATED, parts)


def parts_of(measured: Measured) -> tuple[Part, ...]:
    """All that counts, and of the optional parts those that were asked for."""
    optional = (_security(measured), _coverage(measured))
    return (
        _build(measured),
        _tests(measured),
        _lint(measured),
        _critical(measured),
        *(one for one in optional if one.is_measured or one.name in measured.why),
    )


def semantic_parts(ratings: Sequence[Rating]) -> tuple[Part, ...]:
    """Of each part the median of those that gave it; of several medians the sum is no median."""
    return tuple(
        _given(name, most, [one for rating in ratings if (one := rating.points[name]) is not None])
        for name, most in SEMANTIC_PARTS.items()
        if ratings
    )


def _given(name: str, most: float, points: Sequence[float]) -> Part:
    if not points:
        return Part(name, 0.0, most, False, NOT_GIVEN)
    told = "given" if len(points) == 1 else f"median of {len(points)}"
    return Part(name, round(statistics.median(points), 2), most, True, told)


def resolved(semantic: Sequence[float], measured: Measured) -> Score:
    """Return the median of the judges' scores, else the score of gates, else 5.

    A judge's score never makes up for a part that gates measured: the points that such a part
    lost bound it from above.
    """
    automatic = automated(measured)
    totals = [total for total in semantic if math.isfinite(total) and 0 <= total <= TOP]
    if totals:
        parts = automatic.parts if automatic else parts_of(measured)
        ceiling = 0.0 if measured.install_ok is False else _ceiling(parts)
        total = min(statistics.median(totals), ceiling)
        return Score(round(total, 2), ScoreSource.SEMANTIC, parts)
    return automatic or Score(NEITHER, ScoreSource.NEITHER, parts_of(measured))


def _ceiling(parts: Sequence[Part]) -> float:
    """What work could reach of 10 if each part that was not measured had all of its points."""
    counted = [part for part in parts if not part.is_left_out]
    most = sum(part.most for part in counted)
    reached = sum(part.points if part.is_measured else part.most for part in counted)
    return TOP * reached / most


def loop_decision(
    score: Score,
    *,
    loop: ScoreLoop,
    iterations: int,
    cost_usd: float,
    verdict: Verdict,
    is_below_threshold: bool = False,
    ended: str = "",
) -> Loop:
    """Decide whether the work is finished, revised once more, or stopped.

    `iterations` counts the submissions, this one included. `is_below_threshold` is the reason of
    an undecided run. `ended` is the reason code that ended the task, '' while it goes on.
    """
    is_reached = score.total >= loop.threshold and score.source is not ScoreSource.NEITHER
    if is_reached and verdict is Verdict.ACCEPT:
        return Loop(LoopDecision.FINISH, f"{score.total:g} reaches {loop.threshold:g}.")
    if verdict is Verdict.UNDECIDED and not is_below_threshold:
        return Loop(LoopDecision.STOP, "Nothing is decided.")
    if iterations >= loop.max_iterations:
        why = f"Iteration {iterations} of {loop.max_iterations} was the last; the score is {score.total:g}."
        return Loop(LoopDecision.FINISH_FORCED, why)
    if ended:
        return Loop(LoopDecision.FINISH_FORCED, f"The task has ended: {ended}.")
    budget = loop.budget_usd
    if budget is not None and cost_usd >= budget:
        return Loop(LoopDecision.STOP, f"${cost_usd:.2f} of ${budget:.2f} are spent.")
    if verdict is Verdict.UNDECIDED:
        return Loop(LoopDecision.FINISH_FORCED, "No attempt is left.")
    why = f"{score.total:g} of {loop.threshold:g}, iteration {iterations} of {loop.max_iterations}."
    if is_reached:
        why = f"{why} The work was rejected."
    return Loop(LoopDecision.ITERATE, why)


def _build(measured: Measured) -> Part:
    name = PartName.BUILD
    if measured.install_ok is False:
        return _found(name, 3, 0, "The install failed.")
    if measured.build_ok is False:
        return _found(name, 3, 0, "failed")
    if name in measured.why or (measured.install_ok, measured.build_ok) == (None, None):
        return _unmeasured(measured, name, 3)
    return _found(
        name, 3, 3, "built" if measured.build_ok else "It installs; nothing is to be built."
    )


def _tests(measured: Measured) -> Part:
    name, counts = PartName.TESTS, measured.tests
    if counts is None:
        return _unmeasured(measured, name, 4)
    if not counts.ran:
        why = f"no tests: {counts.skipped} skipped" if counts.skipped else "no tests"
        return Part(name, 0.0, 4, False, why)
    return _found(name, 4, 4 * counts.passed / counts.ran, f"{counts.passed} of {counts.ran}")


def _lint(measured: Measured) -> Part:
    problems = measured.lint_problems
    if problems is None:
        return _unmeasured(measured, PartName.LINT, 2)
    points = 2 if problems == 0 else 1 if problems < FEW_LINT_PROBLEMS else 0
    return _found(PartName.LINT, 2, points, f"{problems} found")


def _critical(measured: Measured) -> Part:
    errors = measured.critical_errors
    if errors is None:
        return _unmeasured(measured, PartName.CRITICAL, 1)
    return _found(PartName.CRITICAL, 1, 1 if errors == 0 else 0, f"{errors} found")


def _security(measured: Measured) -> Part:
    high = measured.high_security
    if high is None:
        return replace(_unmeasured(measured, PartName.SECURITY, 1), is_optional=True)
    found = _found(PartName.SECURITY, 1, 1 if high == 0 else 0, f"{high} high")
    return replace(found, is_optional=True)


def _coverage(measured: Measured) -> Part:
    covered, lines = measured.changed_lines or (0, 0)
    if not lines:
        return replace(_unmeasured(measured, PartName.COVERAGE, 1), is_optional=True)
    said = f"{covered} of {lines}{BY_WORD if measured.is_coverage_word else ''}"
    told = "; ".join(filter(None, (said, unreported_words(measured.unreported))))
    return replace(_found(PartName.COVERAGE, 1, covered / lines, told), is_optional=True)


def _found(name: PartName, most: float, points: float, why: str) -> Part:
    return Part(name, points, most, True, why)


def _unmeasured(measured: Measured, name: PartName, most: float) -> Part:
    return Part(name, 0.0, most, False, measured.why.get(name, NOT_MEASURED))
