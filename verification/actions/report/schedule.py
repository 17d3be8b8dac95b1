"""Reports on schedule: one for each night, made by whoever comes first.

A night is reported once it is over, later where the installation was down, and not at all once it
is a day old. The report is made in quiet hours too; it is the mails that wait.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, partial
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.mails import link
from verification.actions.models import NightReport, ReportSettings
from verification.actions.report import mailing
from verification.actions.report.gathering import report
from verification.actions.report.markdown import markdown, summary
from verification.actions.report.nights import Hours, Night, last_night
from verification.actions.report.places import address_of
from verification.actions.report.preferences import reachable
from verification.actions.report.values import Report
from verification.reviews.notices.due import Due
from verification.reviews.notices.services import Pace, wake
from verification.reviews.notices.times import UNSEEN, zone_named
from verification.runs import outbox
from verification.runs.spans import iso

logger = logging.getLogger(__name__)

MAKE_TASK = "verification.actions.make_report"
LATE = timedelta(hours=24)
_pace = Pace()


@dataclass(frozen=True, slots=True)
class DueNight:
    settings: int
    night: Night
    last: datetime | None


def due(now: datetime, *, only: int | None = None) -> list[DueNight]:
    """The nights that are to be reported. One query, whatever the number of projects."""
    newest = NightReport.objects.filter(project=OuterRef("project")).order_by("-end", "-id")
    rows = ReportSettings.objects.filter(is_on=True, on_since__isnull=False)
    if only is not None:
        rows = rows.filter(pk=only)
    rows = rows.annotate(last=Subquery(newest.values("end")[:1])).order_by("pk")
    night_of = cache(partial(_night, now - UNSEEN))
    names = ("pk", "project__time_zone", "begins", "ends", "on_since", "last")
    found = []
    for pk, zone, begins, ends, since, last in rows.values_list(*names):
        night = night_of(zone, begins, ends)
        is_reported = last is not None and night.end <= last
        if night.end > since and night.end > now - LATE and not is_reported:
            found.append(DueNight(pk, night, last))
    return found


def _night(now: datetime, zone: str, begins: Any, ends: Any) -> Night:
    return last_night(now, Hours(begins, ends), zone_named(zone))


def sweep(*, pace: Pace = _pace, now: datetime | None = None) -> int:
    """Wake a worker for each report that is due; return how many. The relay calls this."""
    now = now or timezone.now()
    if not pace.may_look(now):
        return 0
    found = [Due(one.settings, one.last) for one in due(now)]
    return wake(MAKE_TASK, found, pace=pace, now=now)


def make(settings_id: int, *, now: datetime | None = None) -> bool:
    """Make the report that is due. False: none is, or another made it."""
    now = now or timezone.now()
    found = due(now, only=settings_id)
    if not found:
        return False
    row = ReportSettings.objects.select_related("project").get(pk=settings_id)
    told = report(row.project, found[0].night)
    text = markdown(told, partial(address_of, slug=told.slug))
    with transaction.atomic():
        kept, is_made = NightReport.objects.get_or_create(
            project=row.project,
            start=told.night.start,
            end=told.night.end,
            defaults={"summary": summary(told)[:300], "markdown": text},
        )
        if not is_made:
            return False
        outbox.add(outbox.REPORT_MORNING, project_id=row.project_id, payload=payload(told))
        members = reachable(row.project).filter(pk__in=row.recipients.values("pk"))
        mailing.add(members, subject=f"{told.project}: {summary(told)}", body=text)
    logger.info("report_made report=%s runs=%d needs=%d", kept.uuid, told.runs, told.needs_count)
    return True


def payload(told: Report) -> dict[str, Any]:
    """What `report.morning` tells."""
    query = urlencode({"from": iso(told.night.start), "to": iso(told.night.end)})
    return {
        "since": told.night.start.isoformat(),
        "until": told.night.end.isoformat(),
        "time_zone": told.zone,
        "summary": summary(told),
        "runs": told.runs,
        "cost_usd": f"{told.cost_usd:.6f}",
        "endings": {one.name: one.count for one in told.endings},
        "reasons": {one.name: one.count for one in told.reasons},
        "changes": {one.standing.value: one.count for one in told.standings},
        "needs_person": told.needs_count,
        "budget_warnings": [one.scope or None for one in told.budgets if one.warns],
        "regressed": sum(one.regressed for one in told.regressions),
        "steps": [one.words for one in told.steps],
        "url": f"{link('morning_report', project=told.slug)}?{query}",
        "markdown_url": f"{settings.BASE_URL}{reverse('morning_report_file', args=[told.slug])}?{query}",
    }
