"""A project's corpus is replayed once a day, at an hour of its own."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, datetime

from django.db import transaction
from django.utils import timezone

from loomverify.accounts.access import SYSTEM, Access
from loomverify.accounts.audit import record
from loomverify.accounts.models import Project, Role
from loomverify.errors import FaultError, InputError
from verification.golden.models import GoldenCase, GoldenSchedule, ReplayPurpose
from verification.golden.replays import services

logger = logging.getLogger(__name__)

LAST_HOUR = 23


def schedule_of(project: Project) -> GoldenSchedule:
    """The project's own, or the usual one: on, at two o'clock (UTC). Nothing is stored."""
    found = GoldenSchedule.objects.filter(project=project).select_related("last_replay").first()
    return found or GoldenSchedule(project=project)


def change(*, access: Access, is_enabled: bool, hour: int, tags: Sequence[str]) -> GoldenSchedule:
    """Set when the corpus is replayed, 0 to 23 (UTC), and which cases; without tags, all.

    Raises:
        InputError: `schedule.hour`, `replay.tags`.
    """
    access.need(Role.ADMIN)
    if not 0 <= hour <= LAST_HOUR:
        raise InputError("schedule.hour", "An hour is from 0 to 23.", loc=("body", "hour"))
    services.check_tags(tags)
    now = {"is_enabled": is_enabled, "hour": hour, "tags": list(dict.fromkeys(tags))}
    with transaction.atomic():
        GoldenSchedule.objects.get_or_create(project=access.project)
        row = GoldenSchedule.objects.select_for_update().get(project=access.project)
        diff = {name: [getattr(row, name), new] for name, new in now.items()}
        diff = {name: both for name, both in diff.items() if both[0] != both[1]}
        if diff:
            GoldenSchedule.objects.filter(pk=row.pk).update(**now)
            record(access.actor, "golden_schedule.changed", row, project=access.project, diff=diff)
    return schedule_of(access.project)


def start_due(now: datetime | None = None) -> int:
    """Start the replays whose hour has come, once a day (UTC) each; return how many."""
    now = (now or timezone.now()).astimezone(UTC)
    cases = GoldenCase.objects.filter(retired_at__isnull=True)
    projects = Project.objects.filter(pk__in=cases.values("project"))
    started = 0
    for project in projects.order_by("pk"):
        try:
            started += _start(project, now)
        except InputError as error:
            logger.warning("nightly_refused project=%s reason=%s", project.pk, error.code)
        except FaultError:
            logger.exception("nightly_failed project=%s", project.pk)
    return started


def _start(project: Project, now: datetime) -> bool:
    """Of two that come at once, one starts it. What is refused is tried again an hour later."""
    schedule, _ = GoldenSchedule.objects.get_or_create(project=project)
    seen = schedule.last_started_at
    is_done = seen is not None and seen.astimezone(UTC).date() >= now.date()
    if not schedule.is_enabled or now.hour < schedule.hour or is_done:
        return False
    with transaction.atomic():
        rows = GoldenSchedule.objects.filter(pk=schedule.pk, last_started_at=seen)
        if not rows.update(last_started_at=now):
            return False
        replay = services.start(
            project=project, actor=SYSTEM, purpose=ReplayPurpose.NIGHTLY, tags=schedule.tags
        )
        GoldenSchedule.objects.filter(pk=schedule.pk).update(last_replay=replay)
    return True
