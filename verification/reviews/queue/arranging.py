"""Reviewers say whose a review is, and take in what the day's cap held back."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from loomverify.accounts.access import Access, Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import Member, Project, Role, User
from loomverify.errors import Conflict, InputError
from verification.engine import reviewing
from verification.engine.outcome import Verdict
from verification.reviews.queue import rows
from verification.runs import events, outbox
from verification.runs.models import Evaluation, Review, ReviewState, Run

OPEN = (ReviewState.PENDING, ReviewState.HELD)
CONCLUDED = (
    "outcome", "verdict", "reason_code", "severity_class", "confidence_level", "action",
    "retry_strategy", "tier_achieved",
)  # fmt: skip


def assign(*, access: Access, review: UUID, to: User | None) -> Review:
    """Say whose it is; None: anybody's. Whoever holds it keeps it until the lease ends.

    Raises:
        NotFound: `review.unknown`.
        InputError: `review.assignee`: no reviewer of this project.
        Conflict: `review.over`.
    """
    asked = rows.of_project(access, review)
    if to is not None and to not in reviewers_of(access.project):
        raise InputError("review.assignee", "Only a reviewer of this project can be given one.")
    with transaction.atomic():
        asked = Review.objects.select_for_update(no_key=True).get(pk=asked.pk)
        if asked.state not in OPEN:
            raise rows.refusal(access, asked, timezone.now())
        if asked.assigned_to != to:
            names = [str(one) if one else "" for one in (asked.assigned_to, to)]
            diff: dict[str, list[Any]] = {"assigned_to": names}
            record(access.actor, "review.assigned", asked, project=access.project, diff=diff)
            asked.assigned_to = to
            asked.save(update_fields=["assigned_to"])
    return asked


def reviewers_of(project: Project) -> list[User]:
    """Members who may decide reviews, by name."""
    able = [role for role in Role if role.holds(Role.REVIEWER)]
    members = Member.objects.filter(project=project, role__in=able, user__is_active=True)
    return [member.user for member in members.select_related("user").order_by("user__username")]


def take_in(*, access: Access, review: UUID) -> Review:
    """Ask people about one that the day's cap held back, as if it were opened now.

    Raises:
        NotFound: `review.unknown`.
        Conflict: `review.over`: it is not held back, or no longer.
    """
    asked = rows.of_project(access, review)
    now = timezone.now()
    with transaction.atomic():  # the review is locked before its run, as everywhere
        asked = Review.objects.select_for_update(no_key=True).get(pk=asked.pk)
        runs = Run.objects.select_for_update(no_key=True).defer("search", "result")
        run = runs.get(pk=asked.run_id)
        if asked.state == ReviewState.PENDING:
            raise Conflict("review.over", "This review waits for a person already.")
        if asked.state != ReviewState.HELD or rows.is_past(asked, now):
            raise rows.refusal(access, asked, now)
        if asked.expires_at:
            asked.expires_at = now + (asked.expires_at - asked.created_at)
        asked.state, asked.created_at = ReviewState.PENDING, now
        asked.rank_at = reviewing.rank_at(now, asked.urgency)
        asked.save(update_fields=["state", "created_at", "rank_at", "expires_at"])
        Run.objects.filter(pk=run.pk).update(review_state="pending")
        tell_requested(access.actor, asked, run, now)
        record(access.actor, "review.taken_in", asked, project=access.project)
    return asked


def tell_requested(actor: Actor, asked: Review, run: Run, now: datetime) -> None:
    told = {"reasons": asked.reasons, "by": actor.name}
    events.append(run.pk, [("review_requested", told)], at=now)
    evaluation = Evaluation.objects.get(pk=asked.evaluation_id)
    outbox.add(
        outbox.REVIEW_REQUESTED,
        project_id=run.project_id,
        run_id=run.pk,
        payload={
            "run": str(run.uuid),
            "process": run.process.slug,
            "phase": run.phase_id,
            "task": run.task.external_id,
            "passed": Verdict(evaluation.verdict).passed,
            "finished_at": run.finished_at.isoformat() if run.finished_at else None,
            "feedback": evaluation.feedback.get("text", ""),
            **{name: getattr(evaluation, name) for name in CONCLUDED},
            "reasons": asked.reasons,
        },
    )
