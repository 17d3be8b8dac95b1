"""When a project's report is made, who is mailed, and when nobody is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, time
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from loomverify.accounts.access import Actor, person
from loomverify.accounts.audit import record
from loomverify.accounts.models import Member, Project
from loomverify.errors import Conflict, InputError
from verification.actions.models import Mail, ReportSettings
from verification.actions.report.nights import Hours, is_quiet
from verification.reviews.notices.times import zone_named

MAX_RECIPIENTS = 50
TIMES = ("begins", "ends", "quiet_begins", "quiet_ends")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an admin asks for. Times are of the project's zone, in whole minutes."""

    is_on: bool
    begins: time
    ends: time
    quiet_begins: time
    quiet_ends: time
    recipients: Collection[UUID] = ()


def settings_of(project: Project) -> ReportSettings:
    """The project's own, or the usual ones: off, from 18:00 to 8:00. Nothing is stored."""
    found = ReportSettings.objects.filter(project=project).first()
    return found or ReportSettings(project=project)


def hours_of(project: Project) -> Hours:
    found = settings_of(project)
    return Hours(found.begins, found.ends)


def reachable(project: Project) -> QuerySet[Member]:
    """Members that a report can be mailed to."""
    rows = Member.objects.filter(project=project, user__is_active=True).exclude(user__email="")
    return rows.select_related("user").order_by("user__username")


def unreachable() -> InputError:
    return InputError(
        "report.recipients",
        f"Name members with an address, at most {MAX_RECIPIENTS}.",
        loc=("body", "recipients"),
    )


def names_of(row: ReportSettings) -> list[str]:
    """Who is mailed, by name."""
    if row.pk is None:
        return []
    return sorted(row.recipients.values_list("user__username", flat=True))


def revision_of(row: ReportSettings) -> str:
    """Another for whatever else is set."""
    said = [row.is_on, *(f"{getattr(row, name):%H:%M}" for name in TIMES), names_of(row)]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


def change(*, project: Project, actor: Actor, wanted: Wanted, revision: str = "") -> None:
    """Set all of it. A night that is over already is not reported because of it.

    Raises:
        InputError: `report.recipients`.
        Conflict: `report.settings_changed`: what is set now has not this `revision`.
    """
    members = list(
        reachable(project).filter(uuid__in=list(wanted.recipients)[: MAX_RECIPIENTS + 1])
    )
    if len(members) != len(set(wanted.recipients)) or len(members) > MAX_RECIPIENTS:
        raise unreachable()
    now: dict[str, Any] = {name: getattr(wanted, name) for name in ("is_on", *TIMES)}
    with transaction.atomic():
        ReportSettings.objects.get_or_create(project=project)
        row = ReportSettings.objects.select_for_update().get(project=project)
        if revision and revision != revision_of(row):
            raise Conflict(
                "report.settings_changed",
                "Somebody has changed these settings since. Read them again.",
                loc=("body", "revision"),
            )
        diff = {name: [str(getattr(row, name)), str(new)] for name, new in now.items()}
        diff["recipients"] = [_names(row.recipients.select_related("user")), _names(members)]
        diff = {name: both for name, both in diff.items() if both[0] != both[1]}
        if not diff:
            return
        if diff.keys() & {"is_on", "begins", "ends"}:
            now["on_since"] = timezone.now()
        ReportSettings.objects.filter(pk=row.pk).update(**now, changed_by=actor.name[:200])
        row.recipients.set(members)
        record(actor, "report_settings.changed", row, project=project, diff=diff)


def turn_off(member: UUID) -> None:
    """A member wants no more of these mails; what is on its way to them goes, too."""
    found = Member.objects.select_related("project", "user").filter(uuid=member).first()
    if found is None:
        return
    with transaction.atomic():
        Mail.objects.filter(member=found, sent_at__isnull=True).delete()
        row = ReportSettings.objects.select_for_update().filter(project=found.project).first()
        if row is None or not row.recipients.filter(pk=found.pk).exists():
            return
        row.recipients.remove(found)
        diff = {"recipients": [found.user.username, ""]}
        record(person(found.user), "report_settings.left", row, project=found.project, diff=diff)


def _names(members: Collection[Member] | QuerySet[Member]) -> str:
    return ", ".join(sorted(member.user.username for member in members))


def quiet_projects(now: datetime) -> set[int]:
    """The projects in whose quiet hours this moment lies."""
    rows = ReportSettings.objects.exclude(quiet_begins=F("quiet_ends"))
    named = rows.values_list("project_id", "project__time_zone", "quiet_begins", "quiet_ends")
    return {
        project
        for project, zone, begins, ends in named
        if is_quiet(now, Hours(begins, ends), zone_named(zone))
    }
