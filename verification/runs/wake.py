"""Wake-up messages. Losing any of them costs a second: the relay sweeps due rows."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from kombu.exceptions import ChannelError, OperationalError

from loomverify.celery import LIVE, SANDBOX, app
from verification.runs import heartbeats

logger = logging.getLogger(__name__)

EVALUATE = "verification.runs.evaluate"
EVALUATE_IN_SANDBOX = "verification.runs.evaluate_in_sandbox"
BROKER_PAUSE_SECONDS = 5.0
MESSAGE_LIFE_SECONDS = 600

_broker_down_until = 0.0


def waiting(*, queue: str = LIVE) -> int:
    """How many wake-ups wait for a worker; 0 where the broker does not tell."""
    try:
        with app.connection_for_write(connect_timeout=1) as broker:
            channel: Any = broker.default_channel
            return int(channel.queue_declare(queue, passive=True).message_count)
    except (OperationalError, ChannelError, OSError):
        return 0


def wake(run_id: int, *, queue: str = LIVE) -> bool:
    """Send a wake-up for a run. False: the broker is away, the sweep will do it."""
    global _broker_down_until
    if time.monotonic() < _broker_down_until:
        return False
    task = EVALUATE_IN_SANDBOX if queue == SANDBOX else EVALUATE
    try:
        app.send_task(task, args=(run_id,), queue=queue, expires=MESSAGE_LIFE_SECONDS, retry=False)
    except (OperationalError, OSError) as error:
        _broker_down_until = time.monotonic() + BROKER_PAUSE_SECONDS
        logger.warning("broker_unreachable error=%s", type(error).__name__)
        return False
    return True


def queue_of(*, asks_gates: bool) -> str:
    """Where a run is taken: gates need a sandbox, and say so themselves where there is none."""
    return SANDBOX if asks_gates and heartbeats.is_alive(heartbeats.WORKER_SANDBOX) else LIVE


def waker(run_id: int, *, asks_gates: bool = False) -> Callable[[], None]:
    """To be called when what the worker needs is committed."""

    def send() -> None:
        wake(run_id, queue=queue_of(asks_gates=asks_gates))

    return send
