"""The score of a run as its page shows it: its parts as bars, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verification.engine.scoring import LoopDecision, ScoreSource
from verification.runs.models import Evaluation

SOURCES: Mapping[str, str] = {
    ScoreSource.SEMANTIC: "by what a judge gave",
    ScoreSource.AUTOMATED: "by what the gates told",
    ScoreSource.NEITHER: "nothing stands behind it",
}
DECISIONS: Mapping[str, str] = {
    LoopDecision.FINISH: "Finished",
    LoopDecision.FINISH_FORCED: "Finished for want of rounds",
    LoopDecision.STOP: "Stopped",
    LoopDecision.ITERATE: "To be mended once more",
}


@dataclass(frozen=True, slots=True)
class ShownPart:
    name: str
    points: float
    most: float
    is_measured: bool
    why: str

    @property
    def told(self) -> float:
        """The points as people read them."""
        return round(self.points, 2)

    @property
    def tone(self) -> str:
        if not self.is_measured:
            return "open"
        if self.points >= self.most:
            return "pass"
        return "warn" if self.points > 0 else "fail"


@dataclass(frozen=True, slots=True)
class ShownScore:
    """`groups` are the parts by who told them, those first that the total is of."""

    total: float
    source: str
    groups: Sequence[tuple[str, Sequence[ShownPart]]]
    decision: str = ""
    why: str = ""


def score_of(evaluation: Evaluation | None) -> ShownScore | None:
    """None: nobody asked for one, or the evaluation has not come so far."""
    told = evaluation.score if evaluation else None
    if evaluation is None or not told:
        return None
    loop = evaluation.loop or {}
    groups = [("Gates", _parts(told, "parts")), ("Judge", _parts(told, "semantic"))]
    if told["source"] == ScoreSource.SEMANTIC:
        groups.reverse()
    return ShownScore(
        total=told["total"],
        source=SOURCES[told["source"]],
        groups=[group for group in groups if group[1]],
        decision=DECISIONS.get(loop.get("decision", ""), ""),
        why=loop.get("why", ""),
    )


def _parts(told: Mapping[str, Any], key: str) -> list[ShownPart]:
    """Scores of earlier builds hold no parts of a judge, and fewer fields."""
    names = ShownPart.__slots__
    return [ShownPart(**{name: part[name] for name in names}) for part in told.get(key, ())]
