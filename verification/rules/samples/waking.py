"""Wake-ups for the workers of a sample."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta

from django.utils import timezone
from kombu.exceptions import OperationalError

from loomverify.celery import BULK, app
from verification.rules.models import Sample, SampleState

logger = logging.getLogger(__name__)

WORK_TASK = "verification.rules.work_on_sample"
MESSAGE_LIFE_SECONDS = 600
MOST_WORKERS = 4
AGAIN = timedelta(seconds=15)
"""A sample that nobody has worked on for so long is woken again."""
SWEEP_BATCH = 50


def waker(sample_id: int, runs: int) -> Callable[[], None]:
    """To be called when the sample is stored: judges are waited for side by side."""

    def send() -> None:
        for _ in range(min(MOST_WORKERS, runs)):
            if not wake(sample_id):
                return

    return send


def wake(sample_id: int) -> bool:
    """Send one wake-up. False: the broker is away, the sweep will do it."""
    try:
        app.send_task(
            WORK_TASK, args=(sample_id,), queue=BULK, expires=MESSAGE_LIFE_SECONDS, retry=False
        )
    except (OperationalError, OSError) as error:
        logger.warning("sample_not_woken sample=%s error=%s", sample_id, type(error).__name__)
        return False
    return True


def sweep() -> int:
    """Wake samples that nobody works on; return how many. The relay calls this."""
    now = timezone.now()
    due = Sample.objects.filter(state=SampleState.OPEN, next_at__lte=now).order_by("next_at")
    woken = 0
    for pk, seen in list(due.values_list("pk", "next_at")[:SWEEP_BATCH]):
        # Of two relays one wakes.
        if Sample.objects.filter(pk=pk, next_at=seen).update(next_at=now + AGAIN):
            wake(pk)
            woken += 1
    return woken
