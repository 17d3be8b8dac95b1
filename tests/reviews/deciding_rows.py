"""Rows of decisions for tests, as the services would have written them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone

from loomverify.accounts.models import ApiKey, User
from verification.engine.outcome import Outcome
from verification.reviews.models import Decision, FindingLabel
from verification.runs.models import Review


def make_decision(
    review: Review,
    by: User | ApiKey,
    outcome: Outcome | None = Outcome.PASS,
    *,
    labels: Mapping[str, bool] | None = None,
    at: datetime | None = None,
    is_settled: bool = True,
    **columns: Any,
) -> Decision:
    at = at or timezone.now()
    decision = Decision.objects.create(
        project=review.project,
        review=review,
        evaluation=review.evaluation,
        reviewer=by if isinstance(by, User) else None,
        api_key=by if isinstance(by, ApiKey) else None,
        outcome=outcome or "",
        created_at=at,
        settled_at=at if is_settled else None,
        **{"round": review.round, "is_adjudication": review.is_adjudication, **columns},
    )
    for finding in review.evaluation.findings.filter(fingerprint__in=labels or {}):
        FindingLabel.objects.create(
            decision=decision, finding=finding, is_right=(labels or {})[finding.fingerprint]
        )
    return decision


def over(review: Review, outcome: Outcome) -> Review:
    """Decided, with all that it has brought about."""
    now = timezone.now()
    told = {"state": "decided", "outcome": outcome, "decided_at": now, "told_at": now}
    Review.objects.filter(pk=review.pk).update(**told, takes_effect_at=now)
    review.refresh_from_db()
    return review
