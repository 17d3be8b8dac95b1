"""What the page of a run says of its review."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from verification.engine.outcome import Outcome
from verification.reviews.item.parts import CLOSED, seconds_until
from verification.runs import wording
from verification.runs.models import Review, ReviewState, Run


@dataclass(frozen=True, slots=True)
class RunBox:
    review: Review
    now: datetime

    @property
    def is_pending(self) -> bool:
        return self.review.state == ReviewState.PENDING

    @property
    def is_decided(self) -> bool:
        return self.review.state == ReviewState.DECIDED and self.review.told_at is not None

    @property
    def is_settling(self) -> bool:
        return self.review.state == ReviewState.DECIDED and self.review.told_at is None

    @property
    def effect_seconds(self) -> int:
        return seconds_until(self.review.takes_effect_at, self.now)

    @property
    def badge(self) -> wording.Badge | None:
        outcome = self.review.outcome
        return wording.OUTCOMES[Outcome(outcome)] if outcome else None

    @property
    def by(self) -> str:
        return ", ".join(self.review.told.get("by") or ())

    @property
    def comment(self) -> str:
        return str(self.review.told.get("comment") or "")

    @property
    def closed(self) -> str:
        return CLOSED.get(ReviewState(self.review.state), "")


def run_box(run: Run, now: datetime) -> RunBox | None:
    """None: nobody was ever asked about it."""
    review: Review | None = getattr(run, "review", None)
    return RunBox(review, now) if review is not None else None
