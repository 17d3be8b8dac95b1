"""What a decision changes: the run, its task's history, and what the outside is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from processes.definition.model import Enforcement
from verification.engine.attempts import Accounted, Entered, TaskHistory, overrule
from verification.engine.outcome import COUNTING, FindingVerdict, Outcome, Verdict
from verification.reviews.models import CaseDraft, Decision, FindingLabel
from verification.reviews.rounds import Rows, name_of
from verification.runs import events, figures, outbox
from verification.runs.ending import MAX_RULES
from verification.runs.models import Evaluation, ReviewState, Run, Task

HISTORY = (
    "attempts_used", "submissions", "repeats", "last_candidate_sha256", "last_outcome",
    "exhausted", "exhausted_reason",
)  # fmt: skip
ENTERED = (Verdict.ACCEPT, Verdict.REJECT)
FALSE_NEGATIVE = "verification_false_negative_candidate"
RIGHT, WRONG = "true_positive", "false_positive"


def verdict_of(outcome: str) -> Verdict:
    """What a person's outcome means: people do not leave a run undecided."""
    return Verdict.REJECT if outcome == Outcome.FAIL else Verdict.ACCEPT


def apply(rows: Rows, decisions: Sequence[Decision], *, now: datetime) -> None:
    """Let one outcome take effect; `decisions` agree on it.

    The run's own outcome and verdict stay as the verifier left them.
    """
    review, run = rows.review, rows.run
    outcome, previous = decisions[-1].outcome, review.outcome
    accounted = _accounted(rows, verdict_of(outcome), previous)
    told = _told(decisions)
    review.state, review.outcome, review.told = ReviewState.DECIDED, outcome, told
    review.decided_at = decisions[-1].created_at
    review.takes_effect_at = review.told_at = now
    review.save(
        update_fields=["state", "outcome", "told", "decided_at", "takes_effect_at", "told_at"]
    )
    Run.objects.filter(pk=run.pk).update(
        final_outcome=outcome, review_state="decided", attempt=accounted.attempt
    )
    _keep_history(rows.task, accounted, now)
    CaseDraft.objects.filter(run=run).update(outcome=outcome)
    _tell(rows, accounted, previous=previous, now=now)
    figures.mark_dirty(run)


def _accounted(rows: Rows, verdict: Verdict, previous: str) -> Accounted:
    history = TaskHistory(
        max_attempts=rows.task.max_attempts, **{name: getattr(rows.task, name) for name in HISTORY}
    )
    return overrule(history, _entered(rows, previous), verdict)


def _entered(rows: Rows, previous: str) -> Entered:
    task, run, evaluation = rows.task, rows.run, rows.review.evaluation
    # A run that is being verified again stands where it stood.
    stands_at = verdict_of(previous) if previous else run.verdict or evaluation.verdict
    reason_code = run.reason_code or evaluation.reason_code
    decided = Evaluation.objects.filter(run=run, purpose__in=COUNTING, verdict__in=ENTERED)
    others = Run.objects.filter(task=task).exclude(pk=run.pk)
    later = others.filter(pk__gt=run.pk)
    return Entered(
        verdict=Verdict(stands_at),
        candidate=run.candidate_sha256,
        is_entered=bool(previous) or decided.exists(),
        attempt=run.attempt,
        is_known=others.filter(
            candidate_sha256=run.candidate_sha256, attempt__isnull=False
        ).exists(),
        is_last=not (
            later.filter(verdict__in=ENTERED) | later.filter(review_state="decided")
        ).exists(),
        has_ended=bool(reason_code) and reason_code == task.exhausted_reason,
    )


def _keep_history(task: Task, accounted: Accounted, now: datetime) -> None:
    history = asdict(accounted.history)
    del history["max_attempts"], history["counted_sha256s"]
    Task.objects.filter(pk=task.pk).update(**history, updated_at=now)


def _tell(rows: Rows, accounted: Accounted, *, previous: str, now: datetime) -> None:
    review, run = rows.review, rows.run
    said = {"outcome": review.outcome, "by": ", ".join(review.told["by"]), "round": review.round}
    written: list[events.Entry] = [*_overturned(rows, previous), ("review_decided", said)]
    if accounted.terminal and not rows.task.exhausted:
        written.append(("verification_exhausted", {"reason_code": accounted.terminal}))
    if rows.task.exhausted and not accounted.history.exhausted:
        written.append(("task_reopened", {"attempts_left": accounted.history.attempts_left}))
    events.append(run.pk, written, at=now)
    outbox.add(
        outbox.RUN_DECIDED,
        project_id=run.project_id,
        run_id=run.pk,
        payload=_announcement(rows, previous),
    )


def _overturned(rows: Rows, previous: str) -> list[events.Entry]:
    """Return the event of a reject that people accept; of a run it is written once."""
    review, evaluation = rows.review, rows.review.evaluation
    is_overturned = (
        evaluation.verdict == Verdict.REJECT and verdict_of(review.outcome) is Verdict.ACCEPT
    )
    # Only a change of mind can come to it again.
    is_written = (
        bool(previous)
        and rows.run.events.filter(kind=FALSE_NEGATIVE, data__source="review").exists()
    )
    if not is_overturned or is_written:
        return []
    found = evaluation.findings.filter(
        verdict=FindingVerdict.VIOLATED, enforcement=Enforcement.HARD
    ).order_by("position")
    rules = dict.fromkeys(found.values_list("rule", flat=True))
    return [
        (
            FALSE_NEGATIVE,
            {
                "source": "review",
                "reason_code": evaluation.reason_code,
                "enforcement": Enforcement.HARD if rules else None,
                "rules": list(rules)[:MAX_RULES],
            },
        )
    ]


def _announcement(rows: Rows, previous: str) -> dict[str, Any]:
    review, run = rows.review, rows.run
    return {
        **names(rows),
        "outcome": run.outcome,
        "final_outcome": review.outcome,
        "passed": review.told["passed"],
        "comment": review.told["comment"],
        "findings": review.told["findings"],
        "decided_at": review.decided_at.isoformat() if review.decided_at else None,
        "previous": previous or None,
    }


def names(rows: Rows) -> dict[str, Any]:
    """Which run an announcement is about."""
    return {
        "run": str(rows.run.uuid),
        "task": rows.task.external_id,
        "process": rows.run.process.slug,
        "phase": rows.run.phase_id,
    }


def _told(decisions: Sequence[Decision]) -> dict[str, Any]:
    comments = dict.fromkeys(one.comment for one in decisions if one.comment)
    return {
        "passed": verdict_of(decisions[-1].outcome).passed,
        "comment": "\n\n".join(comments),
        "by": [name_of(one) for one in decisions],
        "findings": _labels(decisions),
    }


def _labels(decisions: Sequence[Decision]) -> dict[str, str]:
    """Findings by fingerprint; one that two people label differently stays without."""
    labels: dict[str, set[bool]] = {}
    rows = FindingLabel.objects.filter(decision__in=decisions).order_by("finding__position", "id")
    for fingerprint, is_right in rows.values_list("finding__fingerprint", "is_right"):
        labels.setdefault(fingerprint, set()).add(is_right)
    return {
        fingerprint: RIGHT if True in said else WRONG
        for fingerprint, said in labels.items()
        if len(said) == 1
    }
