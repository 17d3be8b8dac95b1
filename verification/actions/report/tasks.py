"""Celery's entrances; `verification.actions.tasks` brings them in."""

from __future__ import annotations

from loomverify.celery import app
from verification.actions.report import mailing, schedule


@app.task(name=schedule.MAKE_TASK)
def make_report(settings_id: int) -> None:
    schedule.make(settings_id)


@app.task(name=mailing.SEND_TASK)
def send_mail(mail_id: int) -> None:
    mailing.send(mail_id)
