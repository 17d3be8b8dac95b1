"""Wake-ups for the workers of a replay, and word to whoever waits for its end."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from django.db import connection
from django.utils import timezone
from kombu.exceptions import OperationalError

from loomverify.celery import BULK, app
from verification.golden.models import OPEN_STATES, Replay
from verification.runs.models import RUN_OVER

logger = logging.getLogger(__name__)

WORK_TASK = "verification.golden.work_on_replay"
MESSAGE_LIFE_SECONDS = 600
BATCH = 20
"""So many cases a worker takes at a time."""
MOST_WORKERS = 4
AGAIN = timedelta(seconds=15)
"""A replay that nobody has worked on for so long is woken again."""
SWEEP_BATCH = 50


def waker(replay_id: int, cases: int) -> Callable[[], None]:
    """To be called when the replay is stored: wakes as many workers as are of use."""

    def send() -> None:
        for _ in range(min(MOST_WORKERS, -(-cases // BATCH))):
            if not wake(replay_id):
                return

    return send


def wake(replay_id: int) -> bool:
    """Send one wake-up. False: the broker is away, the sweep will do it."""
    try:
        app.send_task(
            WORK_TASK, args=(replay_id,), queue=BULK, expires=MESSAGE_LIFE_SECONDS, retry=False
        )
    except (OperationalError, OSError) as error:
        logger.warning("replay_not_woken replay=%s error=%s", replay_id, type(error).__name__)
        return False
    return True


def sweep() -> int:
    """Wake replays that nobody works on; return how many. The relay calls this."""
    now = timezone.now()
    due = Replay.objects.filter(state__in=OPEN_STATES, next_at__lte=now).order_by("next_at")
    found = list(due.values_list("pk", "next_at", "total")[:SWEEP_BATCH])
    woken = 0
    for pk, seen, total in found:
        # Of two relays one wakes.
        if Replay.objects.filter(pk=pk, next_at=seen).update(next_at=now + AGAIN):
            waker(pk, total)()
            woken += 1
    return woken


def tell(replay: UUID) -> None:
    """Tell whoever waits over the API, when this transaction is committed."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_notify(%s, %s)", [RUN_OVER, str(replay)])
