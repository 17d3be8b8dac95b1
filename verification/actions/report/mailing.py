"""Mails to members, sent at least once each, and never in their project's quiet hours.

As with the notices to reviewers: first the mail, then the mark. What the mail server refuses stays
due for two days, and is tried again ever more slowly.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta
from smtplib import SMTPException

from django.core.mail import EmailMessage, get_connection
from django.db.models import QuerySet
from django.utils import timezone

from loomverify.accounts.models import Member
from verification.actions.models import Mail
from verification.actions.report.preferences import quiet_projects
from verification.reviews.notices import lists
from verification.reviews.notices.due import Due
from verification.reviews.notices.mailing import TIMEOUT_SECONDS, is_set_up
from verification.reviews.notices.services import Pace, only_one, wake
from verification.reviews.notices.text import one_line

logger = logging.getLogger(__name__)

SEND_TASK = "verification.actions.send_mail"
LIST = "report"
CHOSEN = "An admin of the project chose who is mailed its reports and warnings."
TRIED_FOR = timedelta(days=2)
MAX_SUBJECT_CHARS = 190
LOCK_SPACE = 0x6D61696C
"""Parts our advisory locks from others'."""
_pace = Pace()


def add(members: Iterable[Member], *, subject: str, body: str) -> None:
    """Put a mail to each on its way, in the caller's transaction."""
    Mail.objects.bulk_create(
        Mail(
            member=member,
            project_id=member.project_id,
            subject=one_line(subject, MAX_SUBJECT_CHARS),
            body=body,
        )
        for member in members
    )


def due(now: datetime) -> QuerySet[Mail]:
    rows = Mail.objects.filter(sent_at__isnull=True, created_at__gt=now - TRIED_FOR)
    rows = rows.filter(member__user__is_active=True).exclude(member__user__email="")
    return rows.exclude(project__in=quiet_projects(now)).order_by("created_at", "pk")


def sweep(*, pace: Pace = _pace, now: datetime | None = None) -> int:
    """Wake a worker for each mail that is due; return how many. The relay calls this."""
    now = now or timezone.now()
    if not is_set_up() or not pace.may_look(now):
        return 0
    return wake(
        SEND_TASK,
        [Due(pk, None) for pk in due(now).values_list("pk", flat=True)],
        pace=pace,
        now=now,
    )


def send(mail_id: int, *, now: datetime | None = None) -> bool:
    """Send one. False: it is not due, another sends it, or the server refused."""
    now = now or timezone.now()
    with only_one(mail_id, space=LOCK_SPACE) as is_mine:
        rows = due(now).select_related("member__user", "project")
        mail = rows.filter(pk=mail_id).first() if is_mine else None
        if mail is None:
            return False
        try:
            _send(mail)
        except (OSError, SMTPException) as error:
            logger.warning("mail_failed mail=%d error=%s", mail_id, type(error).__name__)
            return False
        Mail.objects.filter(pk=mail_id).update(sent_at=now)
    logger.info("mail_sent mail=%d", mail_id)
    return True


def _send(mail: Mail) -> None:
    away = lists.address_of(mail.member, LIST)
    EmailMessage(
        subject=mail.subject,
        body=f"{mail.body}\n-- \n{CHOSEN} No more of these mails: {away}\n",
        to=[mail.member.user.email],
        headers=lists.headers_of(away),
        connection=get_connection(timeout=TIMEOUT_SECONDS),
    ).send()
