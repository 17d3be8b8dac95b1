"""Reviewers take reviews, keep them while they look, and give them back.

A claim is a lease: nobody else gets the review while it lasts, and everybody may once it ran out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Case, Exists, OuterRef, Q, QuerySet, When
from django.utils import timezone

from loomverify.accounts.access import Access, Actor
from verification.reviews.models import Skip
from verification.reviews.queue.arranging import assign, take_in
from verification.reviews.queue.rows import EVERYTHING, of_project, refusal, takeable
from verification.reviews.queue.selectors import QueueFilters
from verification.reviews.reviewers import held_by, holder, reviewer
from verification.runs.models import Review, ReviewState

__all__ = ["LEASE", "assign", "claim", "claim_next", "release", "skip", "take_in"]

LEASE = timedelta(minutes=5)


def claim_next(
    *, access: Access, filters: QueueFilters = EVERYTHING, without: Collection[UUID] = ()
) -> Review | None:
    """Take the first that this reviewer may decide; None: there is none.

    What they hold comes first, then what is assigned to them, then what is assigned to nobody;
    what they skipped comes last. `without` are passed over, as if they were not there.
    """
    now = timezone.now()
    rows = takeable(access, filters, now)
    if without:
        rows = rows.exclude(uuid__in=list(without))
    for wanted in _in_order(access.actor, rows, now):
        if taken := _take(wanted, access.actor, now):
            return taken
    return None


def claim(*, access: Access, review: UUID) -> Review:
    """Take a review, or keep it longer.

    Raises:
        NotFound: `review.unknown`.
        Conflict: `review.held` by somebody else, `review.decided_by_you`, `review.over`.
    """
    now = timezone.now()
    asked = of_project(access, review)
    free = takeable(access, EVERYTHING, now).filter(pk=asked.pk)
    won = free.update(**holder(access.actor), lease_until=now + LEASE)
    asked.refresh_from_db()
    if not won:
        raise refusal(access, asked, now)
    return asked


def release(*, access: Access, review: UUID, until: datetime | None = None) -> bool:
    """Give a claim back before its time. False: it was not one's own any more.

    With `until` only the claim whose lease ends then: one that was renewed meanwhile stays.

    Raises:
        NotFound: `review.unknown`.
    """
    asked = of_project(access, review)
    mine = Review.objects.filter(held_by(access.actor), pk=asked.pk, state=ReviewState.PENDING)
    if until is not None:
        mine = mine.filter(lease_until=until)
    return mine.update(claimed_by=None, claimed_key=None, lease_until=None) == 1


def skip(*, access: Access, review: UUID) -> None:
    """Give it back, and have the others first.

    Raises:
        NotFound: `review.unknown`.
    """
    asked = of_project(access, review)
    with transaction.atomic():
        release(access=access, review=review)
        Skip.objects.update_or_create(
            review=asked, **reviewer(access.actor), defaults={"at": timezone.now()}
        )


def _in_order(actor: Actor, rows: QuerySet[Review], now: datetime) -> Iterator[QuerySet[Review]]:
    held = held_by(actor) & Q(lease_until__gt=now)
    mine = Q(assigned_to=actor.user) if actor.user else Q(pk__in=[])
    nobodys = Q(assigned_to__isnull=True)
    was_skipped = Exists(Skip.objects.filter(review=OuterRef("pk"), **reviewer(actor)))
    held_first = Case(When(held, then=0), default=1)
    yield rows.filter(held | (mine & ~was_skipped)).order_by(held_first, "rank_at", "id")
    yield rows.filter(nobodys, ~was_skipped).order_by("rank_at", "id")
    skipped = {f"skips__{column}": value for column, value in reviewer(actor).items()}
    yield rows.filter(mine | nobodys).filter(**skipped).order_by("skips__at", "id")


def _take(wanted: QuerySet[Review], actor: Actor, now: datetime) -> Review | None:
    with transaction.atomic():
        locked = wanted.select_for_update(skip_locked=True, of=("self",), no_key=True)
        taken = locked.first()
        if taken is None:
            return None
        claim = {**holder(actor), "lease_until": now + LEASE}
        Review.objects.filter(pk=taken.pk).update(**claim)
        for name, value in claim.items():
            setattr(taken, name, value)
        return taken
