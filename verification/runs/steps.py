"""The climb through the tiers, as the page of a run shows it."""

from __future__ import annotations

from dataclasses import dataclass

from verification.engine.protocol.reply import Stage
from verification.runs import judge_wording, wording
from verification.runs.models import TierResult

NO_ANSWER = "no answer came"


@dataclass(frozen=True, slots=True)
class Step:
    """One tier of the climb, reached or not."""

    tier: int
    name: str
    result: TierResult | None
    note: str = ""

    @property
    def reading(self) -> str:
        """How the judge's answer was read, where that took more than reading it."""
        result = self.result
        stage = judge_wording.stage(result.recovery) if result else None
        if result is None or stage is None or stage.tone == "pass":
            return ""
        came = result.completion_tokens or result.cached
        return NO_ANSWER if result.recovery == Stage.UNREADABLE and not came else stage.short

    @property
    def badge(self) -> wording.Badge | None:
        return wording.STATUSES.get(self.result.status) if self.result else None  # type: ignore[call-overload]
