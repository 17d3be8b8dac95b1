"""The relay: wakes what is due, hands on events, keeps the figures. One process, one loop."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from queue import Empty, SimpleQueue
from types import FrameType

from django.db import DatabaseError, connection
from django.utils import timezone

from loomverify.celery import LIVE, SANDBOX
from verification.runs import figures, flags, heartbeats, outbox
from verification.runs.remediations import services as remediations
from verification.runs.wake import queue_of, waiting, wake

logger = logging.getLogger(__name__)

SWEEP_SECONDS = 1.0
SWEEP_BATCH = 500
DISPATCHES_A_TURN = 5
WAKE_AGAIN_SECONDS = 5
"""A queued run that was woken may be waiting behind others: it is not woken every second."""


def relay_forever() -> None:
    """Turn until SIGTERM or SIGINT."""
    asked_to_stop: SimpleQueue[int] = SimpleQueue()  # a handler may put, whatever it interrupts

    def stop(number: int, _frame: FrameType | None) -> None:
        asked_to_stop.put(number)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    while True:
        began = time.monotonic()
        turn()
        with suppress(Empty):
            asked_to_stop.get(timeout=max(0.05, SWEEP_SECONDS - (time.monotonic() - began)))
            return


def turn() -> None:
    """Do everything once. One part's failure does not keep the others from their turn."""
    for part in PARTS:
        _do(part)


def _do(part: Callable[[], object]) -> None:
    name = f"{part.__module__}.{part.__name__}"
    try:
        part()
    except DatabaseError as error:
        logger.warning("relay_lost_database part=%s error=%s", name, error)
        connection.close()
    except Exception:
        logger.exception("relay_failed part=%s", name)


def sweep_runs() -> int:
    """Wake runs that are due: never woken, woken in vain, or their worker was lost.

    Those that ask for gates are told apart, while there is a sandbox: they wait for each other.
    """
    if queue_of(asks_gates=True) == LIVE:
        return _sweep(LIVE, asks_gates=(False, True))
    return _sweep(LIVE, asks_gates=(False,)) + _sweep(SANDBOX, asks_gates=(True,))


def _sweep(queue: str, *, asks_gates: Sequence[bool]) -> int:
    """Messages that wait already are counted in: a stopped worker finds a bounded number."""
    room = SWEEP_BATCH - waiting(queue=queue)
    if room <= 0:
        return 0
    now = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute(
            """
            with due as materialized (  -- once: a subquery may be asked again for each row
                select id from runs_run
                where state in ('queued', 'running') and next_at <= %s and asks_gates = any(%s)
                order by next_at limit %s for update skip locked
            )
            update runs_run set next_at = case state when 'queued' then %s else next_at end
            where id in (select id from due)
            returning id
            """,
            [now, list(asks_gates), room, now + timedelta(seconds=WAKE_AGAIN_SECONDS)],
        )
        due = [row[0] for row in cursor.fetchall()]
    for run_id in due:
        if not wake(run_id, queue=queue):
            break
    return len(due)


def dispatch_outbox() -> None:
    """Hand on so much a turn: due runs do not wait behind a long backlog."""
    for _ in range(DISPATCHES_A_TURN):
        if outbox.dispatch() < outbox.DISPATCH_BATCH:
            return


def sweep_rooms() -> None:
    for sweep in outbox.sweeps():
        _do(sweep)


def sweep_remediations() -> None:
    remediations.sweep()


def expire_reviews() -> None:
    flags.expire(now=timezone.now())


def refresh_figures() -> None:
    figures.refresh_dirty_hours(limit=24)


def beat() -> None:
    heartbeats.beat("relay")


PARTS: tuple[Callable[[], object], ...] = (
    sweep_runs,
    dispatch_outbox,
    sweep_rooms,
    sweep_remediations,
    expire_reviews,
    refresh_figures,
    beat,
)
