"""The score of a concluded run, and whether its loop goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from processes.definition.model import Phase
from verification.engine.gates import GateReport
from verification.engine.gating.measuring import measured
from verification.engine.scoring import Loop, Score, decided, resolved


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
    semantic: Sequence[float],
    *,
    iterations: int,
    cost_usd: float,
) -> Scored:
    """`cost_usd` is what judging the task has cost so far.

    Source: docs/engine.md, "Score and loop".
    """
    if phase.score is None and not reports:
        return Scored()
    score = resolved(semantic, measured(reports, phase.gates))
    if phase.score is None:
        return Scored(None if score.asks_person else score)
    return Scored(score, decided(score, loop=phase.score, iterations=iterations, cost_usd=cost_usd))
