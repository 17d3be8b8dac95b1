"""Wake-ups for the workers of a trial."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta

from django.utils import timezone
from kombu.exceptions import OperationalError

from loomverify.celery import SHADOW, app
from verification.trials.models import Comparison, Trial

logger = logging.getLogger(__name__)

WORK_TASK = "verification.trials.work_on_trial"
MESSAGE_LIFE_SECONDS = 600
BATCH = 50
"""So many comparisons that ask no judge a worker takes at a time."""
MOST_WORKERS = 4
AGAIN = timedelta(seconds=15)
"""A trial that nobody has worked on for so long is woken again."""
SWEEP_BATCH = 50


def waker(trial_id: int, comparisons: int) -> Callable[[], None]:
    """To be called when comparisons are stored: wakes as many workers as are of use."""

    def send() -> None:
        for _ in range(min(MOST_WORKERS, -(-comparisons // BATCH))):
            if not wake(trial_id):
                return

    return send


def wake(trial_id: int) -> bool:
    """Send one wake-up. False: the broker is away, the sweep will do it."""
    try:
        app.send_task(
            WORK_TASK, args=(trial_id,), queue=SHADOW, expires=MESSAGE_LIFE_SECONDS, retry=False
        )
    except (OperationalError, OSError) as error:
        logger.warning("trial_not_woken trial=%s error=%s", trial_id, type(error).__name__)
        return False
    return True


def sweep() -> int:
    """Wake trials that wait, and that nobody works on; return how many. The relay calls this."""
    now = timezone.now()
    due = Trial.objects.filter(next_at__lte=now).order_by("next_at")
    woken = 0
    for pk, seen in list(due.values_list("pk", "next_at")[:SWEEP_BATCH]):
        # Of two relays one wakes.
        if Trial.objects.filter(pk=pk, next_at=seen).update(next_at=now + AGAIN):
            waker(pk, _waiting(pk))()
            woken += 1
    return woken


def _waiting(trial_id: int) -> int:
    """At least one: with none, a worker lays the trial to rest."""
    rows = Comparison.objects.filter(trial=trial_id, compared_at__isnull=True).order_by()
    return max(1, rows.values("pk")[: MOST_WORKERS * BATCH].count())
