"""When a notice is due by the clock alone. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

MORNING = time(8)
"""Of the project's own time zone."""
GATHERS = timedelta(seconds=10)
"""So long a notice "at once" waits for more: five hundred flags are one mail."""
PAUSE = timedelta(minutes=5)
"""At least so long between two notices "at once" to one member."""
UNSEEN = timedelta(seconds=2)
"""A review is seen when the run's transaction is over, a little after the time it carries."""


def last_hour(now: datetime) -> datetime:
    return now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def last_morning(now: datetime, zone: ZoneInfo) -> datetime:
    """The newest eight o'clock of a time zone that is not after `now`, in UTC.

    >>> last_morning(datetime(2026, 3, 29, 7, tzinfo=UTC), ZoneInfo("Europe/Berlin")).hour
    6
    """
    today = now.astimezone(zone).date()
    for day in (today, today - timedelta(days=1)):
        morning = datetime.combine(day, MORNING, zone).astimezone(UTC)
        if morning <= now:
            return morning
    return morning - timedelta(days=1)


def zone_named(name: str) -> ZoneInfo:
    """The time zone; UTC for a name that this machine does not know."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")
