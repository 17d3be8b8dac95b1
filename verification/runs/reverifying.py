"""Verifying once more, never redoing the work: by itself while doubt may pass, and on demand."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Case, F, Max, Value, When
from django.utils import timezone

from loomverify.accounts.access import Actor
from loomverify.accounts.audit import record
from loomverify.errors import Conflict
from verification.engine.climb import Conclusion
from verification.engine.outcome import COUNTING, Purpose
from verification.engine.verifier import ENGINE_BUILD
from verification.runs import events, figures
from verification.runs.models import Evaluation, Run, RunState
from verification.runs.wake import waker
from verification.runs.work import Work
from verification.verifiers.models import VerifierVersion

LONGEST_PAUSE_SECONDS = 900.0
JITTER = 0.2


@dataclass(frozen=True, slots=True)
class Turn:
    """When a run verifies itself again, and until when it goes on doing so."""

    at: datetime
    until: datetime


def next_turn(
    work: Work, conclusion: Conclusion, *, now: datetime, retry_after: float = 0.0
) -> Turn | None:
    """When to verify again by itself. None: the doubt will not pass, or the time is up.

    The last turn is at the deadline. `retry_after` (seconds) is what the judge asked for.
    """
    if not conclusion.may_pass:
        return None
    since = work.undecided_since or now
    return turn_after(_turns_before(work), since=since, now=now, retry_after=retry_after)


def turn_after(
    turns_before: int, *, since: datetime, now: datetime, retry_after: float = 0.0
) -> Turn | None:
    """The next turn of a doubt that began at `since`. None: the time is up."""
    until = deadline(since)
    if now >= until:
        return None
    pause = max(_pause_seconds(turns_before), retry_after)
    return Turn(min(now + timedelta(seconds=pause), until), until)


def _turns_before(work: Work) -> int:
    """In this doubt: one that a person asked for begins anew."""
    if work.undecided_since is None:
        return 0
    doubtful = Evaluation.objects.filter(
        run=work.run_id,
        purpose__in=COUNTING,
        finished_at__gte=work.undecided_since,
    )
    return doubtful.count()


def deadline(undecided_since: datetime) -> datetime:
    return undecided_since + timedelta(seconds=settings.REVERIFY_DEADLINE_SECONDS)


def _pause_seconds(turns_before: int) -> float:
    first: float = settings.REVERIFY_FIRST_PAUSE_SECONDS
    pause = min(first * 2.0 ** min(turns_before, 10), LONGEST_PAUSE_SECONDS)
    return pause * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311 - apart from each other


def reverify_run(*, run: Run, actor: Actor) -> None:
    """Evaluate a run once more, never redoing the work.

    A run that is over is evaluated whole, with the verifier version active now; what was
    concluded before stays as its own evaluation. One that waits to verify itself again does
    so at once, and keeps its version.

    Raises:
        Conflict: the run is being verified.
    """
    with transaction.atomic():
        if not (_brought_forward(run) or _begun_anew(run, actor)):
            raise Conflict(
                "run.not_finished",
                "Only a run that is over, or waits for its judge, can be verified again.",
            )
        record(actor, "run.reverified", run, project=run.project)
        transaction.on_commit(waker(run.pk, asks_gates=run.asks_gates))


def _brought_forward(run: Run) -> bool:
    waiting = Run.objects.filter(pk=run.pk, state=RunState.QUEUED, lease_until__isnull=False)
    return bool(waiting.update(lease_until=None, next_at=timezone.now()))


def _begun_anew(run: Run, actor: Actor) -> bool:
    """What is in doubt after it keeps this version, as it would after a submission."""
    now = timezone.now()
    verifier = VerifierVersion.objects.get(project=run.project_id, is_active=True)
    if not _reopened(run, verifier, now):
        return False
    before = Evaluation.objects.filter(run=run, purpose=Purpose.REVERIFY)
    Evaluation.objects.create(
        run=run,
        purpose=Purpose.REVERIFY,
        seq=(before.aggregate(last=Max("seq"))["last"] or 0) + 1,
        process_version_id=run.process_version_id,
        verifier_version=verifier,
        engine_build=ENGINE_BUILD,
        started_at=now,
    )
    told = {
        "purpose": Purpose.REVERIFY,
        "by": actor.name,
        "verifier_version": verifier.number,
    }
    events.append(run.pk, [("evaluation_started", told)], at=now)
    figures.mark_dirty(run)
    return True


def _reopened(run: Run, verifier: VerifierVersion, now: datetime) -> bool:
    over = Run.objects.filter(pk=run.pk, state__in=(RunState.FINISHED, RunState.ERRORED))
    won = over.update(
        state=RunState.QUEUED,
        verifier_version=verifier,
        outcome=None,
        verdict="",
        # What a person decided stays decided.
        final_outcome=Case(
            When(review_state="decided", then=F("final_outcome")), default=Value("")
        ),
        # Nobody may act on what is in doubt again, least of all when the answer gets lost.
        reason_code="",
        severity_class="",
        confidence=None,
        vote_share=None,
        confidence_level="",
        action="",
        retry_strategy="",
        rerun_execution=False,
        result=None,
        finished_at=None,
        error_text="",
        undecided_since=None,
        fence=F("fence") + 1,
        claims=0,
        next_at=now + timedelta(seconds=1),
    )
    return bool(won)
