"""Spans of whole hours, and how the figures of one are looked up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone

_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Window:
    """A span of whole steps that ends with the current one. Times are UTC."""

    name: str
    start: datetime
    step: timedelta
    steps: int

    @classmethod
    def of(cls, name: str, now: datetime) -> Window | None:
        spans = {
            "24h": (HOUR, 24),
            "7d": (6 * HOUR, 28),
            "30d": (DAY, 30),
            "90d": (DAY, 90),
        }
        if name not in spans:
            return None
        step, steps = spans[name]
        last = _EPOCH + (now - _EPOCH) // step * step
        if step < DAY and step != HOUR:
            last = last.replace(hour=0) + DAY - step  # whole days, the last one still to fill
        return cls(name, last - step * (steps - 1), step, steps)

    @property
    def words(self) -> str:
        return f"{self.name[:-1]} {'hours' if self.name[-1] == 'h' else 'days'}"

    def starts(self) -> list[datetime]:
        return [self.start + self.step * n for n in range(self.steps)]

    @property
    def span(self) -> Span:
        return Span(self.start, self.start + self.step * self.steps, self.step, self.start)


@dataclass(frozen=True, slots=True)
class Span:
    """Whole hours from `start` to before `end`, counted by steps that begin at `origin`."""

    start: datetime
    end: datetime
    step: timedelta
    origin: datetime

    @classmethod
    def by_days(cls, since: datetime, until: datetime) -> Span:
        """The hours that hold both ends, by days."""
        start = start_of_hour(since)
        end = start_of_hour(until - timedelta(microseconds=1)) + HOUR
        return cls(start, max(end, start + HOUR), DAY, start.replace(hour=0))


RAW_HOURS = """
    select hour from runs_dirtyhour
    where project_id = %(project)s and hour >= %(start)s and hour < %(end)s
    union select %(current)s where %(current)s >= %(start)s and %(current)s < %(end)s
"""
"""The hours of a span that are counted from the rows themselves."""


def parameters_of(project_id: int, span: Span, process_id: int | None) -> dict[str, Any]:
    return {
        "project": project_id,
        "process": process_id,
        "start": span.start,
        "end": span.end,
        "current": start_of_hour(timezone.now()),
        "step": span.step,
        "origin": span.origin,
    }


def start_of_hour(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def iso(at: datetime) -> str:
    """A time in a query, to the minute."""
    return at.strftime("%Y-%m-%dT%H:%MZ")
