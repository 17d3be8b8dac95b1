from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.actions.report.nights import (
    Hours,
    Night,
    is_quiet,
    last_night,
    moment_of,
    night_after,
    night_before,
    night_ending_on,
    steps_of,
)

ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "America/St_Johns",
    "Pacific/Chatham",
    "Africa/Casablanca",
    "Pacific/Apia",
    "America/Santiago",
)
BERLIN = ZoneInfo("Europe/Berlin")
USUAL, WHOLE_DAY = Hours(), Hours(time(8), time(8))
DAY = timedelta(days=1)

zones = st.sampled_from(ZONES).map(ZoneInfo)
clocks = st.times().map(lambda at: at.replace(second=0, microsecond=0))
hours = st.builds(Hours, clocks, clocks)
moments = st.integers(0, 30 * 366 * 86400).map(
    lambda seconds: datetime(2005, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "day", "start", "end", "hours_long"),
    [
        ("Europe/Berlin", date(2026, 1, 2), "2026-01-01T17:00", "2026-01-02T07:00", 14),
        ("Europe/Berlin", date(2026, 3, 29), "2026-03-28T17:00", "2026-03-29T06:00", 13),
        ("Europe/Berlin", date(2026, 10, 25), "2026-10-24T16:00", "2026-10-25T07:00", 15),
        ("America/New_York", date(2026, 3, 8), "2026-03-07T23:00", "2026-03-08T12:00", 13),
        ("Asia/Kathmandu", date(2026, 1, 2), "2026-01-01T12:15", "2026-01-02T02:15", 14),
        ("Australia/Lord_Howe", date(2026, 10, 4), "2026-10-03T07:30", "2026-10-03T21:00", 13.5),
    ],
)
def test_a_night_is_as_long_as_its_zone_makes_it(
    zone: str, day: date, start: str, end: str, hours_long: float
) -> None:
    night = night_ending_on(day, USUAL, ZoneInfo(zone))

    assert night == Night(utc(start), utc(end))
    assert night.length == timedelta(hours=hours_long)


def test_a_time_that_the_clock_skips_is_the_moment_at_which_it_skips() -> None:
    skipped = [moment_of(date(2026, 3, 29), time(2, minute), BERLIN) for minute in (0, 30, 59)]

    assert skipped == [utc("2026-03-29T01:00")] * 3
    assert night_ending_on(date(2026, 3, 29), Hours(time(2), time(2, 59)), BERLIN) is None


def test_of_a_time_that_comes_twice_the_first_is_meant() -> None:
    assert moment_of(date(2026, 10, 25), time(2, 30), BERLIN) == utc("2026-10-25T00:30")


def test_a_zone_that_leaves_out_a_day_leaves_out_no_moment() -> None:
    apia = ZoneInfo("Pacific/Apia")

    nights = [night_ending_on(date(2011, 12, 29) + n * DAY, WHOLE_DAY, apia) for n in range(4)]
    found = [night for night in nights if night]

    assert all(one.end == other.start for one, other in pairwise(found))
    assert found[-1].end - found[0].start == timedelta(days=3)


@given(day=st.dates(date(2005, 1, 1), date(2035, 1, 1)), zone=zones, hours=hours)
def test_nights_follow_one_another_and_none_overlaps_the_next(
    day: date, zone: ZoneInfo, hours: Hours
) -> None:
    one, other = (night_ending_on(day + n * DAY, hours, zone) for n in (0, 1))

    if one and other:
        assert one.start < one.end <= other.start < other.end
    if one and other and hours.begins == hours.ends:
        assert one.end == other.start


@given(now=moments, zone=zones, hours=hours)
def test_the_last_night_is_over_and_no_later_one_is(
    now: datetime, zone: ZoneInfo, hours: Hours
) -> None:
    night = last_night(now, hours, zone)

    assert night.end <= now
    assert night_after(night, hours, zone, now=now) is None
    before = night_before(night, hours, zone)
    assert before.end <= night.start
    assert night_after(before, hours, zone, now=now) == night
    assert now - night.end <= 3 * DAY


@given(now=moments, zone=zones, quiet=hours)
def test_quiet_hours_and_the_others_are_the_whole_day(
    now: datetime, zone: ZoneInfo, quiet: Hours
) -> None:
    others = Hours(quiet.ends, quiet.begins)

    if quiet.begins == quiet.ends:
        assert not is_quiet(now, quiet, zone)
    else:
        assert is_quiet(now, quiet, zone) is not is_quiet(now, others, zone)


@pytest.mark.parametrize(
    ("zone", "day", "clocks"),
    [
        ("Europe/Berlin", date(2026, 1, 2), "18 19 20 21 22 23 00 01 02 03 04 05 06 07"),
        ("Europe/Berlin", date(2026, 3, 29), "18 19 20 21 22 23 00 01 03 04 05 06 07"),
        ("Europe/Berlin", date(2026, 10, 25), "18 19 20 21 22 23 00 01 02 02 03 04 05 06 07"),
        ("Asia/Kathmandu", date(2026, 1, 2), "18 19 20 21 22 23 00 01 02 03 04 05 06 07"),
    ],
)
def test_a_night_is_divided_at_the_full_hours_of_its_zone(
    zone: str, day: date, clocks: str
) -> None:
    there = ZoneInfo(zone)
    night = night_ending_on(day, USUAL, there)
    assert night

    steps = steps_of(night, there)

    shown = [step.start.astimezone(there) for step in steps]
    assert " ".join(f"{at:%H}" for at in shown) == clocks
    assert {at.minute for at in shown} == {0}


def test_a_longer_span_is_divided_at_midnight() -> None:
    night = Night(utc("2026-03-27T12:30"), utc("2026-03-31T12:00"))

    shown = [step.start.astimezone(BERLIN) for step in steps_of(night, BERLIN)]

    assert [f"{at:%d %H:%M}" for at in shown] == [
        "27 13:30", "28 00:00", "29 00:00", "30 00:00", "31 00:00",
    ]  # fmt: skip


@given(zones, moments, st.integers(1, 32 * 1440))
def test_steps_follow_one_another_and_are_the_whole_night(
    zone: ZoneInfo, start: datetime, minutes: int
) -> None:
    start = start.replace(second=0)
    night = Night(start, start + timedelta(minutes=minutes))

    steps = steps_of(night, zone)

    assert (steps[0].start, steps[-1].end) == (night.start, night.end)
    assert all(one.end == other.start for one, other in pairwise(steps))
    assert all(one.start < one.end for one in steps)
    assert len(steps) <= 60
