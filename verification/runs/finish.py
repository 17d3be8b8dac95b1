"""The end of an evaluation: everything that follows from it, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from psycopg.types.json import Jsonb

from processes.definition.model import Enforcement
from verification.engine.attempts import Accounted, TaskHistory
from verification.engine.claims.routing import is_critical
from verification.engine.climb import Case, Conclusion, conclude
from verification.engine.decision import TaskState
from verification.engine.feedback import feedback_of
from verification.engine.outcome import COUNTING, Action, Purpose, Verdict
from verification.engine.reviewing import Ended
from verification.engine.tiers import TierReport
from verification.runs import (
    calls,
    events,
    figures,
    flags,
    keeping,
    loops,
    outbox,
    reverifying,
    statements,
)
from verification.runs.earlier import earlier_findings
from verification.runs.ending import Ending, announcement, evaluated, events_of
from verification.runs.flags import Flag
from verification.runs.holding import LeaseLost
from verification.runs.leases import Lease
from verification.runs.models import Evaluation, Run
from verification.runs.remediations import services as remediations
from verification.runs.work import Begun, Work

JSON_FIELDS = ("rule_trace", "feedback", "claims", "claim_list")


def finish(
    lease: Lease,
    work: Work,
    begun: Begun,
    case: Case,
    tiers: Sequence[TierReport],
    *,
    duration_ms: int,
    retry_after: float = 0.0,
) -> None:
    """Decide the run and store the decision, once: all of it or nothing.

    A run whose doubt may pass does not end yet. `retry_after` (seconds) is the pause that the
    judge asked for.

    Raises:
        LeaseLost: another worker holds the run.
    """
    keeping.keep_texts(work, (artefact for report in tiers for artefact in report.artefacts))

    def store() -> None:
        with transaction.atomic():
            _store(lease, _ending(work, begun, case, tiers, duration_ms, retry_after))

    events.numbered_anew(store)


def _store(lease: Lease, ending: Ending) -> None:
    turn = ending.turn
    statement = statements.STORE_UNDECIDED if turn else statements.STORE_ENDING
    if statements.one(statement, **_parameters(lease, ending)) == (0,):
        raise LeaseLost(f"run {lease.run_id} fence {lease.fence}")
    keeping.keep(ending.work, ending.begun, ending.conclusion)
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
    if ending.flag:
        _ask(ending, ending.flag)
    figures.mark_dirty(ending.work)


def _ending(
    work: Work,
    begun: Begun,
    case: Case,
    tiers: Sequence[TierReport],
    duration_ms: int,
    retry_after: float,
) -> Ending:
    """Decide the run with its task, which is locked from here on."""
    locked = statements.one(statements.LOCK_HISTORY, task=work.task_id)
    if locked is None:
        raise LeaseLost(f"run {work.run_id} was deleted with its task")
    history = TaskHistory(*locked[:-1])
    conclusion = conclude(case, tiers, _task_state(work, begun, case, history))
    earlier = None
    if history.submissions:
        earlier = earlier_findings(
            run_id=work.run_id,
            task_id=work.task_id,
            phase_id=work.phase_id,
            findings=conclusion.findings,
        )
    now = timezone.now()
    turn = reverifying.next_turn(work, conclusion, now=now, retry_after=retry_after)
    if turn:  # the loop waits for the next verification
        conclusion = replace(conclusion, loop=None)
    return Ending(
        work,
        begun,
        case,
        conclusion,
        feedback_of(case, conclusion, earlier),
        at=now,
        duration_ms=duration_ms,
        turn=turn,
        flag=None if turn else _flag(work, begun, case, conclusion, now),
    )


def _task_state(work: Work, begun: Begun, case: Case, history: TaskHistory) -> TaskState:
    budget = loops.budget_of(case.phase, work.task_id)
    is_settled = begun.purpose == Purpose.REVERIFY and _is_decided_by_person(work)
    if history.attempts_used:
        history = replace(history, counted_sha256s=counted_sha256s(work.task_id))
    return TaskState(
        history,
        submission_hash=work.candidate_sha256,
        is_new_submission=begun.purpose == Purpose.LIVE or not _was_decided(work),
        may_count=work.attempt is None,
        settled=Accounted(history, work.attempt) if is_settled else None,
        spent_usd=float(budget.spent_usd) if budget else 0.0,
    )


def counted_sha256s(task_id: int) -> frozenset[str]:
    """Return the submission hashes that used up the task's attempts; lock the task before."""
    rows = Run.objects.filter(task=task_id, attempt__isnull=False)
    return frozenset(rows.values_list("candidate_sha256", flat=True))


