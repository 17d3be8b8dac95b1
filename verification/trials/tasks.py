from __future__ import annotations

from loomverify.celery import SHADOW, app
from verification.trials.working import working
from verification.trials.working.waking import WORK_TASK


@app.task(name=WORK_TASK, queue=SHADOW)
def work_on_trial(trial_id: int) -> None:
    working.work_on(trial_id)
