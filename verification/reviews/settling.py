"""Decisions take effect here: when the time for undoing is over, or at once."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.audit import record
from verification.reviews import effects, rounds
from verification.reviews.models import Decision
from verification.reviews.rounds import Rows
from verification.runs import events, outbox
from verification.runs.models import Review, ReviewState, RunState

logger = logging.getLogger(__name__)

UNDO_SECONDS = 10
UNDO = timedelta(seconds=UNDO_SECONDS)
BATCH = 50
"""So that the relay's other parts have their turn."""
FREE = {"claimed_by": None, "claimed_key": None, "lease_until": None}


def settle_due(*, now: datetime) -> int:
    """Let take effect what can no longer be undone; return how many. The relay calls this.

    Each in a transaction of its own. What somebody else has locked is left for a later turn, so
    that two may do this at once.
    """
    due = Review.objects.filter(
        state=ReviewState.DECIDED, told_at__isnull=True, takes_effect_at__lte=now
    )
    asked = list(due.select_related("run").order_by("takes_effect_at", "id")[:BATCH])
    return sum(_settle(review, now) for review in asked) + _settle_first_of_two(now)


def sweep() -> int:
    return settle_due(now=timezone.now())


def take_effect(rows: Rows, *, now: datetime) -> None:
    """What was said in the newest round counts from here on: agreed, or for a third to decide."""
    decisions = rounds.spoken(rows.review)
    settle(decisions, now)
    if len({decision.outcome for decision in decisions}) > 1:
        _ask_a_third(rows, now)
    else:
        effects.apply(rows, decisions, now=now)


def settle(decisions: list[Decision], now: datetime) -> None:
    Decision.objects.filter(
        pk__in=[decision.pk for decision in decisions], settled_at__isnull=True
    ).update(settled_at=now)


def _settle(asked: Review, now: datetime) -> int:
    """One that cannot be settled keeps no other from it."""
    try:
        with transaction.atomic():
            rows = rounds.lock(asked, skip_locked=True)
            if rows is None or not _is_due(rows.review, now):
                return 0
            take_effect(rows, now=now)
    except Exception:
        logger.exception("decision_not_settled review=%s", asked.uuid)
        return 0
    return 1


def _is_due(review: Review, now: datetime) -> bool:
    at = review.takes_effect_at
    is_open = review.state == ReviewState.DECIDED and review.told_at is None
    return is_open and at is not None and at <= now


def _settle_first_of_two(now: datetime) -> int:
    """Whose word waits for a second reviewer can undo it for as long as anybody else."""
    due = Decision.objects.filter(
        rounds.STANDING, settled_at__isnull=True, created_at__lte=now - UNDO
    ).exclude(review__state=ReviewState.DECIDED)
    with transaction.atomic():
        asked = due.order_by("created_at").values("review")[:BATCH]
        reviews = Review.objects.filter(pk__in=list(asked.values_list("review", flat=True)))
        held = list(
            reviews.select_for_update(skip_locked=True, no_key=True).values_list("pk", flat=True)
        )
        return due.filter(review__in=held).update(settled_at=now)


def _ask_a_third(rows: Rows, now: datetime) -> None:
    """Two disagree: the same review opens again, for somebody who has not decided."""
    review = rows.review
    if rows.run.state == RunState.CANCELLED:
        Review.objects.filter(pk=review.pk).update(state=ReviewState.WITHDRAWN, **FREE)
        return
    Review.objects.filter(pk=review.pk).update(
        state=ReviewState.PENDING,
        round=review.round + 1,
        is_adjudication=True,
        reviewers=1,
        assigned_to=None,
        expires_at=review.expires_at and now + (review.expires_at - review.created_at),
        decided_at=None,
        takes_effect_at=None,
        **FREE,
    )
    events.append(rows.run.pk, [("reviewers_disagreed", {"round": review.round})], at=now)
    outbox.add(
        outbox.REVIEW_REQUESTED,
        project_id=review.project_id,
        run_id=rows.run.pk,
        payload={**effects.names(rows), "reasons": ["reviewers_disagreed"]},
    )
    record(SYSTEM, "review.adjudication_opened", review, project=rows.run.project)
