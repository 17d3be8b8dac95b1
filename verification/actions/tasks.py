from __future__ import annotations

from datetime import datetime
from functools import partial

from celery.signals import worker_process_shutdown

from loomverify.celery import app
from verification.actions import services
from verification.actions.landing import working
from verification.actions.outbound import OUTBOUND
from verification.actions.report.tasks import make_report, send_mail
from verification.actions.sending import TIMEOUT_SECONDS

__all__ = ["act", "make_report", "send_mail", "serve"]


@app.task(name=services.SERVE_TASK)
def serve(webhook_id: int, taken_until: str) -> None:
    """Begun here, and waited for elsewhere; where there is no place, it is asked for again."""
    until = datetime.fromisoformat(taken_until)
    OUTBOUND.start(partial(services.serve, webhook_id=webhook_id, taken_until=until))


@worker_process_shutdown.connect
def _end_what_is_sent(**_signal: object) -> None:
    OUTBOUND.wait(TIMEOUT_SECONDS)


@app.task(name=working.ACT_TASK)
def act(action_id: int, attempt: int) -> None:
    working.act(action_id=action_id, attempt=attempt)
