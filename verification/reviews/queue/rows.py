"""A review's row, as a reviewer meets it: found, open to them, or refused."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.lookups import Exact

from loomverify.accounts.access import Access, Actor
from loomverify.errors import Conflict, NotFound
from verification.reviews.models import Decision
from verification.reviews.queue.selectors import QueueFilters, matching
from verification.reviews.reviewers import held_by, reviewer
from verification.runs.models import Review, ReviewState

EVERYTHING = QueueFilters()


def of_project(access: Access, review: UUID) -> Review:
    """Raise NotFound, `review.unknown`, where the project has no such review."""
    found = Review.objects.filter(project=access.project, uuid=review).first()
    if found is None:
        raise NotFound("review.unknown", "This project has no such review.")
    return found


def takeable(access: Access, filters: QueueFilters, now: datetime) -> QuerySet[Review]:
    """Pending reviews that this reviewer may take, whoever they are assigned to."""
    free = Q(lease_until__isnull=True) | Q(lease_until__lte=now)
    lasting = Q(expires_at__isnull=True) | Q(expires_at__gt=now)
    rows = matching(access.project, filters, user=access.actor.user)
    return rows.filter(
        held_by(access.actor) | (free & lasting),
        ~Exists(decided_by(access.actor)),
        state=ReviewState.PENDING,
    )


def decided_by(actor: Actor) -> QuerySet[Decision]:
    """This reviewer's words on a review: in this round, or in any before an adjudication."""
    return Decision.objects.filter(
        Q(round=OuterRef("round")) | Q(Exact(OuterRef("is_adjudication"), True)),
        review=OuterRef("pk"),
        undone_at__isnull=True,
        **reviewer(actor),
    ).exclude(outcome="")


def refusal(access: Access, asked: Review, now: datetime) -> Conflict:
    """Say why this review cannot be had."""
    if asked.state == ReviewState.HELD and not is_past(asked, now):
        return Conflict("review.over", "This review is held back: take it in first.")
    if asked.state not in (ReviewState.PENDING, ReviewState.HELD):
        return Conflict("review.over", f"This review is {asked.state}.")
    if is_past(asked, now):
        return Conflict("review.over", "The time of this review is over.")
    if Review.objects.filter(Exists(decided_by(access.actor)), pk=asked.pk).exists():
        return Conflict("review.decided_by_you", "You have decided this one already.")
    until = asked.lease_until.isoformat(timespec="seconds") if asked.lease_until else "now"
    return Conflict("review.held", f"Somebody else holds this review until {until}.")


def is_past(asked: Review, now: datetime) -> bool:
    return asked.expires_at is not None and asked.expires_at <= now
