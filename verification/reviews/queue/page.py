"""What the queue's pages show of one review, to whoever looks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from loomverify.accounts.access import Access
from loomverify.accounts.models import ApiKey, User
from verification.engine import reviewing
from verification.engine.outcome import Outcome, Verdict
from verification.reviews import disclosure
from verification.reviews.queue.selectors import TELLING_NOTHING
from verification.reviews.reasons import reason_words
from verification.reviews.reviewers import holds
from verification.runs import wording
from verification.runs.models import Review, ReviewState

HIGH, MIDDLE = 75, 40
_TWO_UP = "m2 6 4-4 4 4M2 10.5l4-4 4 4"
_ONE_UP = "m2 8 4-4 4 4"
_LEVEL = "M2.5 6h7"
STATES = {
    ReviewState.PENDING: "waiting",
    ReviewState.HELD: "held back",
    ReviewState.DECIDED: "decided",
    ReviewState.EXPIRED: "expired",
    ReviewState.WITHDRAWN: "settled by itself",
}


def queue_url(access: Access) -> str:
    return reverse("review_queue", args=[access.project.slug])


def urgency_badge(urgency: int) -> wording.Badge:
    if urgency >= HIGH:
        return wording.Badge(str(urgency), "fail", _TWO_UP)
    if urgency >= MIDDLE:
        return wording.Badge(str(urgency), "warn", _ONE_UP)
    return wording.Badge(str(urgency), "open", _LEVEL)


def name_of(user: User | None, key: ApiKey | None = None) -> str:
    """A person by name, a key as such; nobody has none."""
    if user is not None:
        return str(user)
    return f"key {key.name}" if key is not None else ""


@dataclass(frozen=True, slots=True)
class Row:
    """A review of the tab `tab`, loaded `with_decisions`.

    `alike`: how many waiting ones share its leading finding, itself among them.
    """

    review: Review
    access: Access
    tab: ReviewState
    now: datetime
    alike: int = 0
    was_skipped: bool = False

    @property
    def state(self) -> ReviewState:
        return ReviewState(self.review.state)

    @property
    def has_left(self) -> bool:
        """It was on this tab when the page was shown, and is no longer."""
        return self.state != self.tab

    @property
    def gone_words(self) -> str:
        return STATES[self.state]

    @property
    def urgency(self) -> wording.Badge:
        row = self.review
        return urgency_badge(reviewing.urgency_now(row.created_at, row.urgency, self.now))

    @property
    def is_revealed(self) -> bool:
        return disclosure.is_revealed(self.review, self.access.actor)

    @property
    def reasons(self) -> list[str]:
        """Reason codes; before a blind decision, those that tell nothing of the verdict."""
        codes: list[str] = self.review.reasons
        return [code for code in codes if self.is_revealed or code in TELLING_NOTHING]

    @property
    def why(self) -> str:
        return reason_words(self.reasons[0]) if self.reasons else ""

    @property
    def other_reasons(self) -> str:
        return ", ".join(reason_words(code) for code in self.reasons[1:])

    @property
    def rule(self) -> str:
        return self.review.rule if self.is_revealed else ""

    @property
    def others_alike(self) -> int:
        if not self.rule or self.review.is_blind:
            return 0
        return max(0, self.alike - (self.state == ReviewState.PENDING))

    @property
    def is_held(self) -> bool:
        until = self.review.lease_until
        return self.state == ReviewState.PENDING and until is not None and until > self.now

    @property
    def is_mine(self) -> bool:
        return self.is_held and holds(self.review, self.access.actor)

    @property
    def holder(self) -> str:
        if not self.is_held:
            return ""
        if self.is_mine:
            return "you"
        return name_of(self.review.claimed_by, self.review.claimed_key) or "a removed member"

    @property
    def assigned(self) -> str:
        user = self.review.assigned_to
        if user is not None and user == self.access.actor.user:
            return "you"
        return name_of(user)

    @property
    def was_answered(self) -> bool:
        """The looker has decided, and somebody else is still asked."""
        row = self.review
        return row.state == ReviewState.PENDING and any(
            one.outcome
            and one.undone_at is None
            and disclosure.is_by(one, self.access.actor)
            and (row.is_adjudication or one.round == row.round)
            for one in disclosure.words_of(row)
        )

    @property
    def can_be_arranged(self) -> bool:
        is_open = self.state in (ReviewState.PENDING, ReviewState.HELD)
        return self.access.is_reviewer and is_open

    @property
    def engine(self) -> wording.Badge:
        said = self.review.evaluation
        return wording.badge(said.outcome, said.verdict)

    @property
    def people(self) -> wording.Badge | None:
        """None: nobody decided, or it may still be taken back."""
        if self.state != ReviewState.DECIDED or not disclosure.is_over(self.review):
            return None
        return wording.OUTCOMES.get(Outcome(self.review.outcome)) if self.review.outcome else None

    @property
    def was_overturned(self) -> bool:
        """People accept what the verifier rejected, or the other way round."""
        said = self.review.evaluation.verdict
        if self.people is None or said == Verdict.UNDECIDED:
            return False
        return (self.review.outcome == Outcome.FAIL) != (said == Verdict.REJECT)

    @property
    def deciders(self) -> str:
        shown = disclosure.shown_decisions(self.review, self.access.actor)
        newest = [one for one in shown if one.round == self.review.round]
        return ", ".join(name_of(one.reviewer, one.api_key) for one in newest)
