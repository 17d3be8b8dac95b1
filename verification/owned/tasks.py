from __future__ import annotations

from loomverify.celery import BULK, app
from verification.owned import removal


@app.task(name=removal.REMOVE_TASK, queue=BULK)
def remove() -> None:
    removal.go_on()
