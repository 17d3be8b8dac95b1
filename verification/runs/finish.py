"""The end of an evaluation: everything that follows from it, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone
from psycopg.types.json import Jsonb

from processes.definition.model import Enforcement
from processes.selectors import rule_version_ids
from verification.engine import confidence
from verification.engine.attempts import Accounted, TaskHistory, account
from verification.engine.climb import Case, Conclusion
from verification.engine.feedback import Feedback, feedback
from verification.engine.outcome import Action, Purpose, Verdict
from verification.engine.reasons import reason
from verification.engine.tiers import TierReport
from verification.runs import events, figures, outbox, statements
from verification.runs.leases import Lease, LeaseLost
from verification.runs.models import Finding, Review
from verification.runs.models.review import ReviewState
from verification.runs.work import Begun, Work

URGENT, ORDINARY = 80, 40
REPEATED = "repeated_candidate"


@dataclass(frozen=True, slots=True)
class Ending:
    """All that is to be stored of one evaluation."""

    work: Work
    begun: Begun
    case: Case
    conclusion: Conclusion
    tiers: Sequence[TierReport]
    accounted: Accounted
    said: Feedback
    action: Action
    at: datetime
    duration_ms: int

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
    tiers: Sequence[TierReport],
    conclusion: Conclusion,
    *,
    duration_ms: int,
) -> None:
    """Store what was concluded, once: all of it or nothing.

    Raises:
        LeaseLost: another worker holds the run.
    """
    with transaction.atomic():
        ending = _ending(work, begun, case, tiers, conclusion, duration_ms)
        if statements.one(statements.STORE_ENDING, **_parameters(lease, ending)) == (0,):
            raise LeaseLost(f"run {lease.run_id} fence {lease.fence}")
        _store_findings(ending)
        if ending.review_reasons:
            _open_review(ending)
        elif begun.purpose == Purpose.REVERIFY:
            _withdraw_review(ending)
        figures.mark_dirty(work)


def _ending(
    work: Work,
    begun: Begun,
    case: Case,
    tiers: Sequence[TierReport],
    conclusion: Conclusion,
    duration_ms: int,
) -> Ending:
    """Account the run in its task's history, which is locked from here on, and say what follows."""
    locked = statements.one(statements.LOCK_HISTORY, task=work.task_id)
    if locked is None:
        raise LeaseLost(f"run {work.run_id} was deleted with its task")
    history = TaskHistory(*locked[:-1])
    accounted = account(
        history,
        candidate=work.candidate_sha256,
        verdict=conclusion.verdict,
        is_new_submission=begun.purpose == Purpose.LIVE,
        counts_attempt=work.attempt is None,
    )
    if accounted.terminal == REPEATED:
        # A candidate sent again and again is a reason of its own, above what is wrong with it.
        why = reason(REPEATED)
        conclusion = replace(
            conclusion,
            reason_code=why.code,
            severity_class=why.severity_class,
            retry_strategy=why.retry_strategy,
        )
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
    return Ending(
        work, begun, case, conclusion, tiers, accounted, said, action,
        at=timezone.now(), duration_ms=duration_ms,
    )  # fmt: skip


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
        "cost_usd": sum((Decimal(report.cost_usd) for report in ending.tiers), Decimal(0)),
        "rule_trace": Jsonb([entry.to_json() for entry in conclusion.trace]),
        "feedback": Jsonb({"text": said.text, "items": [asdict(one) for one in said.items]}),
        "claims": Jsonb(dict(conclusion.claims)),
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


def _store_findings(ending: Ending) -> None:
    if not ending.conclusion.findings:
        return
    rule_versions = rule_version_ids(ending.begun.process_version_id)
    Finding.objects.bulk_create(
        Finding(
            project_id=ending.work.project_id,
            evaluation_id=ending.begun.evaluation_id,
            tier=finding.tier,
            position=position,
            rule=finding.rule,
            rule_version_id=rule_versions.get(finding.rule),
            source=finding.source,
            enforcement=finding.enforcement,
            target=finding.target or "",
            severity=finding.severity or "",
            verdict=finding.verdict,
            reason_code=finding.reason_code,
            message=finding.message,
            quote=finding.quote,
            quote_verified=finding.quote_verified,
            path=finding.path,
            line=finding.line,
            column=finding.column,
            place=dict(finding.place),
            confidence=finding.confidence,
            suggestion=finding.suggestion,
            fingerprint=finding.fingerprint,
        )
        for position, finding in enumerate(ending.conclusion.findings)
    )


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
    written: list[events.Entry] = [(kind, told)]
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
