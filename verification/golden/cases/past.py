"""What a run's task had behind it when the run ended, as far as its rows tell."""

from __future__ import annotations

from typing import Any

from verification.engine.attempts import (
    ATTEMPTS_EXHAUSTED,
    REPEATED_CANDIDATE,
    TaskHistory,
    account,
)
from verification.engine.outcome import Verdict
from verification.runs.models import Evaluation, Run

FOLLOWED = (ATTEMPTS_EXHAUSTED, REPEATED_CANDIDATE)
"""Reasons that follow from the runs before; any other is a run's own."""


def history_of(run: Run, evaluation: Evaluation) -> dict[str, Any]:
    """Enter the task's earlier runs anew, as they ended. A person's later word plays no part."""
    task = run.task
    history = TaskHistory(max_attempts=task.max_attempts)
    earlier = Run.objects.filter(task=task, finished_at__isnull=False).exclude(pk=run.pk)
    if evaluation.finished_at:
        earlier = earlier.filter(finished_at__lt=evaluation.finished_at)
    fields = ("candidate_sha256", "verdict", "attempt", "reason_code")
    for candidate, verdict, attempt, reason in earlier.order_by("finished_at", "pk").values_list(
        *fields
    ):
        if verdict:
            is_end = reason == task.exhausted_reason and reason not in ("", *FOLLOWED)
            history = account(
                history,
                candidate=candidate,
                verdict=Verdict(verdict),
                counts_attempt=attempt is not None,
                final=reason if is_end else "",
            ).history
    told = {
        "attempts_used": history.attempts_used,
        "submissions": history.submissions,
        "repeats": history.repeats,
        "is_same_candidate": history.last_candidate_sha256 == run.candidate_sha256,
        "exhausted_reason": history.exhausted_reason,
    }
    return {name: value for name, value in told.items() if value}
