"""Finished runs become comparisons of the trials that run: found by the relay, drawn by lot."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from verification.trials.drawing import drawn_sql
from verification.trials.models import Trial, TrialState
from verification.trials.queueing import queue_runs
from verification.trials.working import waking

LOOK_BACK = timedelta(minutes=1)
"""A run's end is stored a moment after the time that stands in it."""
AT_ONCE = 500
_NEW = f"""
    run.finished_at > %(since)s
    and {drawn_sql(trial="%(uuid)s", run="run.uuid", rate="%(sample_rate)s")}
"""


def sample() -> int:
    """Queue what finished since it was looked last; return how many runs it was."""
    running = Trial.objects.filter(state=TrialState.RUNNING, sample_rate__gt=0)
    return sum(take_new(trial) for trial in running.order_by("pk"))


def take_new(trial: Trial) -> int:
    """Queue a trial's new runs. It has them once, however often it is looked."""
    now = timezone.now()
    since = max(trial.seen_until - LOOK_BACK, trial.created_at)
    given = {"since": since, "sample_rate": trial.sample_rate}
    with transaction.atomic():
        found = queue_runs(trial, _NEW, given, limit=AT_ONCE)
        running = Trial.objects.filter(pk=trial.pk, state=TrialState.RUNNING)
        # What does not fit is found again: what was taken is not in its way then.
        seen_until = now if found < AT_ONCE else trial.seen_until
        if not running.update(seen_until=seen_until):
            transaction.set_rollback(True)
            return 0
        # It may sleep for longer, until a judge that was away is asked again.
        sleeping = Q(next_at=None) | Q(next_at__gt=now + waking.AGAIN)
        if found and running.filter(sleeping).update(next_at=now + waking.AGAIN):
            transaction.on_commit(waking.waker(trial.pk, found))
    return found
