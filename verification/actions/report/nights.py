"""Which hours a report is about. Pure: times of day in a project's zone become moments.

A time that a clock skips is the moment at which it skips; of one that comes twice, the first is
meant. So nights by the same settings follow one another, and none overlaps the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
LONGEST = timedelta(days=32)
LOOKS_BACK_DAYS = 4
"""A zone may leave out a whole day, and has left out none in a row."""


@dataclass(frozen=True, slots=True)
class Hours:
    """From when to when a night lasts. The same time twice is a whole day."""

    begins: time = time(18)
    ends: time = time(8)


@dataclass(frozen=True, slots=True, order=True)
class Night:
    """A span of time: `start` belongs to it, `end` does not. Both are UTC, in whole minutes."""

    start: datetime
    end: datetime

    @property
    def length(self) -> timedelta:
        return self.end - self.start

    @property
    def is_by_day(self) -> bool:
        """Whether its steps are days."""
        return self.length > 2 * DAY


def moment_of(day: date, at: time, zone: ZoneInfo) -> datetime:
    """When a zone's clocks show this, in UTC.

    >>> moment_of(date(2026, 3, 29), time(2, 30), ZoneInfo("Europe/Berlin")).isoformat()
    '2026-03-29T01:00:00+00:00'
    """
    local = datetime.combine(day, at, zone)
    found = local.astimezone(UTC)
    if found.astimezone(zone).replace(tzinfo=None) == local.replace(tzinfo=None):
        return found
    # The clock skips it. Taken by the later offset it lies before the change, by the earlier after.
    before, after = sorted((found, local.replace(fold=1).astimezone(UTC)))
    return _change_between(before, after, zone)


def _change_between(before: datetime, after: datetime, zone: ZoneInfo) -> datetime:
    """The first moment with the later offset."""
    old = before.astimezone(zone).utcoffset()
    while after - before > timedelta(seconds=1):
        middle = before + timedelta(seconds=int((after - before).total_seconds()) // 2)
        if middle.astimezone(zone).utcoffset() == old:
            before = middle
        else:
            after = middle
    return after


def steps_of(night: Night, zone: ZoneInfo) -> list[Night]:
    """A night by the full hours of a zone's clocks, a span of more than two days by its days.

    An hour that comes twice in autumn is two steps, one that is skipped is none.

    >>> night = Night(datetime(2026, 1, 1, 18, 20, tzinfo=UTC), datetime(2026, 1, 1, 20, tzinfo=UTC))
    >>> [f"{step.start:%H:%M}" for step in steps_of(night, ZoneInfo("UTC"))]
    ['18:20', '19:00']
    """
    following = _next_day if night.is_by_day else _next_hour
    steps, start = [], night.start
    while start < night.end:
        end = min(following(start, zone), night.end)
        steps.append(Night(start, end))
        start = end
    return steps


def _next_hour(at: datetime, zone: ZoneInfo) -> datetime:
    """Sooner where the clock is changed in between: no step has two offsets."""
    local = at.astimezone(zone)
    found = at + HOUR - timedelta(minutes=local.minute, seconds=local.second)
    if found.astimezone(zone).utcoffset() == local.utcoffset():
        return found
    return _change_between(at, found, zone)


def _next_day(at: datetime, zone: ZoneInfo) -> datetime:
    """The next midnight that there is: a zone may leave out a whole day."""
    today = at.astimezone(zone).date()
    ahead = (moment_of(today + n * DAY, time(), zone) for n in range(1, LOOKS_BACK_DAYS + 1))
    return next(found for found in ahead if found > at)


def night_ending_on(day: date, hours: Hours, zone: ZoneInfo) -> Night | None:
    """The night that ends on a day of the zone; None where the clock skips all of it."""
    first = day if hours.begins < hours.ends else day - DAY
    start = moment_of(first, hours.begins, zone)
    end = moment_of(day, hours.ends, zone)
    return Night(start, end) if start < end else None


def last_night(now: datetime, hours: Hours, zone: ZoneInfo) -> Night:
    """The newest night that is over at `now`."""
    today = now.astimezone(zone).date()
    for back in range(LOOKS_BACK_DAYS + 1):
        night = night_ending_on(today - back * DAY, hours, zone)
        if night and night.end <= now:
            return night
    raise ValueError("no night has ended")  # a zone without four days


def night_before(night: Night, hours: Hours, zone: ZoneInfo) -> Night:
    """The newest of the regular nights that ends before this one does."""
    return last_night(night.end - timedelta(seconds=1), hours, zone)


def night_after(night: Night, hours: Hours, zone: ZoneInfo, *, now: datetime) -> Night | None:
    """The oldest of the regular nights that ends after this one does; None: it is not over."""
    today = night.end.astimezone(zone).date()
    for ahead in range(LOOKS_BACK_DAYS + 1):
        found = night_ending_on(today + ahead * DAY, hours, zone)
        if found and found.end > night.end:
            return found if found.end <= now else None
    return None


def is_quiet(now: datetime, quiet: Hours, zone: ZoneInfo) -> bool:
    """Whether a zone's clocks stand within these hours. The same time twice: never.

    >>> is_quiet(datetime(2026, 1, 1, 6, tzinfo=UTC), Hours(time(22), time(7)), ZoneInfo("UTC"))
    True
    """
    at = now.astimezone(zone).time()
    if quiet.begins <= quiet.ends:
        return quiet.begins <= at < quiet.ends
    return at >= quiet.begins or at < quiet.ends
