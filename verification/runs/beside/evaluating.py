"""One evaluation beside a run: climbed and concluded as if it were the run's own."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import DatabaseError
from django.utils import timezone

from verification.engine.attempts import (
    IDENTICAL_ENDS_AT,
    REPEATED_CANDIDATE,
    Accounted,
    TaskHistory,
)
from verification.engine.case import Ports
from verification.engine.claims.labels import totals_of
from verification.engine.climb import Case, Conclusion, climb, conclude
from verification.engine.decision import TaskState
from verification.engine.feedback import Feedback, feedback, feedback_of
from verification.engine.outcome import (
    Action,
    ConfidenceLevel,
    Outcome,
    Purpose,
    Status,
    Verdict,
)
from verification.engine.reasons import reason
from verification.engine.tiers import TierReport
from verification.runs import casting, statements, worker
from verification.runs.beside.looking import Wanted
from verification.runs.evidence_store import Digest, StoredWorkspace
from verification.runs.gating.base import stored_base
from verification.runs.gating.ports import reported
from verification.runs.holding import Hold, LeaseLost
from verification.runs.judging import StoredJudge
from verification.runs.work import Begun, Work

logger = logging.getLogger(__name__)

BROKEN = "infra_verifier_error"
MAX_DETAIL = 500


@dataclass(frozen=True, slots=True)
class Loaded:
    """A run's work, and how the run was seen when it counted.

    `work.attempts_used` is the task's count before this run, `submissions` the number of its
    runs that were decided before; `was_counted`: the same submission used up an attempt before.
    """

    work: Work
    files: dict[str, Digest]
    max_attempts: int
    live_uuid: uuid.UUID
    live_reason: str
    submissions: int
    was_counted: bool = False


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What an evaluation came to, before it is stored.

    `error`: how its verification broke. `retry_after` (seconds) is what a judge asked for.
    """

    wanted: Wanted
    loaded: Loaded
    conclusion: Conclusion
    said: Feedback
    reports: Sequence[TierReport]
    started_at: datetime
    duration_ms: int
    error: str = ""
    retry_after: float = 0.0


Save = Callable[[TierReport], None]


def load(run_ids: Collection[int]) -> dict[int, Loaded]:
    """The work of all these runs at once; those that are gone are left out."""
    found = {}
    for row in statements.rows(statements.LOAD_BESIDE, runs=list(run_ids)):
        *own, max_attempts, live_uuid, live_reason, attempts, submissions, was_counted = row
        work = replace(Work(*own[:-1]), attempts_used=attempts)
        found[work.run_id] = Loaded(
            work, own[-1] or {}, max_attempts, live_uuid, live_reason, submissions, was_counted
        )
    return found


def evaluate(
    wanted: Wanted,
    loaded: Loaded,
    hold: Hold,
    *,
    tier: int,
    begun: Begun | None = None,
    save: Save = lambda _: None,
    error: str = "",
) -> Evaluated:
    """Climb and conclude. One that breaks is concluded too: undecided, which blames nobody.

    `begun`: its row is there, with the tiers that were saved. `save` is called as a tier ends.
    `error`: why it is not to be tried any more.

    Raises:
        LeaseLost: the work is no longer ours.
    """
    started_at, started = timezone.now(), time.monotonic()
    done = casting.saved_tiers(begun) if begun else []
    before_ms = sum(report.duration_ms for report in done)

    def ended(
        conclusion: Conclusion, said: Feedback, error: str = "", retry_after: float = 0.0
    ) -> Evaluated:
        took_ms = before_ms + round((time.monotonic() - started) * 1000)
        reports = [*done, _lost_tier(done, error)] if error else done
        return Evaluated(
            wanted, loaded, conclusion, said, reports, started_at, took_ms, error, retry_after
        )

    if error:
        return ended(*_broken(loaded), error)
    try:
        case, ports, judge = _cast(wanted, loaded, begun or _unstored(wanted), hold, tier)
        casting.keep_each(climb(case, ports, done), judge, done, save=save)
        conclusion = conclude(case, done, _task_state(loaded))
        return ended(conclusion, feedback_of(case, conclusion), retry_after=judge.retry_after)
    except (LeaseLost, DatabaseError):
        raise
    except Exception as fault:
        logger.exception("evaluation_beside_failed run=%s wanted=%s", wanted.run_id, wanted)
        text = f"{type(fault).__name__} in the verifier: {fault}"
        return ended(*_broken(loaded), text[:MAX_DETAIL])


def _cast(
    wanted: Wanted, loaded: Loaded, begun: Begun, hold: Hold, tier: int
) -> tuple[Case, Ports, StoredJudge]:
    nonce = _nonce(wanted, loaded)
    case = casting.case_of(loaded.work, loaded.files, begun, tier=tier, nonce=nonce)
    judge = casting.judge_of(hold, loaded.work, begun)
    workspace = StoredWorkspace(loaded.work.project_uuid, loaded.files)
    gates = reported(loaded.work.run_id, case) if case.phase.gates else None
    base = stored_base(loaded.work)
    ports = Ports(workspace, worker.probe(), time.monotonic, judge, worker.custom(), gates, base)
    return case, ports, judge


def _task_state(loaded: Loaded) -> TaskState:
    """The task as it was when the run was decided."""
    candidate = loaded.work.candidate_sha256
    history = TaskHistory(
        max_attempts=loaded.max_attempts,
        attempts_used=loaded.work.attempts_used,
        submissions=loaded.submissions,
        counted_sha256s=frozenset({candidate} if loaded.was_counted else ()),
    )
    if loaded.live_reason == REPEATED_CANDIDATE:
        history = replace(history, repeats=IDENTICAL_ENDS_AT - 1, last_candidate_sha256=candidate)
    return TaskState(history, submission_hash=candidate)


def _broken(loaded: Loaded) -> tuple[Conclusion, Feedback]:
    """Undecided, because the verifier failed."""
    why = reason(BROKEN)
    conclusion = Conclusion(
        outcome=Outcome.FAIL,
        verdict=Verdict.UNDECIDED,
        reason_code=why.code,
        severity_class=why.severity_class,
        findings=(),
        trace=(),
        tier_achieved=0,
        confidence=None,
        confidence_level=ConfidenceLevel.MEDIUM,
        retry_strategy=why.retry_strategy,
        claims=totals_of(()),
        action=Action.REVIEW_BRANCH,
        accounted=Accounted(_task_state(loaded).history),
    )
    said = feedback(conclusion, attempt=None, max_attempts=loaded.max_attempts)
    return conclusion, said


def _lost_tier(done: Sequence[TierReport], error: str) -> TierReport:
    tier = 1 + max((report.tier for report in done), default=0)
    return TierReport(tier=tier, status=Status.ERROR, detail=error[:MAX_DETAIL])


def _nonce(wanted: Wanted, loaded: Loaded) -> str:
    """Votes of both sides are the same where their questions are; an A/A pair has its own."""
    return "" if wanted.purpose is Purpose.AA else loaded.live_uuid.hex


def _unstored(wanted: Wanted) -> Begun:
    """An evaluation that is stored when it has ended: it asks nobody, and nothing names it."""
    return Begun(
        0, uuid.uuid4(), wanted.purpose, wanted.process_version_id, wanted.verifier_version_id
    )
