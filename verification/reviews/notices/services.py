"""Notices to reviewers: who is woken for, what is sent, and what members choose.

A notice is sent **at least once**: first the mail, then the mark in `sent_at`. A worker that dies
between the two sends the same again; the other way round a notice would be lost, and a queue that
nobody hears of is worse than a mail too many. While one worker sends, an advisory lock keeps every
other from the same member.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from smtplib import SMTPException
from uuid import UUID

from django.db import connection
from django.utils import timezone
from kombu.exceptions import OperationalError

from loomverify.accounts.access import Access
from loomverify.accounts.models import Member
from loomverify.celery import BULK, app
from loomverify.errors import InputError
from verification.reviews.models import Notice, NoticePreference
from verification.reviews.notices import mailing, telling
from verification.reviews.notices.due import Due, due

logger = logging.getLogger(__name__)

SEND_TASK = "verification.reviews.send_notice"
MESSAGE_LIFE_SECONDS = 600
SWEEP_BATCH = 200
FIRST_WAIT = timedelta(seconds=30)
LONGEST_WAIT = timedelta(minutes=5)
LOOKS_EVERY = timedelta(seconds=5)
LOCK_SPACE = 0x6E6F7465
"""Parts our advisory locks from others'."""


@dataclass(frozen=True, slots=True)
class Woken:
    told_until: datetime | None
    times: int
    again_at: datetime


@dataclass(slots=True)
class Pace:
    """Who was woken for, and when again: each time twice as long, at most five minutes.

    Kept by the relay in memory. What it forgets when it is started anew costs one message.
    """

    woken: dict[int, Woken] = field(default_factory=dict)
    looks_at: datetime | None = None

    def may_look(self, now: datetime) -> bool:
        """The relay turns every second; what is due is looked for less often."""
        if self.looks_at and self.looks_at - LOOKS_EVERY <= now < self.looks_at:
            return False
        self.looks_at = now + LOOKS_EVERY
        return True

    def ready(self, found: list[Due], now: datetime) -> list[Due]:
        """Those whose time it is; what is due no longer is forgotten."""
        self.woken = {
            one.preference: self.woken[one.preference]
            for one in found
            if one.preference in self.woken and self.woken[one.preference].told_until == one.sent_at
        }
        return [one for one in found if self._is_ready(one.preference, now)]

    def wake(self, one: Due, now: datetime) -> None:
        before = self.woken.get(one.preference)
        times = before.times if before else 0
        wait = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(times, 10))
        self.woken[one.preference] = Woken(one.sent_at, times + 1, now + wait)

    def _is_ready(self, preference: int, now: datetime) -> bool:
        before = self.woken.get(preference)
        return before is None or before.again_at <= now


_pace = Pace()


def sweep(*, pace: Pace = _pace, now: datetime | None = None) -> int:
    """Wake a worker for each notice that is due; return how many. The relay calls this."""
    now = now or timezone.now()
    if not mailing.is_set_up() or not pace.may_look(now):
        return 0
    return wake(SEND_TASK, due(now), pace=pace, now=now)


def wake(task: str, found: list[Due], *, pace: Pace, now: datetime) -> int:
    """Send this task for those whose time it is; return how many: none while the broker is away."""
    ready = pace.ready(found, now)[:SWEEP_BATCH]
    try:
        for one in ready:
            app.send_task(
                task,
                args=(one.preference,),
                queue=BULK,
                expires=MESSAGE_LIFE_SECONDS,
                retry=False,
            )
            pace.wake(one, now)
    except (OperationalError, OSError):
        logger.warning("notices_not_woken task=%s count=%d", task, len(ready))
        return 0
    return len(ready)


def send_notice(preference_id: int, *, now: datetime | None = None) -> bool:
    """Tell a member what is new. False: nothing is due, another sends it, or the server refused.

    What was refused stays due, and the relay wakes for it again.
    """
    now = now or timezone.now()
    with only_one(preference_id) as is_mine:
        if not is_mine or not due(now, only=preference_id):
            return False
        rows = NoticePreference.objects.select_related("member__user", "member__project")
        preference = rows.filter(pk=preference_id).first()
        if preference is None:
            return False
        told = telling.told(preference, now=now)
        if not told.waiting:
            return False
        try:
            mailing.send(preference.member, told)
        except (OSError, SMTPException) as error:
            logger.warning(
                "notice_failed preference=%d error=%s", preference_id, type(error).__name__
            )
            return False
        NoticePreference.objects.filter(pk=preference_id).update(sent_at=now)
    logger.info(
        "notice_sent preference=%d new=%d waiting=%d", preference_id, told.new, told.waiting
    )
    return True


def preference_of(access: Access) -> NoticePreference:
    """What this member chose; not stored where they chose nothing."""
    member = Member.objects.select_related("user", "project").get(
        project=access.project, user=access.actor.user
    )
    found = NoticePreference.objects.filter(member=member).first()
    return found or NoticePreference(member=member)


def choose(*, access: Access, notice: Notice, min_urgency: int) -> None:
    """Set when this member is told, and from which urgency, 0 to 100."""
    preference = preference_of(access)
    NoticePreference.objects.update_or_create(
        member=preference.member, defaults={"notice": notice, "min_urgency": min_urgency}
    )


def send_example(*, access: Access) -> str:
    """Mail this member an example; return the address.

    Raises:
        InputError: `notice.no_mail_server`, `notice.no_address`, `notice.refused`.
    """
    member = preference_of(access).member
    if not mailing.is_set_up():
        raise InputError(
            "notice.no_mail_server",
            "No mail server is set up: whoever runs this installation sets EMAIL_URL.",
        )
    if not member.user.email:
        raise InputError("notice.no_address", "You have no e-mail address yet.")
    shown = telling.example(member.project, now=timezone.now())
    try:
        mailing.send(member, shown, is_example=True)
    except (OSError, SMTPException) as error:
        logger.warning("notice_example_failed error=%s", type(error).__name__)
        raise InputError(
            "notice.refused", f"The mail server did not take it: {type(error).__name__}."
        ) from error
    return str(member.user.email)


def turn_off(member: UUID) -> bool:
    """Mail this member no more. True where there is such a member."""
    rows = NoticePreference.objects.filter(member__uuid=member)
    return rows.update(notice=Notice.OFF) == 1


@contextmanager
def only_one(notice_id: int, *, space: int = LOCK_SPACE) -> Iterator[bool]:
    """Hold the right to send a notice. PostgreSQL takes it back from whoever dies."""
    key = [space, notice_id % 2**31]
    with connection.cursor() as cursor:
        cursor.execute("select pg_try_advisory_lock(%s, %s)", key)
        is_mine = bool(cursor.fetchone()[0])
    try:
        yield is_mine
    finally:
        if is_mine:
            with connection.cursor() as cursor:
                cursor.execute("select pg_advisory_unlock(%s, %s)", key)
