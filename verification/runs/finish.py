"""The end of an evaluation: everything that follows from it, in one transaction."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from psycopg.types.json import Jsonb

from processes.definition.model import Enforcement
from verification.engine import confidence
from verification.engine.attempts import Accounted, TaskHistory, account
from verification.engine.claims.settlement import ClaimState
from verification.engine.climb import Case, Conclusion
from verification.engine.feedback import Feedback, feedback
from verification.engine.outcome import Action, Purpose, Verdict
from verification.engine.reasons import reason
from verification.runs import calls, events, figures, keeping, outbox, reverifying, statements
from verification.runs.leases import Lease, LeaseLost
from verification.runs.models import Evaluation, Review
from verification.runs.models.review import ReviewState
from verification.runs.remediations import services as remediations
from verification.runs.work import Begun, Work

URGENT, ORDINARY = 80, 40
REPEATED = "repeated_candidate"
COUNTING_PURPOSES = (Purpose.LIVE, Purpose.REVERIFY)


@dataclass(frozen=True, slots=True)
class Ending:
    """All that is to be stored of one evaluation. `turn`: the run then verifies itself again."""

    work: Work
    begun: Begun
    case: Case
    conclusion: Conclusion
    accounted: Accounted
    said: Feedback
    action: Action
    at: datetime
    duration_ms: int
    turn: reverifying.Turn | None

    @property
    def review_reasons(self) -> list[str]:
        reasons = [*self.conclusion.review_reasons]
        if self.accounted.terminal:
            reasons.append(self.accounted.terminal)
        return reasons


def finish(
    lease: Lease,
    work: Work,
    begun: Begun,
    case: Case,
    conclusion: Conclusion,
    *,
    duration_ms: int,
    retry_after: float = 0.0,
) -> None:
    """Store what was concluded, once: all of it or nothing.

    Where the doubt may pass, the run does not end yet. `retry_after` (seconds) is how long the
    judge asked to be left alone.

    Raises:
        LeaseLost: another worker holds the run.
    """
    keeping.keep_texts(work, conclusion)
    with transaction.atomic():
        ending = _ending(work, begun, case, conclusion, duration_ms, retry_after)
        turn = ending.turn
        statement = statements.STORE_UNDECIDED if turn else statements.STORE_ENDING
        if statements.one(statement, **_parameters(lease, ending)) == (0,):
            raise LeaseLost(f"run {lease.run_id} fence {lease.fence}")
        keeping.keep(work, begun, conclusion)
        if turn is None:
            _tell(ending)


def _tell(ending: Ending) -> None:
    """What others than the submitter have to do with an end."""
    work, conclusion, at = ending.work, ending.conclusion, ending.at
    remediations.answer(work=work, verdict=conclusion.verdict, outcome=conclusion.outcome, now=at)
    remediations.queue(
        work=work,
        drafts=conclusion.remediations,
        max_attempts=ending.case.definition.remediation.get("max_attempts", 2),
        now=at,
    )
    if ending.review_reasons:
        _open_review(ending)
    elif ending.begun.purpose == Purpose.REVERIFY:
        _withdraw_review(ending)
    figures.mark_dirty(ending.work)


def _ending(
    work: Work,
    begun: Begun,
    case: Case,
    conclusion: Conclusion,
    duration_ms: int,
    retry_after: float,
) -> Ending:
    """Account the run in its task's history, which is locked from here on, and say what follows."""
    locked = statements.one(statements.LOCK_HISTORY, task=work.task_id)
    if locked is None:
        raise LeaseLost(f"run {work.run_id} was deleted with its task")
    history = TaskHistory(*locked[:-1])
    accounted = _accounted(work, begun, conclusion, history)
    if accounted.terminal == REPEATED:
        conclusion = _as_repeated(conclusion)
    action = confidence.action(
        conclusion.verdict,
        conclusion.confidence_level,
        attempts_left=accounted.history.attempts_left,
        terminal=accounted.terminal,
    )
    said = feedback(
        conclusion,
        attempt=accounted.attempt,
        max_attempts=history.max_attempts,
        acceptance_criteria=case.submission.task.acceptance_criteria,
        instructions=case.definition.remediation_instructions,
        terminal=accounted.terminal,
        repeats=accounted.history.repeats,
    )
    now = timezone.now()
    turn = reverifying.next_turn(work, conclusion, now=now, retry_after=retry_after)
    return Ending(
        work, begun, case, conclusion, accounted, said, action,
        at=now, duration_ms=duration_ms, turn=turn,
    )  # fmt: skip


def _accounted(work: Work, begun: Begun, conclusion: Conclusion, history: TaskHistory) -> Accounted:
    return account(
        history,
        candidate=work.candidate_sha256,
        verdict=conclusion.verdict,
        is_new_submission=begun.purpose == Purpose.LIVE or not _was_decided(work),
        counts_attempt=work.attempt is None and _counts(conclusion),
        final=conclusion.reason_code if conclusion.is_final else "",
    )


def _as_repeated(conclusion: Conclusion) -> Conclusion:
    """A candidate sent again and again is a reason of its own, above what is wrong with it."""
    why = reason(REPEATED)
    return replace(
        conclusion,
        reason_code=why.code,
        severity_class=why.severity_class,
        retry_strategy=why.retry_strategy,
    )


