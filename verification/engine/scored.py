"""The score of a concluded run, and whether its loop goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from processes.definition.model import Phase
from verification.engine.gates import GateReport
from verification.engine.gating.measuring import measured
from verification.engine.outcome import Verdict
from verification.engine.rating import Rating
from verification.engine.scoring import Loop, Score, decided, resolved, semantic_parts


@dataclass(frozen=True, slots=True)
class Scored:
    """None, where nobody asked: `score` without gates and without a loop, `loop` without a loop."""

    score: Score | None = None
    loop: Loop | None = None

    @property
    def asks_person(self) -> bool:
        """A loop is to go by a score, and nothing stands behind it."""
        return self.loop is not None and self.score is not None and self.score.asks_person


def scored(
    phase: Phase,
    reports: Sequence[GateReport],
    ratings: Sequence[Rating],
    *,
    verdict: Verdict,
    iterations: int,
    cost_usd: float,
    ended: str = "",
) -> Scored:
    """`cost_usd` is what judging the task has cost so far; `ended` why it takes no more work.

    Source: docs/engine.md, "Score and loop".
    """
    if phase.score is None and not reports:
        return Scored()
    given = [one.total for one in ratings if one.total is not None]
    score = replace(
        resolved(given, measured(reports, phase.gates)), semantic=semantic_parts(ratings)
    )
    if phase.score is None:
        return Scored(None if score.asks_person else score)
    loop = decided(
        score,
        loop=phase.score,
        iterations=iterations,
        cost_usd=cost_usd,
        verdict=verdict,
        ended=ended,
    )
    return Scored(score, loop)
