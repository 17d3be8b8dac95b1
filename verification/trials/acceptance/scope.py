"""Which runs the targets are of, as it stands in an address."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Self

from django.db.models import Q
from django.utils import timezone

from loomverify.accounts.models import Project
from loomverify.errors import InputError
from processes.models import Process
from processes.selectors import process_by_slug
from verification.runs.spans import HOUR, start_of_hour

DAYS = 30
MAX_DAYS = 365
CHOICES = (7, 30, 90, 365)


@dataclass(frozen=True, slots=True)
class Scope:
    """The last `days` of a project, or of one of its processes, from a whole hour on.

    `hours` narrows it down to these.
    """

    project: Project
    process: Process | None
    days: int
    now: datetime
    hours: frozenset[datetime] | None = field(default=None)

    @classmethod
    def of(cls, project: Project, query: Mapping[str, str]) -> Self:
        """What an address asks for.

        Raises:
            InputError: `filter.invalid`.
            NotFound: the project has no such process.
        """
        given = (query.get("days") or "").strip()
        days = int(given) if given.isascii() and given.isdigit() and len(given) < 4 else 0
        if given and not 1 <= days <= MAX_DAYS:
            raise InputError(
                "filter.invalid",
                f"Give a number of days from 1 to {MAX_DAYS}.",
                loc=("query", "days"),
                status=400,
            )
        slug = (query.get("process") or "").strip()
        process = process_by_slug(project, slug) if slug else None
        return cls(project, process, days or DAYS, timezone.now())

    @property
    def since(self) -> datetime:
        return start_of_hour(self.now - timedelta(days=self.days))

    @property
    def within(self) -> Q:
        """Of rows by when they were created."""
        if self.hours is None:
            return Q(created_at__gte=self.since)
        found = Q(pk__in=())
        for start, end in _spans(self.hours):
            found |= Q(created_at__gte=start, created_at__lt=end)
        return found

    @property
    def slug(self) -> str:
        return self.process.slug if self.process else ""

    def query(self) -> dict[str, str]:
        """What of it is not the usual one, as parameters."""
        days = {"days": str(self.days)} if self.days != DAYS else {}
        return {**days, **({"process": self.slug} if self.process else {})}


def _spans(hours: Iterable[datetime]) -> list[tuple[datetime, datetime]]:
    """Start and end of the hours, those that follow each other as one."""
    found: list[tuple[datetime, datetime]] = []
    for hour in sorted(hours):
        if found and found[-1][1] == hour:
            found[-1] = found[-1][0], hour + HOUR
        else:
            found.append((hour, hour + HOUR))
    return found
