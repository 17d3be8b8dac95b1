"""A trial never costs what it may not, and never keeps live runs waiting: it stops itself."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Min, Q
from django.utils import timezone

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.audit import record
from verification.runs.models import Run, RunState
from verification.trials.models import (
    Comparison,
    Origin,
    StopReason,
    Trial,
    TrialReplay,
    TrialState,
)
from verification.trials.replays.services import MAX_CANCEL_TEXT
from verification.trials.services import stopping
from verification.trials.working import claiming

logger = logging.getLogger(__name__)

LIVE_WAITS_SECONDS = 5
"""While a live run has been waiting for longer, no comparison is begun."""
PAUSE = timedelta(seconds=5)
SLOW_SECONDS = 10.0
SLOW_SPAN = timedelta(minutes=15)
FEWEST = 20
"""Fewer runs, or fewer comparisons, say nothing."""
MOST_RUNS = 2_000
LAST = 50
MOST_FAILED = 0.2
_WAITED = """
    with begun as (
        select started_at - created_at as waited from runs_run
        where project_id = %(project)s and created_at > %(since)s and started_at is not null
        order by created_at desc limit %(most)s
    ), waiting as (  -- so long at least, and since the trial began
        select %(now)s - greatest(created_at, %(since)s) as waited from runs_run
        where project_id = %(project)s and state = 'queued' and started_at is null
        limit %(most)s
    )
    select percentile_cont(0.95) within group (order by extract(epoch from waited)::float), count(*)
    from (select * from begun union all select * from waiting) recent
"""


def stopped(trial: Trial, *, has_failed: bool = False, has_asked_in_vain: bool = False) -> bool:
    """Stop a trial that has reached a limit, with its replays. True: it has reached one.

    A spent budget leaves replays of the corpus: they cost nothing. `has_failed`: something broke
    since it was looked last. `has_asked_in_vain`: a question could not be paid for.
    """
    trial.refresh_from_db(fields=["state", "cost_usd", "budget_usd", "ends_at"])
    if trial.is_running and trial.ends_at and trial.ends_at <= timezone.now():
        end(trial)
    spent = trial.budget_usd is not None and trial.cost_usd >= trial.budget_usd
    if spent and (trial.cost_usd or has_asked_in_vain):
        text = f"Its budget of {_usd(trial.budget_usd)} is spent: {_usd(trial.cost_usd)} so far."
        return _stop(trial, StopReason.BUDGET, text, origins=(Origin.PAST,))
    if has_failed and (text := _errors(trial)):
        return _stop(trial, StopReason.ERRORS, text)
    return False


def stopped_for_latency(trial: Trial) -> bool:
    """Stop a trial while which live runs had to wait."""
    now = timezone.now()
    since = max(now - SLOW_SPAN, _began(trial))
    given: dict[str, Any] = {
        "project": trial.project_id,
        "since": since,
        "now": now,
        "most": MOST_RUNS,
    }
    with connection.cursor() as cursor:
        cursor.execute(_WAITED, given)
        waited, count = cursor.fetchone()
    if count < FEWEST or waited <= SLOW_SECONDS:
        return False
    text = (
        f"Of the {count:,} live runs that came, or waited, in the last quarter of an hour, one in "
        f"twenty waited longer than {waited:.0f} s for a worker; {SLOW_SECONDS:.0f} s is the limit."
    )
    return _stop(trial, StopReason.LATENCY, text)


def _began(trial: Trial) -> datetime:
    """Since when it works: one that is over does by its replays alone."""
    if trial.is_running:
        return trial.created_at
    replays = TrialReplay.objects.filter(trial=trial, finished_at__isnull=True)
    return replays.aggregate(at=Min("created_at"))["at"] or trial.created_at


def live_waits(now: datetime | None = None) -> bool:
    """Whether a live run is due, and has been for longer than it should."""
    late = (now or timezone.now()) - timedelta(seconds=LIVE_WAITS_SECONDS)
    new = Q(started_at__isnull=True, created_at__lte=late)
    again = Q(started_at__isnull=False, lease_until__lte=late)
    brought_forward = Q(started_at__isnull=False, lease_until=None)  # somebody waits for it
    return Run.objects.filter(new | again | brought_forward, state=RunState.QUEUED).exists()


def pause(trial_id: int) -> None:
    """The relay wakes it again."""
    Trial.objects.filter(pk=trial_id).update(next_at=timezone.now() + PAUSE)


def end_overdue() -> int:
    """End running trials whose time is over; return how many. The relay calls this."""
    over = Trial.objects.filter(state=TrialState.RUNNING, ends_at__lte=timezone.now())
    return sum(end(trial) for trial in over.order_by("pk"))


def end(trial: Trial) -> bool:
    """At the end of its time. Replays that are under way go on."""
    with transaction.atomic():
        won = stopping.close(
            trial,
            state=TrialState.ENDED,
            reason=StopReason.TIME,
            text=f"It was to run until {trial.ends_at:%Y-%m-%d %H:%M} UTC.",
        )
        claiming.forget_unwanted(trial)
    return won


def _errors(trial: Trial) -> str:
    done = Comparison.objects.filter(trial=trial, compared_at__gte=_began(trial))
    last = list(done.order_by("-compared_at").values_list("has_failed", flat=True)[:LAST])
    failed = sum(last)
    if len(last) < FEWEST or failed <= MOST_FAILED * len(last):
        return ""
    return f"A verification broke in {failed} of the last {len(last)} comparisons."


def _stop(
    trial: Trial, reason: StopReason, text: str, *, origins: Sequence[Origin] = tuple(Origin)
) -> bool:
    with transaction.atomic():
        stopping.close(trial, state=TrialState.STOPPED, reason=reason, text=text)
        replays = TrialReplay.objects.filter(trial=trial, origin__in=origins)
        open_ones = replays.filter(finished_at__isnull=True)
        for replay in open_ones.select_for_update():
            replay.is_cancelled, replay.finished_at = True, timezone.now()
            replay.cancel_text = text[:MAX_CANCEL_TEXT]
            replay.save(update_fields=["is_cancelled", "cancel_text", "finished_at"])
            record(SYSTEM, "trial_replay.cancelled", replay, project=trial.project, reason=text)
        claiming.forget_unwanted(trial)
    logger.info("trial_stopped trial=%s reason=%s", trial.pk, reason)
    return True


def _usd(amount: object) -> str:
    return f"{amount:.4f} USD"