def _was_decided(work: Work) -> bool:
    """Whether this run was entered into its task's history before."""
    decided = Evaluation.objects.filter(
        run=work.run_id, purpose__in=COUNTING_PURPOSES, verdict__in=(Verdict.ACCEPT, Verdict.REJECT)
    )
    return decided.exists()


def _counts(conclusion: Conclusion) -> bool:
    return not conclusion.reason_code or reason(conclusion.reason_code).counts_attempt


def _parameters(lease: Lease, ending: Ending) -> dict[str, Any]:
    conclusion, said, accounted = ending.conclusion, ending.said, ending.accounted
    levels = [finding.enforcement for finding in conclusion.findings]
    history = asdict(accounted.history)
    del history["max_attempts"]
    return {
        "run": lease.run_id,
        "fence": lease.fence,
        "evaluation": ending.begun.evaluation_id,
        "verifier_version": ending.begun.verifier_version_id,
        "task": ending.work.task_id,
        "now": ending.at,
        **_concluded(ending),
        **history,
        "rerun_execution": ending.action is Action.RETRY,
        "attempt": accounted.attempt if accounted.counted else ending.work.attempt,
        "hard_count": levels.count(Enforcement.HARD),
        "advisory_count": levels.count(Enforcement.ADVISORY),
        "review_state": "pending" if ending.review_reasons else "not_required",
        "rule_trace": Jsonb([entry.to_json() for entry in conclusion.trace]),
        "feedback": Jsonb({"text": said.text, "items": [asdict(one) for one in said.items]}),
        "claims": Jsonb(dict(conclusion.claims)),
        "claim_list": Jsonb([one.to_json() for one in conclusion.counted_claims]),
        "result": None if conclusion.result is None else Jsonb(conclusion.result),
        "asked_again": calls.asked_again(ending.begun) if ending.case.tier > 1 else 0,
        "next_at": ending.turn.at if ending.turn else None,
        "duration_ms": ending.duration_ms,
        "topic": outbox.RUN_FINISHED,
        "payload": Jsonb(_announcement(ending)),
        "events": Jsonb(_events(ending)),
    }


def _concluded(ending: Ending) -> dict[str, Any]:
    """What was concluded, in the words of the HTTP contract."""
    conclusion = ending.conclusion
    return {
        "outcome": conclusion.outcome,
        "verdict": conclusion.verdict,
        "reason_code": conclusion.reason_code,
        "severity_class": conclusion.severity_class or "",
        "confidence": conclusion.confidence,
        "confidence_level": conclusion.confidence_level,
        "action": ending.action,
        "retry_strategy": conclusion.retry_strategy,
        "tier_achieved": conclusion.tier_achieved,
    }


def _open_review(ending: Ending) -> None:
    task = ending.case.submission.task
    critical = ending.case.phase.is_critical_path
    if task.is_critical_path is not None:
        critical = task.is_critical_path
    Review.objects.update_or_create(
        run_id=ending.work.run_id,
        defaults={
            "project_id": ending.work.project_id,
            "reasons": ending.review_reasons,
            "urgency": URGENT if critical else ORDINARY,
            "state": ReviewState.PENDING,
            "created_at": ending.at,
        },
    )
    outbox.add(
        outbox.REVIEW_REQUESTED,
        project_id=ending.work.project_id,
        run_id=ending.work.run_id,
        payload={**_announcement(ending), "reasons": ending.review_reasons},
    )


def _withdraw_review(ending: Ending) -> None:
    """What a person was asked about has settled itself."""
    asked = Review.objects.filter(run_id=ending.work.run_id, state=ReviewState.PENDING)
    asked.update(state=ReviewState.EXPIRED)


def _events(ending: Ending) -> list[events.Entry]:
    conclusion = ending.conclusion
    kind = {
        Verdict.ACCEPT: "verification_passed",
        Verdict.REJECT: "verification_rejected",
        Verdict.UNDECIDED: "verification_undecided",
    }[conclusion.verdict]
    told = {
        "outcome": conclusion.outcome,
        "reason_code": conclusion.reason_code,
        "findings": len(conclusion.findings),
        "attempt": ending.accounted.attempt,
    }
    if ending.turn:
        turn = {"next_at": ending.turn.at.isoformat(), "until": ending.turn.until.isoformat()}
        return [(kind, told | turn)]
    written: list[events.Entry] = [(kind, told)]
    if pruned := sum(one.state is ClaimState.PRUNED for one in conclusion.counted_claims):
        written.insert(
            0, ("claims_pruned", {"claims": pruned, "artefacts": len(conclusion.artefacts)})
        )
    if ending.accounted.terminal:
        written.append(("verification_exhausted", {"reason_code": ending.accounted.terminal}))
    if ending.review_reasons:
        written.append(("review_requested", {"reasons": ending.review_reasons}))
    return written


def _announcement(ending: Ending) -> dict[str, Any]:
    """What a webhook is told; the rest is behind the address."""
    return {
        "run": str(ending.work.uuid),
        "process": ending.work.process_slug,
        "phase": ending.work.phase_id,
        "task": ending.case.submission.task.id,
        "passed": ending.conclusion.verdict.passed,
        "finished_at": ending.at.isoformat(),
        "feedback": ending.said.text,
        **{name: value for name, value in _concluded(ending).items() if name != "confidence"},
    }
