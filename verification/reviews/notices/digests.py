"""`review.digest`: once an hour, what waits in a project, for whoever hears of it by webhook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Min, QuerySet
from django.utils import timezone

from loomverify.accounts.mails import link
from loomverify.accounts.models import Project
from verification.engine.reviewing import urgency_now
from verification.reviews.notices.telling import TOP
from verification.reviews.notices.times import UNSEEN, last_hour
from verification.runs import outbox
from verification.runs.models import OutboxEvent, Review, ReviewState

LOCK_SPACE = 0x64696765
"""Parts our advisory locks from others'."""
USUAL_SPAN = timedelta(hours=1)


@dataclass(slots=True)
class Seen:
    """The newest hour that this relay has dealt with."""

    hour: datetime | None = None


_seen = Seen()


def sweep(*, seen: Seen = _seen, now: datetime | None = None) -> int:
    """Write the hour's digests; return how many. The relay calls this."""
    now = now or timezone.now()
    hour = last_hour(now)
    if seen.hour == hour or now < hour + UNSEEN:
        return 0
    waiting = Review.objects.filter(state=ReviewState.PENDING, created_at__lte=hour)
    projects = Project.objects.filter(pk__in=waiting.values("project")).order_by("pk")
    written = sum(_write(project, hour) for project in projects)
    seen.hour = hour
    return written


def digest(project: Project, *, since: datetime, until: datetime) -> dict[str, Any]:
    """What is told of a project: `opened` and `decided` lie after `since`, up to `until`."""
    rows = Review.objects.filter(project=project)
    waiting = rows.filter(state=ReviewState.PENDING, created_at__lte=until)
    opened = rows.filter(created_at__gt=since, created_at__lte=until)
    decided = rows.filter(state=ReviewState.DECIDED, told_at__gt=since, told_at__lte=until)
    oldest = waiting.aggregate(at=Min("created_at"))["at"]
    return {
        "since": since.isoformat(),
        "until": until.isoformat(),
        "waiting": waiting.count(),
        "held_back": rows.filter(state=ReviewState.HELD).count(),
        "opened": opened.exclude(state=ReviewState.HELD).count(),
        "decided": decided.count(),
        "oldest_at": oldest.isoformat() if oldest else None,
        "url": link("review_queue", project=project.slug),
        "top": _top(waiting, project, until),
    }


def _write(project: Project, until: datetime) -> bool:
    """False: it is written already, another writes it, or nothing changed since the last one."""
    with transaction.atomic(), connection.cursor() as cursor:
        key = [LOCK_SPACE, project.pk % 2**31]
        cursor.execute("select pg_try_advisory_xact_lock(%s, %s)", key)
        if not cursor.fetchone()[0]:
            return False
        last = _last(project)
        since = datetime.fromisoformat(last["until"]) if last else until - USUAL_SPAN
        if since >= until:
            return False
        told = digest(project, since=since, until=until)
        if last and not (told["opened"] or told["decided"] or told["waiting"] != last["waiting"]):
            return False
        outbox.add(outbox.REVIEW_DIGEST, project_id=project.pk, payload=told)
    return True


def _last(project: Project) -> Mapping[str, Any] | None:
    """The payload of the newest digest that is still kept."""
    events = OutboxEvent.objects.filter(project=project, topic=outbox.REVIEW_DIGEST)
    return events.order_by("-id").values_list("payload", flat=True).first()


def _top(waiting: QuerySet[Review], project: Project, now: datetime) -> list[dict[str, Any]]:
    """The most urgent. Why a blind one was flagged would tell its verdict."""
    rows = waiting.select_related("run__task", "process").order_by("rank_at", "pk")[:TOP]
    return [
        {
            "review": str(review.uuid),
            "run": str(review.run.uuid),
            "process": review.process.slug,
            "phase": review.phase_id,
            "task": review.run.task.external_id,
            "urgency": urgency_now(review.created_at, review.urgency, now),
            "opened_at": review.created_at.isoformat(),
            "reasons": [] if review.is_blind else review.reasons,
            "url": link("review_item", project=project.slug, review=review.uuid),
        }
        for review in rows
    ]
