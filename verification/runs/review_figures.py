"""How many runs wait for a person now, since when, and how many nobody was asked about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Min, Q

from loomverify.accounts.models import Project
from processes.models import Process
from verification.runs.models import Review, ReviewState

PENDING = Q(state=ReviewState.PENDING)
HELD = Q(state=ReviewState.HELD)


@dataclass(frozen=True, slots=True)
class ReviewFigures:
    """`held_today`: of the held ones, those held back since midnight, UTC."""

    pending: int
    oldest: datetime | None
    held: int
    held_today: int

    def oldest_seconds(self, now: datetime) -> float:
        """How long the oldest has waited; 0 where nothing waits."""
        return max(0.0, (now - self.oldest).total_seconds()) if self.oldest else 0.0


def review_figures(
    project: Project, process: Process | None = None, *, now: datetime
) -> ReviewFigures:
    rows = Review.objects.filter(PENDING | HELD, project=project)
    if process is not None:
        rows = rows.filter(process=process)
    return ReviewFigures(**rows.aggregate(**_counted(now)))


def review_figures_of_all(now: datetime) -> Iterator[tuple[str, str, ReviewFigures]]:
    """By the short names of project and process, where anything waits or is held."""
    rows = Review.objects.filter(PENDING | HELD).order_by()
    for row in rows.values("project__slug", "process__slug").annotate(**_counted(now)):
        counted: dict[str, Any] = {**row}
        place = counted.pop("project__slug"), counted.pop("process__slug")
        yield *place, ReviewFigures(**counted)


def _counted(now: datetime) -> dict[str, Count | Min]:
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return {
        "pending": Count("pk", filter=PENDING),
        "oldest": Min("created_at", filter=PENDING),
        "held": Count("pk", filter=HELD),
        "held_today": Count("pk", filter=HELD & Q(created_at__gte=today)),
    }
