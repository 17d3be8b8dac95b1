"""What the report calls things, and its times. Pure."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from verification.actions.report.nights import Night
from verification.actions.report.values import Ending, Need, Standing

ENDINGS = {
    Ending.PASS: "pass",
    Ending.WARNINGS: "pass with warnings",
    Ending.PARTIAL: "partly verified",
    Ending.FAIL: "fail",
    Ending.UNDECIDED: "undecided",
    Ending.QUEUED: "not begun",
    Ending.RUNNING: "under way",
    Ending.ERRORED: "broke on our side",
    Ending.CANCELLED: "cancelled",
}
STANDINGS = {
    Standing.COMMITTED: "Committed",
    Standing.HELD: "Held",
    Standing.REVERTED: "Reverted",
    Standing.PROPOSED: "Proposed",
    Standing.UNDER_WAY: "Under way",
    Standing.NOTHING: "Nothing done",
}
NEEDS = {
    Need.REVIEW: "to review",
    Need.HELD: "held",
    Need.PROPOSED: "proposed",
    Need.REMEDIATION: "to remedy",
}
KINDS = {
    "commit": "commit",
    "review_branch": "review branch",
    "revert": "revert",
    "restore": "restore",
    "close": "closing of a review branch",
}


def counted(count: int, one: str, many: str = "") -> str:
    """A number with its noun.

    >>> counted(1, "run"), counted(1200, "branch", "branches")
    ('1 run', '1,200 branches')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listed(words: list[str]) -> str:
    """Words in a row.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def since(at: datetime, night: Night, zone: ZoneInfo) -> str:
    """The time, with its day where that is not plain."""
    local = at.astimezone(zone)
    is_plain = night.start <= at < night.end and night.length.days < 1
    return f"{local:%H:%M}" if is_plain else f"{local:%-d %b %H:%M}"


def step(night: Night, zone: ZoneInfo, *, is_day: bool) -> str:
    """When a step of a night begins; of an hour that comes twice, by which clock."""
    local = night.start.astimezone(zone)
    if is_day:
        return f"{local:%-d %b}"
    other = local.replace(fold=1 - local.fold).utcoffset()
    return f"{local:%H:%M}" if other == local.utcoffset() else f"{local:%H:%M %Z}"


def span(night: Night, zone: ZoneInfo) -> str:
    """From when to when, as the zone's clocks show it.

    >>> from datetime import UTC
    >>> night = Night(datetime(2026, 1, 1, 18, tzinfo=UTC), datetime(2026, 1, 2, 8, tzinfo=UTC))
    >>> span(night, ZoneInfo("UTC"))
    'Thu 1 Jan 2026 18:00 to Fri 2 Jan 2026 08:00'
    """
    start, end = night.start.astimezone(zone), night.end.astimezone(zone)
    return f"{start:%a %-d %b %Y %H:%M} to {end:%a %-d %b %Y %H:%M}"


def usd(amount: object) -> str:
    """Dollars with as many places as say something."""
    value = float(str(amount))
    return f"${value:,.4f}" if 0 < value < 1 else f"${value:,.2f}"


def percent(share: object) -> str:
    """A share of 0 to 1, in whole hundredths, never rounded up to a whole."""
    return f"{int(float(str(share)) * 100 + 1e-9)} %"