def _was_decided(work: Work) -> bool:
    """Whether this run was entered into its task's history before."""
    decided = Evaluation.objects.filter(
        run=work.run_id, purpose__in=COUNTING, verdict__in=(Verdict.ACCEPT, Verdict.REJECT)
    )
    return decided.exists()


def _is_decided_by_person(work: Work) -> bool:
    """A person's decision stays counted in the task, whatever a later evaluation concludes."""
    return Run.objects.filter(pk=work.run_id, review_state="decided").exists()


def _parameters(lease: Lease, ending: Ending) -> dict[str, Any]:
    conclusion, accounted = ending.conclusion, ending.conclusion.accounted
    told = evaluated(conclusion, ending.said)
    levels = [finding.enforcement for finding in conclusion.findings]
    history = asdict(accounted.history)
    del history["max_attempts"], history["counted_sha256s"]
    return {
        "run": lease.run_id,
        "fence": lease.fence,
        "evaluation": ending.begun.evaluation_id,
        "verifier_version": ending.begun.verifier_version_id,
        "task": ending.work.task_id,
        "now": ending.at,
        **told,
        **{name: Jsonb(told[name]) for name in JSON_FIELDS},
        **{name: told[name] and Jsonb(told[name]) for name in ("score", "loop")},
        **history,
        "rerun_execution": conclusion.reruns_execution,
        "attempt": accounted.attempt if accounted.counted else ending.work.attempt,
        "hard_count": levels.count(Enforcement.HARD),
        "advisory_count": levels.count(Enforcement.ADVISORY),
        "review_state": ending.flag.shown_state if ending.flag else flags.NOBODY,
        "result": None if conclusion.result is None else Jsonb(conclusion.result),
        "asked_again": calls.asked_again(ending.begun) if ending.case.tier > 1 else 0,
        "next_at": ending.turn.at if ending.turn else None,
        "duration_ms": ending.duration_ms,
        "topic": outbox.RUN_FINISHED,
        "payload": Jsonb(announcement(ending)),
        "events": Jsonb(events_of(ending)),
    }


def _flag(
    work: Work,
    begun: Begun,
    case: Case,
    conclusion: Conclusion,
    now: datetime,
) -> Flag:
    ended = Ended(
        run=work.uuid,
        outcome=conclusion.outcome,
        verdict=conclusion.verdict,
        flags=conclusion.review_reasons,
        terminal=conclusion.accounted.terminal,
        severity_class=conclusion.severity_class,
        reason_code=conclusion.reason_code,
        is_critical_path=is_critical(case),
        holds_change=case.submission.changed is not None
        and conclusion.action is Action.REVIEW_BRANCH,
    )
    policy = case.definition.policy.review
    return flags.flag(work, ended, policy, is_first=begun.purpose == Purpose.LIVE, now=now)


def _ask(ending: Ending, flag: Flag) -> None:
    work = ending.work
    flags.apply(
        flag,
        work,
        evaluation_id=ending.begun.evaluation_id,
        leading=ending.conclusion.leading,
        now=ending.at,
    )
    if flag.asked and flag.is_asked_for:
        outbox.add(
            outbox.REVIEW_REQUESTED,
            project_id=work.project_id,
            run_id=work.run_id,
            payload={**announcement(ending), "reasons": list(flag.asked.reasons)},
        )
