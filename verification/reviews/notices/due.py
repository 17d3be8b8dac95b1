"""Which reviews are told to whom: one rule, for a member and for all of them at once.

A review is told to a member from the moment it is as urgent as they ask for. That is
`rank_at + min_urgency * WAITING_PER_POINT`, and never before it was opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import (
    Case,
    DateTimeField,
    Exists,
    ExpressionWrapper,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, Least
from django.db.models.lookups import IsNull

from loomverify.accounts.models import Project, Role
from verification.engine.reviewing import WAITING_PER_POINT
from verification.reviews.models import Decision, Notice, NoticePreference
from verification.reviews.notices.quiet import quiet_projects
from verification.reviews.notices.times import (
    GATHERS,
    PAUSE,
    UNSEEN,
    last_hour,
    last_morning,
    zone_named,
)
from verification.runs.models import Review, ReviewState

ROLES = [role for role in Role if role.holds(Role.REVIEWER)]
NEVER = datetime(2000, 1, 1, tzinfo=UTC)
DISPUTED = 1000
"""So many reviews at most, of those that two disagree about, are told as new."""


@dataclass(frozen=True, slots=True)
class Due:
    """A preference that a notice is due for, and how far its member was told."""

    preference: int
    sent_at: datetime | None


def reachable(rows: QuerySet[NoticePreference]) -> QuerySet[NoticePreference]:
    """Those of members who want notices, may review, and have an address."""
    return rows.exclude(notice=Notice.OFF).filter(
        ~Q(member__user__email=""), member__role__in=ROLES, member__user__is_active=True
    )


def due(now: datetime, *, only: int | None = None) -> list[Due]:
    """Who may have something to be told now. Four queries, whatever the number of members.

    In quiet hours nobody is; what is due then stays due.
    """
    rows = reachable(NoticePreference.objects.all())
    if quiet := quiet_projects(now):
        rows = rows.exclude(member__project__in=quiet)
    if only is not None:
        rows = rows.filter(pk=only)
    projects = Project.objects.filter(members__notice_preference__notice=Notice.DAILY)
    zones = list(projects.values_list("time_zone", flat=True).distinct())
    timed = rows.annotate(
        until=Least(_until(now, zones), Value(now - UNSEEN)),
        since=Coalesce(F("sent_at") - Value(UNSEEN), Value(NEVER)),
    ).annotate(
        rank_until=_earlier("until"),
        rank_since=_earlier("since"),
    )
    rested = Q(sent_at__isnull=True) | Q(sent_at__lt=F("until"))
    rested &= ~Q(notice=Notice.AT_ONCE, sent_at__gt=now - PAUSE)
    found = timed.filter(rested).filter(_something_to_tell()).order_by("sent_at", "pk")
    return [Due(pk, sent_at) for pk, sent_at in found.values_list("pk", "sent_at")]


def open_to(user: Any) -> QuerySet[Review]:
    """Reviews that wait and that this member may take; `user` is an id or an outer reference.

    What somebody else is to decide, or they themselves decided, is nothing to tell.
    """
    person = OuterRef(user) if isinstance(user, OuterRef) else user
    own = Decision.objects.filter(review=OuterRef("pk"), reviewer=person, undone_at__isnull=True)
    return Review.objects.filter(
        ~Exists(own),
        Q(assigned_to__isnull=True) | Q(assigned_to=user),
        state=ReviewState.PENDING,
    )


def told_by(until: Any, rank_until: Any) -> Q:
    return Q(created_at__lte=until, rank_at__lte=rank_until)


def new_since(since: Any, rank_since: Any) -> Q:
    return Q(created_at__gt=since) | Q(rank_at__gt=rank_since)


def adjudicated(since: Any, until: Any) -> Q:
    """Reviews that two have disagreed about since then: they ask for a third."""
    since, until = (OuterRef(at) if isinstance(at, OuterRef) else at for at in (since, until))
    disagreed = Decision.objects.filter(
        review=OuterRef("pk"), settled_at__gt=since, settled_at__lte=until, undone_at__isnull=True
    )
    return Q(Exists(disagreed), is_adjudication=True)


def _something_to_tell() -> Q:
    """A morning's notice tells what waits; the others tell only what is new.

    Each look is a range of one index, walked in its order: it costs what is new, not what waits.
    Whether any of what waits in the morning is theirs is seen when their mail is made.
    """
    rows = Review.objects.filter(state=ReviewState.PENDING)
    mine = open_to(OuterRef("member__user"))
    rows, mine = (_ripe(one) for one in (rows, mine))
    opened = mine.filter(created_at__gt=OuterRef("since")).order_by("created_at")
    ripened = mine.filter(rank_at__gt=OuterRef("rank_since")).order_by("rank_at")
    is_daily = Q(notice=Notice.DAILY)
    is_new = _any(opened) | _any(ripened)
    if disputed := _disputed():
        again = adjudicated(OuterRef("since"), OuterRef("until"))
        is_new |= Q(Exists(mine.filter(again, pk__in=disputed)))
    return (is_daily & _any(rows.order_by("rank_at"))) | (~is_daily & is_new)


def _ripe(rows: QuerySet[Review]) -> QuerySet[Review]:
    told = told_by(OuterRef("until"), OuterRef("rank_until"))
    return rows.filter(told, project=OuterRef("member__project"))


def _any(ordered: QuerySet[Review]) -> Q:
    """Whether there is one. Asked as the first one, PostgreSQL keeps to the index of the order."""
    return Q(IsNull(Subquery(ordered.values("created_at")[:1]), False))


def _disputed() -> list[int]:
    rows = Review.objects.filter(state=ReviewState.PENDING, is_adjudication=True)
    return list(rows.order_by("rank_at").values_list("pk", flat=True)[:DISPUTED])


def _until(now: datetime, zones: Sequence[str]) -> Case:
    mornings = [
        When(
            notice=Notice.DAILY,
            member__project__time_zone=zone,
            then=Value(last_morning(now, zone_named(zone))),
        )
        for zone in zones
    ]
    return Case(
        When(notice=Notice.AT_ONCE, then=Value(now - GATHERS)),
        *mornings,
        default=Value(last_hour(now)),
        output_field=DateTimeField(),
    )


def _earlier(name: str) -> Combinable:
    """By as much as the urgency that a member asks for is worth."""
    worth = F("min_urgency") * Value(WAITING_PER_POINT)
    return ExpressionWrapper(F(name) - worth, output_field=DateTimeField())
