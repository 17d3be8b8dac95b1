"""Members who are mailed when a nightly replay regressed.

A mail is sent **at least once**, as those to reviewers are: first the mail, then the mark. What a
mail server refused stays due for two days, and is tried again ever more slowly.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from smtplib import SMTPException
from uuid import UUID

from django.core.mail import EmailMessage, get_connection
from django.db.models import F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.template.loader import render_to_string
from django.utils import timezone

from loomverify.accounts.access import Access
from loomverify.accounts.mails import link
from loomverify.accounts.models import Member
from verification.engine.golden.standing import Change
from verification.golden.models import (
    GoldenNotice,
    Replay,
    ReplayPurpose,
    ReplayResult,
    ReplayState,
)
from verification.golden.replays.places import url_of
from verification.reviews.notices import lists, mailing
from verification.reviews.notices.due import Due
from verification.reviews.notices.quiet import quiet_projects
from verification.reviews.notices.services import Pace, only_one, wake
from verification.reviews.notices.text import one_line

logger = logging.getLogger(__name__)

SEND_TASK = "verification.golden.send_notice"
LIST = "golden"
KEPT_FOR = timedelta(days=2)
"""So long a regression is told of; later it is no news."""
MOST_NAMED = 10
LOCK_SPACE = 0x676F6C64
"""Parts our advisory locks from others'."""

_pace = Pace()


def is_told(access: Access) -> bool:
    return GoldenNotice.objects.filter(
        member__project=access.project, member__user=access.actor.user
    ).exists()


def choose(*, access: Access, is_told: bool) -> None:
    """Whether this member is mailed; what regressed before is not told any more."""
    member = Member.objects.get(project=access.project, user=access.actor.user)
    if is_told:
        GoldenNotice.objects.get_or_create(member=member)
    else:
        GoldenNotice.objects.filter(member=member).delete()


def turn_off(member: UUID) -> None:
    GoldenNotice.objects.filter(member__uuid=member).delete()


def due(now: datetime) -> QuerySet[GoldenNotice]:
    """Those who have not heard of the newest regression, which is `replay_id`, ended `ended`."""
    regressed = Replay.objects.filter(
        project=OuterRef("member__project"),
        purpose=ReplayPurpose.NIGHTLY,
        state=ReplayState.FINISHED,
        counts__regressed__gt=0,
        finished_at__gt=now - KEPT_FOR,
    ).order_by("-finished_at")
    rows = GoldenNotice.objects.annotate(
        replay_id=Subquery(regressed.values("pk")[:1]),
        ended=Subquery(regressed.values("finished_at")[:1]),
        heard=Coalesce("told_until", "created_at"),
    )
    reachable = rows.exclude(member__user__email="").filter(member__user__is_active=True)
    if quiet := quiet_projects(now):
        reachable = reachable.exclude(member__project__in=quiet)
    return reachable.filter(ended__gt=F("heard")).order_by("pk")


def sweep(*, pace: Pace = _pace, now: datetime | None = None) -> int:
    """Wake a worker for each mail that is due; return how many. The relay calls this."""
    now = now or timezone.now()
    if not mailing.is_set_up() or not pace.may_look(now):
        return 0
    found = [Due(pk, told) for pk, told in due(now).values_list("pk", "told_until")]
    return wake(SEND_TASK, found, pace=pace, now=now)


def send(notice_id: int, *, now: datetime | None = None) -> bool:
    """Tell a member of the newest regression. False: nothing is due, or the server refused."""
    now = now or timezone.now()
    with only_one(notice_id, space=LOCK_SPACE) as is_mine:
        rows = due(now).select_related("member__user", "member__project")
        notice = rows.filter(pk=notice_id).first() if is_mine else None
        if notice is None:
            return False
        replay = Replay.objects.select_related("project").get(pk=notice.replay_id)  # type: ignore[attr-defined]
        try:
            _mail(notice.member, replay)
        except (OSError, SMTPException) as error:
            logger.warning(
                "golden_notice_failed notice=%d error=%s", notice_id, type(error).__name__
            )
            return False
        GoldenNotice.objects.filter(pk=notice_id).update(told_until=notice.ended)  # type: ignore[attr-defined]
    logger.info("golden_notice_sent notice=%d replay=%s", notice_id, replay.pk)
    return True


@dataclass(frozen=True, slots=True)
class _Line:
    name: str
    process: str
    link: str


def _mail(member: Member, replay: Replay) -> None:
    regressed, project = replay.counts[Change.REGRESSED], one_line(member.project.name, 60)
    lines, away = _lines(member, replay), lists.address_of(member, LIST)
    context = {
        "project": project,
        "replay": replay,
        "regressed": regressed,
        "lines": lines,
        "more": regressed - len(lines),
        "link": url_of(replay),
        "settings": link("golden_schedule", project=member.project.slug),
        "unsubscribe": away,
    }
    EmailMessage(
        subject=f"{regressed} of {replay.total} golden cases regressed in {project}",
        body=render_to_string("golden/mail_regressed.txt", context),
        to=[member.user.email],
        headers=lists.headers_of(away),
        connection=get_connection(timeout=mailing.TIMEOUT_SECONDS),
    ).send()


def _lines(member: Member, replay: Replay) -> list[_Line]:
    """The first of what regressed, by name."""
    rows = ReplayResult.objects.filter(replay=replay, change=Change.REGRESSED).order_by("pk")
    named = rows.values_list("case__name", "case__process", "case__uuid")[:MOST_NAMED]
    slug = member.project.slug
    return [
        _Line(
            one_line(name, 120),
            one_line(process),
            link("golden_result", project=slug, replay=replay.uuid, case=case),
        )
        for name, process, case in named
    ]
