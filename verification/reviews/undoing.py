"""A decision is taken back, as long as nothing was told of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from loomverify.accounts.access import Access, Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import Role
from loomverify.errors import Conflict, NotFound
from verification.reviews import rounds
from verification.reviews.models import Decision
from verification.reviews.queue.claims import LEASE
from verification.reviews.reviewers import holder, reviewer
from verification.reviews.rounds import Rows
from verification.runs import flags
from verification.runs.models import Review, ReviewState, Run, RunState

UNDOABLE = 10


@dataclass(frozen=True, slots=True)
class Undone:
    """`is_erased` False: it has taken effect; deciding again is a change of mind."""

    review: Review
    is_erased: bool


def last_decisions(access: Access, limit: int = UNDOABLE) -> list[Decision]:
    """This reviewer's own that stand, newest first."""
    rows = Decision.objects.filter(
        rounds.STANDING, project=access.project, **reviewer(access.actor)
    )
    rows = rows.select_related("review__run").defer("review__run__search", "review__run__result")
    return list(rows.order_by("-created_at", "-id")[:limit])


def undo(*, access: Access, decision: UUID | None = None) -> Undone:
    """Take back one of the reviewer's last ten; None: the latest.

    Raises:
        NotFound: `decision.unknown`.
        Forbidden: below reviewer.
    """
    access.need(Role.REVIEWER)
    lasts = last_decisions(access, UNDOABLE)
    asked = next((one for one in lasts if decision in (None, one.uuid)), None)
    if asked is None:
        raise NotFound("decision.unknown", "None of your last ten decisions is this one.")
    now = timezone.now()
    with transaction.atomic():
        rows = rounds.lock(asked.review)
        if rows is None:
            raise Conflict("review.over", "The run of this review was deleted.")
        undone = Decision.objects.filter(
            pk=asked.pk, settled_at__isnull=True, undone_at__isnull=True
        ).update(undone_at=now)
        if undone:
            _reopen(rows, access.actor, now)
            record(access.actor, "review.undone", rows.review, project=access.project)
    review = Review.objects.select_related("run", "process").get(pk=rows.review.pk)
    return Undone(review, is_erased=bool(undone))


def _reopen(rows: Rows, actor: Actor, now: datetime) -> None:
    review = rows.review
    if review.outcome and review.state == ReviewState.DECIDED:
        _restore(review)
    elif review.state in (ReviewState.DECIDED, ReviewState.PENDING):
        is_free = review.lease_until is None or review.lease_until <= now
        claim: dict[str, Any] = {**holder(actor), "lease_until": now + LEASE} if is_free else {}
        Review.objects.filter(pk=review.pk).update(
            state=ReviewState.PENDING, decided_at=None, takes_effect_at=None, **claim
        )
        Run.objects.filter(pk=rows.run.pk).exclude(review_state="pending").update(
            review_state="pending"
        )
        if rows.run.state == RunState.CANCELLED:
            flags.withdraw(rows.run.pk)


def _restore(review: Review) -> None:
    """What was decided before a change of mind stands as it stood."""
    before = review.decisions.filter(rounds.STANDING, settled_at__isnull=False)
    last = list(before.order_by("-round", "-created_at"))
    earlier = [one for one in last if one.round == last[0].round] if last else []
    Review.objects.filter(pk=review.pk).update(
        round=earlier[0].round,
        reviewers=len(earlier),
        is_adjudication=earlier[0].is_adjudication,
        told_at=max(one.settled_at for one in earlier if one.settled_at),
        takes_effect_at=max(one.settled_at for one in earlier if one.settled_at),
    )
