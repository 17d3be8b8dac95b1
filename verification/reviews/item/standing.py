"""How a review stands towards whoever looks at it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property

from loomverify.accounts.access import Access
from verification.reviews import disclosure
from verification.reviews.models import Decision
from verification.reviews.reviewers import holds
from verification.runs.models import Review, ReviewState


class Standing(StrEnum):
    """`waits`: the looker has decided, and a second reviewer has not."""

    FREE = "free"
    MINE = "mine"
    TAKEN = "taken"
    WAITS = "waits"
    SETTLING = "settling"
    DECIDED = "decided"
    CLOSED = "closed"


@dataclass(frozen=True)
class Seen:
    """A review, loaded `with_decisions`, as one person sees it."""

    review: Review
    access: Access
    now: datetime

    @property
    def standing(self) -> Standing:
        review = self.review
        if review.state == ReviewState.DECIDED:
            return Standing.DECIDED if review.told_at else Standing.SETTLING
        if review.state != ReviewState.PENDING:
            return Standing.CLOSED
        if (self.own is not None and self.own.outcome) or self.is_for_somebody_else:
            return Standing.WAITS
        if review.lease_until is None or review.lease_until <= self.now:
            return Standing.FREE
        return Standing.MINE if holds(review, self.access.actor) else Standing.TAKEN

    @property
    def own(self) -> Decision | None:
        """What the looker said in this round."""
        return next((one for one in self.mine if one.round == self.review.round), None)

    @cached_property
    def mine(self) -> list[Decision]:
        """What the looker said and did not take back."""
        return [one for one in self._words if one.undone_at is None]

    @property
    def _words(self) -> list[Decision]:
        actor = self.access.actor
        return [one for one in disclosure.words_of(self.review) if disclosure.is_by(one, actor)]

    @property
    def is_for_somebody_else(self) -> bool:
        """Two disagreed, and the looker was one of them."""
        return self.review.is_adjudication and any(one.outcome for one in self.mine)

    @property
    def first_said(self) -> str:
        """The outcome that the looker gave blind in this round, also where it was taken back."""
        if not self.review.is_blind:
            return ""
        said = (one.first_outcome for one in self._words if one.round == self.review.round)
        return next((outcome for outcome in said if outcome), "")

    @property
    def is_veiled(self) -> bool:
        """Whether the verdict is kept back until the looker has decided."""
        return not disclosure.is_revealed(self.review, self.access.actor)

    @property
    def shown(self) -> list[Decision]:
        return disclosure.shown_decisions(self.review, self.access.actor)
