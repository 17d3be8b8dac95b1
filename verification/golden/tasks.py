from __future__ import annotations

from loomverify.celery import BULK, app
from verification.golden.replays import keeping, notices, schedule, working
from verification.golden.replays.waking import WORK_TASK


@app.task(name=WORK_TASK, queue=BULK)
def work_on_replay(replay_id: int) -> None:
    working.work_on(replay_id)


@app.task(name="verification.golden.start_nightly", queue=BULK)
def start_nightly() -> None:
    if schedule.start_due():
        keeping.thin()


@app.task(name=notices.SEND_TASK, queue=BULK)
def send_notice(notice_id: int) -> None:
    notices.send(notice_id)
