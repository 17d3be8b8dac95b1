"""Rows of reviews for tests, as the services would have written them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone

from loomverify.accounts.models import Project
from tests.builders import make_run
from verification.engine import reviewing
from verification.engine.outcome import Outcome, Verdict
from verification.runs.models import Finding, Review, ReviewState, Run

DOUBTED: Mapping[str, Any] = {
    "outcome": Outcome.FAIL,
    "verdict": Verdict.UNDECIDED,
    "reason_code": "vote_divergence",
}


def make_review(
    project: Project,
    run: Run | None = None,
    *,
    urgency: int = 50,
    created_at: datetime | None = None,
    state: ReviewState = ReviewState.PENDING,
    **columns: Any,
) -> Review:
    """A review of a run that is in doubt, or of the run given, at its live evaluation."""
    run = run or make_run(project, **DOUBTED)
    assert run.live_evaluation is not None
    if state == ReviewState.PENDING:
        Run.objects.filter(pk=run.pk).update(review_state="pending")
        run.review_state = "pending"
    leading = Finding.objects.filter(evaluation=run.live_evaluation).order_by("position").first()
    opened = created_at or timezone.now()
    return Review.objects.create(
        project=project,
        run=run,
        process=run.process,
        phase_id=run.phase_id,
        evaluation=run.live_evaluation,
        urgency=urgency,
        rank_at=reviewing.rank_at(opened, urgency),
        created_at=opened,
        state=state,
        **{
            "reasons": [run.reason_code or reviewing.RANDOM_SAMPLE],
            "rule": leading.rule if leading else "",
            "fingerprint": leading.fingerprint if leading else "",
            **columns,
        },
    )
