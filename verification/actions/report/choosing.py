"""Which night is asked for, as it stands in an address."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from django.utils import timezone

from loomverify.accounts.models import Project
from loomverify.errors import InputError
from verification.actions.report.nights import LONGEST, Hours, Night, last_night
from verification.reviews.notices.times import zone_named
from verification.runs.selectors import moment

YEARS = range(1900, 9000)


def night_asked(
    project: Project, hours: Hours, query: Mapping[str, str], names: tuple[str, str]
) -> Night:
    """The night between two times; the last one that is over where neither is given.

    A time without an offset is one of the project's zone.

    Raises:
        InputError: `filter.invalid`, `report.span`, their place `("query", name)`.
    """
    zone = zone_named(project.time_zone)
    since, until = (query.get(name, "").strip() for name in names)
    usual = last_night(timezone.now(), hours, zone)
    if not since and not until:
        return usual
    end = _moment(names[1], until, zone) if until else timezone.now().astimezone(UTC)
    start = _moment(names[0], since, zone) if since else last_night(end, hours, zone).start
    night = Night(_minute(start), _minute(end))
    if not night.start < night.end or night.length > LONGEST:
        raise InputError(
            "report.span",
            f"A report ends after it begins, at most {LONGEST.days} days later.",
            loc=("query", names[0]),
            status=400,
        )
    return night


def _moment(name: str, text: str, zone: ZoneInfo) -> datetime:
    found = _local(text, zone) or moment(name, text).astimezone(UTC)
    if found.year not in YEARS:
        raise InputError(
            "filter.invalid", "This is no time of ours.", loc=("query", name), status=400
        )
    return found


def _local(text: str, zone: ZoneInfo) -> datetime | None:
    """A time without an offset. None: it is none, or names one."""
    try:
        local = datetime.fromisoformat(text)
        return None if local.tzinfo else local.replace(tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _minute(at: datetime) -> datetime:
    return at.replace(second=0, microsecond=0)
