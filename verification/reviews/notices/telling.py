"""What one notice tells: counts, the oldest, and the most urgent with their addresses."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import BooleanField, Case, Count, Min, Q, When

from loomverify.accounts.mails import link
from loomverify.accounts.models import Project
from verification.engine.reviewing import WAITING_PER_POINT, urgency_now
from verification.reviews.models import Notice, NoticePreference
from verification.reviews.notices import due
from verification.reviews.notices.text import one_line
from verification.reviews.notices.times import UNSEEN
from verification.reviews.reasons import reason_words
from verification.runs.models import Review

TOP = 10


@dataclass(frozen=True, slots=True)
class Line:
    """One review in a mail. Of a blind one nothing is said that tells the verdict."""

    title: str
    place: str
    urgency: int
    waits: str
    why: str
    is_new: bool
    link: str


@dataclass(frozen=True, slots=True)
class Told:
    """`at` is the moment it was gathered; `lines` are the most urgent, at most ten."""

    project: Project
    at: datetime
    new: int
    waiting: int
    oldest: str
    lines: tuple[Line, ...]

    @property
    def more(self) -> int:
        return self.waiting - len(self.lines)


def told(preference: NoticePreference, *, now: datetime) -> Told:
    """Gather what a member is told now. Two queries."""
    project = preference.member.project
    worth = preference.min_urgency * WAITING_PER_POINT
    until = now - UNSEEN
    since = (preference.sent_at or due.NEVER) - UNSEEN
    new = due.new_since(since, since - worth) | due.adjudicated(since, until)
    rows = due.open_to(preference.member.user_id).filter(
        due.told_by(until, until - worth), project=project
    )
    counts = rows.aggregate(
        waiting=Count("pk"), new=Count("pk", filter=new), oldest=Min("created_at")
    )
    shown = rows.filter(new) if preference.notice == Notice.AT_ONCE else rows
    top = shown.annotate(is_new=_when(new)).order_by("rank_at", "pk")
    lines = top.select_related("run__task", "process")[:TOP]
    return Told(
        project=project,
        at=now,
        new=counts["new"],
        waiting=counts["waiting"],
        oldest=duration(now - counts["oldest"]) if counts["oldest"] else "",
        lines=tuple(_line(review, project, now) for review in lines),
    )


def example(project: Project, *, now: datetime) -> Told:
    """What nobody waits for: it shows how a notice looks, and that mails arrive."""
    line = Line(
        title="An example of a run",
        place="small-work · build",
        urgency=65,
        waits="12 min",
        why="votes or alternatives disagree",
        is_new=True,
        link=link("review_queue", project=project.slug),
    )
    return Told(project, now, new=1, waiting=1, oldest="12 min", lines=(line,))


def duration(waited: timedelta) -> str:
    """How long in the largest unit that fits.

    >>> duration(timedelta(hours=5, minutes=20))
    '5 h'
    """
    minutes = max(0, int(waited.total_seconds()) // 60)
    for size, unit in ((1440, "days"), (60, "h")):
        if minutes >= size * (2 if unit == "days" else 1):
            return f"{minutes // size} {unit}"
    return f"{minutes} min"


def _line(review: Review, project: Project, now: datetime) -> Line:
    run = review.run
    codes = "" if review.is_blind else ", ".join(reason_words(code) for code in review.reasons[:3])
    return Line(
        title=one_line(run.title or run.task.external_id) or "A run without a title",
        place=one_line(f"{review.process.slug} · {review.phase_id}"),
        urgency=urgency_now(review.created_at, review.urgency, now),
        waits=duration(now - review.created_at),
        why=codes,
        is_new=bool(review.is_new),  # type: ignore[attr-defined]
        link=link("review_item", project=project.slug, review=review.uuid),
    )


def _when(condition: Q) -> Case:
    return Case(When(condition, then=True), default=False, output_field=BooleanField())
