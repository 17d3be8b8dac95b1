"""Somebody asks people about runs that nothing flagged, for instance to label what a rule would stop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from loomverify.accounts.access import Access
from loomverify.accounts.audit import record
from loomverify.errors import InputError
from processes.selectors import definition_of
from verification.engine import reviewing
from verification.reviews.queue.arranging import tell_requested
from verification.runs import flags
from verification.runs.models import Review, ReviewState, Run, RunState

URGENCY = 20
MAX_RUNS = 50
CLOSED = (ReviewState.EXPIRED, ReviewState.WITHDRAWN)


def ask_about(
    *, access: Access, runs: Sequence[UUID], why: str, reason: str = flags.ASKED_FOR
) -> int:
    """Open a review of each of these runs, and return of how many: others have one already.

    Where a change is held, one that was decided opens again: what was decided cannot be done.

    Raises:
        InputError: `review.too_many`
    """
    if len(runs) > MAX_RUNS:
        raise InputError("review.too_many", f"At most {MAX_RUNS} runs at once.")
    known = Run.objects.filter(project=access.project, uuid__in=runs, state=RunState.FINISHED)
    return sum(
        _ask(access, pk, why, reason) for pk in known.order_by("pk").values_list("pk", flat=True)
    )


def _ask(access: Access, pk: int, why: str, reason: str) -> bool:
    """The review is locked before its run, as everywhere."""
    with transaction.atomic():
        rows = Review.objects.select_for_update(of=("self",), no_key=True)
        review = rows.filter(run=pk).first()
        locked = Run.objects.select_for_update(of=("self",), no_key=True)
        run = locked.select_related("process", "task").defer("search", "result").get(pk=pk)
        if review is not None and _is_to_be_decided_again(review, reason):
            _open_again(access, review, run, why, reason)
            return True
        is_free = review is None or (review.state in CLOSED and not review.told_at)
        if not is_free or run.review_state != flags.NOBODY or run.state != RunState.FINISHED:
            return False
        columns = _opened(run, review, reason)
        if review is None:
            review = Review.objects.create(run=run, **columns)
        else:
            Review.objects.filter(pk=review.pk).update(**columns)
            review.refresh_from_db()
        Run.objects.filter(pk=pk).update(review_state="pending")
        tell_requested(access.actor, review, run, review.created_at)
        record(access.actor, "review.asked_for", review, project=access.project, reason=why[:300])
    return True


def _is_to_be_decided_again(review: Review, reason: str) -> bool:
    is_in_effect = review.state == ReviewState.DECIDED and review.told_at is not None
    return is_in_effect and reason == reviewing.CHANGE_HELD


def _open_again(access: Access, review: Review, run: Run, why: str, reason: str) -> None:
    """A round of its own; what was decided stands until then, as with a change of mind."""
    now = timezone.now()
    Review.objects.filter(pk=review.pk).update(
        state=ReviewState.PENDING,
        round=review.round + 1,
        reviewers=1,
        is_adjudication=False,
        is_blind=False,
        reasons=[reason],
        created_at=now,
        rank_at=reviewing.rank_at(now, URGENCY),
        urgency=URGENCY,
        assigned_to=None,
        expires_at=None,
        decided_at=None,
        takes_effect_at=None,
        **flags.UNCLAIMED,
    )
    review.refresh_from_db()
    tell_requested(access.actor, review, run, now)
    record(access.actor, "review.opened_again", review, project=access.project, reason=why[:300])


def _opened(run: Run, known: Review | None, reason: str) -> dict[str, Any]:
    policy = definition_of(run.process_version_id).policy.review
    return {
        **flags.opened(run, policy, known=known, urgency=URGENCY, now=timezone.now()),
        "evaluation_id": run.live_evaluation_id,
        "reasons": [reason],
        "rule": "",
        "fingerprint": "",
        "is_flagged": True,
        "sample_rate": None,
        "state": ReviewState.PENDING,
    }
