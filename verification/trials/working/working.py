"""The workers' side of a trial: take some comparisons, make both sides, store what differs."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from django.db import InterfaceError, OperationalError

from verification.runs.leases import HEART
from verification.trials.models import Trial
from verification.trials.working import claiming, limits, making, sampling, waking
from verification.trials.working.claiming import Batch, Claimed

logger = logging.getLogger(__name__)

TURN_SECONDS = 10.0
"""Then the trial goes on with a fresh message, behind what came meanwhile."""


def work_on(trial_id: int, *, seconds: float = TURN_SECONDS) -> None:
    """Make comparisons until none can be had, a live run waits, or the time is up.

    One that breaks is told as such, and ends nothing but itself.
    """
    related = ("project", "process", "baseline_verifier", "candidate_verifier")
    trial = Trial.objects.select_related(*related).filter(pk=trial_id).first()
    if trial is None:
        return
    until = time.monotonic() + seconds
    if not limits.stopped(trial):
        limits.stopped_for_latency(trial)
    while claimed := claiming.claim(trial.pk, batch=waking.BATCH):
        if limits.live_waits():
            claiming.give_back(claimed)
            limits.pause(trial_id)
            return
        _work_off(trial, claimed)
        if time.monotonic() >= until:
            waking.wake(trial_id)
            return
    claiming.rest(trial_id)


def sweep() -> int:
    """What the relay does for trials: queue new runs, wake workers, end what is over."""
    return limits.end_overdue() + sampling.sample() + waking.sweep()


def _work_off(trial: Trial, claimed: Sequence[Claimed]) -> None:
    """Make a batch; what the time does not hold is given back."""
    batch = Batch(trial.pk, claimed)
    HEART.keep(batch)
    try:
        made = making.make(trial, claimed)
    except (InterfaceError, OperationalError):
        raise
    except Exception:
        # What cannot be stored together is made one by one: then it is known which it is.
        logger.exception("comparisons_failed trial=%s count=%s", trial.pk, len(claimed))
        claiming.give_back(claimed, is_untouched=False)
    else:
        claiming.give_back(made.left)
        limits.stopped(trial, has_failed=made.has_failed, has_asked_in_vain=made.is_lost)
    finally:
        HEART.drop(batch)
