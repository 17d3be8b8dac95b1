"""What a run's task had behind it when the run ended, as far as its rows tell."""

from __future__ import annotations

from typing import Any

from verification.engine.attempts import (
    ATTEMPTS_EXHAUSTED,
    REPEATED_CANDIDATE,
    TaskHistory,
    account,
)
from verification.engine.finding import Finding
from verification.engine.outcome import Verdict
from verification.golden.documents.schemas import MAX_EARLIER
from verification.runs.earlier import earlier_findings, problem_of
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
    is_same = history.last_candidate_sha256 == run.candidate_sha256
    was_counted = run.candidate_sha256 in history.counted_sha256s
    told = {
        "attempts_used": history.attempts_used,
        "submissions": history.submissions,
        "repeats": history.repeats,
        "is_same_candidate": is_same,
        "exhausted_reason": history.exhausted_reason,
    }
    known: dict[str, Any] = {name: value for name, value in told.items() if value}
    if was_counted != is_same:
        known["was_counted"] = was_counted
    earlier_problems = earlier_findings(
        run_id=run.pk,
        task_id=task.pk,
        phase_id=run.phase_id,
        findings=map(problem_of, evaluation.findings.all()),
    )
    if earlier_problems is not None:
        known["findings"] = [
            *(_document(problem) for problem in earlier_problems.open),
            *(_document(problem) | {"is_gone": True} for problem in earlier_problems.gone),
        ][:MAX_EARLIER]
    return known


def _document(problem: Finding) -> dict[str, Any]:
    place = {name: value for name, value in problem.place.items() if isinstance(value, str)}
    return {
        "rule": problem.rule,
        "reason_code": problem.reason_code,
        "message": problem.message,
        "fingerprint": problem.fingerprint,
        "enforcement": problem.enforcement.value,
        "source": problem.source.value,
        "tier": problem.tier,
        "path": problem.path,
        "line": problem.line,
        "place": place,
    }
