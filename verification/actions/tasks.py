from __future__ import annotations

from loomverify.celery import app
from verification.actions import services


@app.task(name=services.DELIVER_TASK)
def deliver(delivery_id: int, attempt: int) -> None:
    services.deliver(delivery_id=delivery_id, attempt=attempt)
