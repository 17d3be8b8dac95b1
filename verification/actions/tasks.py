from __future__ import annotations

from loomverify.celery import app
from verification.actions import services
from verification.actions.landing import working
from verification.actions.report.tasks import make_report, send_mail

__all__ = ["act", "deliver", "make_report", "send_mail"]


@app.task(name=services.DELIVER_TASK)
def deliver(delivery_id: int, attempt: int) -> None:
    services.deliver(delivery_id=delivery_id, attempt=attempt)


@app.task(name=working.ACT_TASK)
def act(action_id: int, attempt: int) -> None:
    working.act(action_id=action_id, attempt=attempt)
