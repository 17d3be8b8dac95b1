from __future__ import annotations

from loomverify.celery import app
from verification.reviews.notices import services


@app.task(name=services.SEND_TASK)
def send_notice(preference_id: int) -> None:
    services.send_notice(preference_id)
