from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from typing import Any

from celery.signals import worker_process_init, worker_ready
from django.core.management import call_command
from django.db import DatabaseError, connection

from loomverify.celery import BULK, LIVE, SANDBOX, app
from verification.runs import heartbeats, retention, worker
from verification.runs.gating import engine
from verification.runs.viewing import kept
from verification.runs.wake import EVALUATE, EVALUATE_IN_SANDBOX

logger = logging.getLogger(__name__)

BEAT_SECONDS = 5.0


@app.task(name=EVALUATE)
def evaluate(run_id: int) -> None:
    worker.work_on(run_id)


@app.task(name=EVALUATE_IN_SANDBOX)
def evaluate_in_sandbox(run_id: int) -> None:
    worker.work_on(run_id, in_sandbox=True)


@app.task(name="verification.runs.keep_house", queue=BULK)
def keep_house() -> None:
    retention.purge_expired()
    retention.sweep_content()
    kept.sweep()
    retention.forget_spent()
    call_command("clearsessions")
    for tidy in retention.TIDIED_ELSEWHERE:
        tidy()


@worker_process_init.connect
def warm_up(**_: Any) -> None:
    """The first run need not wait for the probe's child."""
    worker.probe().start()


@worker_ready.connect
def start_heartbeat(sender: Any, **_: Any) -> None:
    queues = sender.app.amqp.queues.consume_from
    told = (role_of(queues), SANDBOX in queues)
    threading.Thread(target=_beat_forever, args=told, daemon=True).start()


def role_of(queues: Iterable[str]) -> str:
    """One that takes no live run says nothing of those that do."""
    if LIVE in queues:
        return heartbeats.WORKER
    return heartbeats.WORKER_SANDBOX if SANDBOX in queues else heartbeats.WORKER_BESIDE


def _beat_forever(role: str, serves_sandbox: bool) -> None:
    pause = threading.Event()
    while True:
        try:
            if role != heartbeats.WORKER_SANDBOX:
                heartbeats.beat(role)
            if serves_sandbox and engine.answers():
                heartbeats.beat(heartbeats.WORKER_SANDBOX)
        except DatabaseError as error:
            logger.warning("heartbeat_failed error=%s", type(error).__name__)
        connection.close()  # a forked child must not inherit it
        pause.wait(BEAT_SECONDS)
