"""What a reader may see of a review before it is over: the verdict, and others' decisions."""

from __future__ import annotations

from django.db.models import F, Prefetch, Q, QuerySet

from loomverify.accounts.access import Actor
from verification.reviews.models import Decision, FindingLabel
from verification.runs.models import Review, ReviewState

COUNTED = Q(settled_at__isnull=False, undone_at__isnull=True)
_OPEN = (ReviewState.PENDING, ReviewState.HELD)
# While this holds, what somebody said in the newest round is theirs alone: a colleague may still
# be deciding, and what was only just decided may be taken back.
_NEWEST_IS_SECRET = Q(review__state__in=_OPEN) | Q(
    review__state=ReviewState.DECIDED, review__told_at__isnull=True
)


def with_decisions(rows: QuerySet[Review]) -> QuerySet[Review]:
    """Load with each review what was said of it, also what was taken back."""
    said = Decision.objects.order_by("round", "id").select_related("reviewer", "api_key")
    said = said.prefetch_related(Prefetch("labels", _with_fingerprints()))
    return rows.prefetch_related(Prefetch("decisions", queryset=said, to_attr="words"))


def words_of(review: Review) -> list[Decision]:
    """Those that `with_decisions` loaded."""
    found: list[Decision] = review.words  # type: ignore[attr-defined]
    return found


def _with_fingerprints() -> QuerySet[FindingLabel]:
    rows = FindingLabel.objects.select_related("finding").order_by("finding__position", "id")
    return rows.only("decision", "is_right", "finding__fingerprint")


def is_over(review: Review) -> bool:
    """Whether nobody is asked any more, and what was decided has taken effect."""
    if review.state == ReviewState.DECIDED:
        return review.told_at is not None
    return review.state not in _OPEN


def is_revealed(review: Review, actor: Actor) -> bool:
    """Whether this reader may see the verdict and the findings: who decides blind, afterwards.

    Nobody sees less for having taken it back.
    """
    if not review.is_blind or is_over(review):
        return True
    return any(is_by(decision, actor) for decision in words_of(review))


def shown_decisions(review: Review, actor: Actor) -> list[Decision]:
    """One's own, and those of others once their round is over; none that was taken back.

    None while the verdict is kept from this reader: who adjudicates blind answers first.
    """
    if not is_revealed(review, actor):
        return []
    over = is_over(review)
    return [
        decision
        for decision in words_of(review)
        if decision.undone_at is None
        and (
            is_by(decision, actor)
            or (decision.settled_at is not None and (over or decision.round < review.round))
        )
    ]


def counted_decisions(rows: QuerySet[Decision]) -> QuerySet[Decision]:
    """Decisions that count, of rounds that are over; of blind reviews, once they are over."""
    secret = _NEWEST_IS_SECRET & (Q(round__gte=F("review__round")) | Q(review__is_blind=True))
    return rows.filter(COUNTED).exclude(secret)


def is_by(decision: Decision, actor: Actor) -> bool:
    mine = (actor.user.pk if actor.user else None, actor.api_key.pk if actor.api_key else None)
    return mine != (None, None) and mine == (decision.reviewer_id, decision.api_key_id)
