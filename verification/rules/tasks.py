from __future__ import annotations

from loomverify.celery import BULK, app
from verification.rules.samples import working
from verification.rules.samples.waking import WORK_TASK


@app.task(name=WORK_TASK, queue=BULK)
def work_on_sample(sample_id: int) -> None:
    working.work_on(sample_id)
