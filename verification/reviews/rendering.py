"""From rows of reviews to the HTTP contract's answers, for who is asking."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse

from loomverify.accounts.access import Access, Actor
from loomverify.accounts.models import ApiKey, User
from loomverify.errors import NotFound
from verification.engine import reviewing
from verification.reviews import schemas
from verification.reviews.disclosure import (
    is_by,
    is_over,
    is_revealed,
    shown_decisions,
    with_decisions,
)
from verification.reviews.models import CaseDraft, Decision
from verification.reviews.reviewers import holds
from verification.runs import rendering as runs
from verification.runs.models import Evaluation, Finding, Review

RELATED = (
    "run__task", "process", "claimed_by", "claimed_key", "assigned_to", "evaluation",
    "evaluation__process_version", "evaluation__verifier_version",
)  # fmt: skip
HEAVY = (
    "run__search", "run__result", "process__description", "evaluation__rule_trace",
    "evaluation__feedback", "evaluation__claims", "evaluation__claim_list", "evaluation__score",
    "evaluation__loop", "evaluation__process_version__source_text",
)  # fmt: skip


def shown(rows: QuerySet[Review]) -> QuerySet[Review]:
    """Load with each review what `summary` shows."""
    rows = rows.select_related(None).defer(None).select_related(*RELATED).defer(*HEAVY)
    return with_decisions(rows.prefetch_related("project", "run__project"))


def whole(access: Access, review: UUID, *, now: datetime) -> schemas.ReviewWork:
    """Raises NotFound: `review.unknown`."""
    found = shown(Review.objects.filter(project=access.project, uuid=review)).first()
    if found is None:
        raise NotFound("review.unknown", "This project has no such review.")
    return work(found, access.actor, now=now)


def work(review: Review, actor: Actor, *, now: datetime) -> schemas.ReviewWork:
    rows = Finding.objects.filter(evaluation=review.evaluation_id).order_by("tier", "position")
    return schemas.ReviewWork(
        **_summary(review, actor, now),
        findings=(
            runs.findings(rows, review.evaluation.feedback) if is_revealed(review, actor) else []
        ),
        decisions=[decision(row, actor) for row in shown_decisions(review, actor)],
    )


def summary(review: Review, actor: Actor, *, now: datetime) -> schemas.ReviewSummary:
    return schemas.ReviewSummary(**_summary(review, actor, now))


def decision(row: Decision, actor: Actor) -> schemas.ReviewDecision:
    same = ("round", "is_adjudication", "comment", "seconds", "created_at", "settled_at")
    labels = {one.finding.fingerprint: schemas.Label.of(one.is_right) for one in row.labels.all()}
    return schemas.ReviewDecision(
        id=row.uuid,
        reviewer=name_of(row.reviewer, row.api_key) or "",
        is_mine=is_by(row, actor),
        first_outcome=row.first_outcome or None,
        outcome=row.outcome or None,
        findings=labels,
        **{name: getattr(row, name) for name in same},
    )


def case_draft(row: CaseDraft, *, is_outcome_shown: bool) -> schemas.CaseDraftOut:
    return schemas.CaseDraftOut(
        id=row.uuid,
        run=row.run.uuid,
        run_url=runs.run_url(row.run),
        review=row.review.uuid if row.review else None,
        outcome=(row.outcome or None) if is_outcome_shown else None,
        made_by=row.made_by,
        created_at=row.created_at,
    )


def name_of(user: User | None, key: ApiKey | None) -> str | None:
    """A person by the user name, a key as such."""
    if user is not None:
        return user.username
    return f"key {key.name}" if key is not None else None


def _summary(review: Review, actor: Actor, now: datetime) -> dict[str, Any]:
    lasts = review.lease_until is not None and review.lease_until > now
    same = ("state", "round", "reviewers", "is_adjudication", "is_blind", "created_at",
            "expires_at", "decided_at")  # fmt: skip
    run = review.run
    return {
        "id": review.uuid,
        "url": _url(review),
        "run": run.uuid,
        "run_url": runs.run_url(run),
        "title": run.title,
        "process": review.process.slug,
        "phase": review.phase_id,
        "task": run.task.external_id,
        "urgency": reviewing.urgency_now(review.created_at, review.urgency, now),
        "outcome": (review.outcome or None) if is_over(review) else None,
        "holder": name_of(review.claimed_by, review.claimed_key) if lasts else None,
        "is_mine": lasts and holds(review, actor),
        "lease_until": review.lease_until if lasts else None,
        "assigned_to": review.assigned_to.username if review.assigned_to else None,
        **{name: getattr(review, name) for name in same},
        **_telling(review, is_shown=is_revealed(review, actor)),
    }


def _telling(review: Review, *, is_shown: bool) -> dict[str, Any]:
    """What would tell the verdict."""
    return {
        "is_revealed": is_shown,
        "is_flagged": review.is_flagged if is_shown else None,
        "sample_rate": review.sample_rate if is_shown else None,
        "reasons": list(review.reasons) if is_shown else [],
        "rule": (review.rule or None) if is_shown else None,
        "fingerprint": (review.fingerprint or None) if is_shown else None,
        "engine": _engine(review.evaluation) if is_shown else None,
    }


def _engine(row: Evaluation) -> schemas.EngineSaid:
    return schemas.EngineSaid(
        evaluation=row.uuid,
        outcome=row.outcome or None,
        verdict=row.verdict or None,
        reason_code=row.reason_code or None,
        confidence=row.confidence,
        confidence_level=row.confidence_level or None,
        tier_achieved=row.tier_achieved,
        process_version=row.process_version.number,
        verifier_version=row.verifier_version.number,
    )


def _url(review: Review) -> str:
    parts = {"project": review.project.slug, "review": review.uuid}
    return f"{settings.BASE_URL}{reverse('review_item', kwargs=parts)}"
