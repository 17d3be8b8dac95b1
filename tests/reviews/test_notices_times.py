from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import check_rows
from verification.reviews.notices.text import one_line
from verification.reviews.notices.times import MORNING, last_hour, last_morning, zone_named


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@check_rows(
    ("zone", "now", "morning"),
    [
        ("UTC", "2026-11-18 08:00", "2026-11-18 08:00"),
        ("UTC", "2026-11-18 07:59:59", "2026-11-17 08:00"),
        ("UTC", "2026-11-18 00:00", "2026-11-17 08:00"),
        ("Europe/Berlin", "2026-03-28 12:00", "2026-03-28 07:00"),
        ("Europe/Berlin", "2026-03-29 06:00", "2026-03-29 06:00"),  # an hour was left out
        ("Europe/Berlin", "2026-03-29 05:59", "2026-03-28 07:00"),
        ("Europe/Berlin", "2026-10-25 06:30", "2026-10-24 06:00"),  # an hour came twice
        ("Europe/Berlin", "2026-10-25 07:00", "2026-10-25 07:00"),
        ("Asia/Kolkata", "2026-11-18 02:30", "2026-11-18 02:30"),
        ("Pacific/Auckland", "2026-11-18 12:00", "2026-11-17 19:00"),  # tomorrow there
        ("America/Los_Angeles", "2026-11-18 12:00", "2026-11-17 16:00"),
        ("Pacific/Apia", "2011-12-31 00:00", "2011-12-30 18:00"),  # after a day that never was
    ],
)
def test_the_last_morning_is_eight_o_clock_where_the_project_is(
    zone: str, now: str, morning: str
) -> None:
    assert last_morning(at(now), ZoneInfo(zone)) == at(morning)


@given(
    st.integers(946_684_800, 2_208_988_800),
    st.sampled_from(sorted(available_timezones() - {"localtime", "Factory"})),
)
def test_the_last_morning_is_never_ahead_and_seldom_more_than_a_day_back(
    seconds: int, name: str
) -> None:
    now, zone = datetime.fromtimestamp(seconds, UTC), ZoneInfo(name)

    morning = last_morning(now, zone)

    assert timedelta(0) <= now - morning < timedelta(hours=49)
    assert morning.astimezone(zone).time() == MORNING


@pytest.mark.parametrize("name", ["", "Mars/Olympus", "../etc/passwd", "\x00", "x" * 60])
def test_a_time_zone_that_nobody_knows_is_the_world_s(name: str) -> None:
    assert zone_named(name).key == "UTC"


def test_the_last_hour_is_a_full_one() -> None:
    assert last_hour(at("2026-11-18 12:59:59")) == at("2026-11-18 12:00")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Market\r\nBcc: everybody@example.org", "Market Bcc: everybody@example.org"),
        ("a\x00b\x1b[31mc\x7f", "ab[31mc"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("one\u2028two\u2029three\x85four", "one two three four"),
        ("  much \t space  ", "much space"),
        ("sign in at https://evil.example/", "sign in at https[:]//evil.example/"),
        ("\ud800 alone", "alone"),
        ("", ""),
        ("Größe der Märkte 市場", "Größe der Märkte 市場"),
    ],
)
def test_submitted_text_is_one_line_that_does_nothing(text: str, line: str) -> None:
    assert one_line(text) == line


@given(st.text(max_size=300), st.integers(1, 100))
def test_any_text_is_bounded_and_printable(text: str, limit: int) -> None:
    line = one_line(text, limit)

    assert len(line) <= limit
    assert line.isprintable()
    assert "://" not in line
