"""Which versions an advisory touches, and what an advisory is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import check_rows
from verification.engine.advisories.matching import Ordered, Touch
from verification.engine.advisories.model import Ecosystem
from verification.engine.advisories.osv import Advisory, Range, read_entry
from verification.engine.advisories.severity import score_of
from verification.engine.reports.model import Unreadable

NPM = Ecosystem.NPM
T, U, D = Touch.TOUCHED, Touch.UNTOUCHED, Touch.UNKNOWN


def ordered(*events: tuple[str, str], versions: tuple[str, ...] = ()) -> Ordered:
    ranges: tuple[Range, ...] = (events,) if events else ()
    return Ordered(Advisory("A-1", NPM, "a", ranges=ranges, versions=versions))


@check_rows(
    ("events", "version", "answer"),
    [
        ((("introduced", "0"), ("fixed", "1.2.0")), "1.1.9", T),
        ((("introduced", "0"), ("fixed", "1.2.0")), "1.2.0", U),
        ((("introduced", "0"), ("fixed", "1.2.0")), "1.2.0-rc.1", T),
        ((("introduced", "0"), ("fixed", "1.2.0")), "0.0.0-alpha", T),
        ((("introduced", "1.0.0"),), "0.9.0", U),
        ((("introduced", "1.0.0"),), "99.0.0", T),
        ((("introduced", "1.0.0"), ("last_affected", "1.5.0")), "1.5.0", T),
        ((("introduced", "1.0.0"), ("last_affected", "1.5.0")), "1.5.1", U),
        ((("fixed", "1.2.0"), ("introduced", "0"), ("introduced", "2.0.0")), "1.3.0", U),
        ((("fixed", "1.2.0"), ("introduced", "0"), ("introduced", "2.0.0")), "2.1.0", T),
        ((("introduced", "0"), ("limit", "3.0.0")), "3.0.0", U),
        ((("introduced", "0"), ("limit", "*")), "3.0.0", T),
        ((("introduced", "0"), ("fixed", "1.2.0")), "main", D),
        ((("introduced", "0"), ("fixed", "next")), "1.0.0", D),
    ],
)
def test_a_range_touches_what_was_introduced_and_is_not_fixed(
    events: tuple[tuple[str, str], ...], version: str, answer: Touch
) -> None:
    assert ordered(*events).touches(version) is answer


def test_a_listed_version_is_touched_whatever_the_ranges_say() -> None:
    listed = ordered(("introduced", "2.0.0"), versions=("1.0.0", "odd"))

    assert [listed.touches(one) for one in ("v1.0.0", "odd", "1.0.1")] == [T, T, U]
    assert ordered(versions=("1.0",)).touches("1.0.0") is T
    assert ordered(versions=("1.0",)).touches("1.0.1") is U


def test_the_first_fixed_version_is_the_nearest_one_above() -> None:
    two = ordered(
        ("introduced", "0"), ("fixed", "1.2.10"), ("introduced", "2.0.0"), ("fixed", "2.1.0")
    )

    assert [two.first_fixed(one) for one in ("1.2.9", "2.0.5", "3.0.0", "odd")] == [
        "1.2.10", "2.1.0", "", "",
    ]  # fmt: skip


NUMBERS = st.integers(1, 60)


@given(st.lists(NUMBERS, min_size=1, max_size=8, unique=True), st.integers(0, 61), st.randoms())
def test_a_version_is_touched_where_the_last_event_before_it_introduced(
    numbers: list[int], version: int, random: Any
) -> None:
    """Said by counting, and whatever the order in which the events are told."""
    kinds = ("introduced", "fixed")
    events = [(kinds[at % 2], f"{one}.0.0") for at, one in enumerate(sorted(numbers))]
    passed = sum(one <= version for one in numbers)
    random.shuffle(events)

    answer = ordered(*events).touches(f"{version}.0.0")

    assert answer is (T if passed % 2 else U)


@given(st.integers(0, 9), st.integers(1, 9), st.integers(0, 20))
def test_what_is_fixed_in_a_version_is_last_affected_just_before_it(
    begin: int, length: int, version: int
) -> None:
    introduced = ("introduced", f"{begin}.0.0" if begin else "0")
    fixed = ordered(introduced, ("fixed", f"{begin + length}.0.0"))
    last = ordered(introduced, ("last_affected", f"{begin + length - 1}.0.0"))

    assert fixed.touches(f"{version}.0.0") is last.touches(f"{version}.0.0")


V3_HIGH = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"
V3_LOW = "CVSS:3.0/AV:L/AC:H/PR:H/UI:R/S:U/C:L/I:N/A:N"
V4_HIGH = "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N"


@pytest.mark.parametrize(
    ("told", "score"),
    [
        ({"severity": [{"type": "CVSS_V3", "score": V3_HIGH}]}, 9.8),
        ({"severity": [{"type": "CVSS_V3", "score": V3_LOW}]}, 1.8),
        ({"severity": [{"score": V3_LOW}, {"type": "CVSS_V4", "score": V4_HIGH}]}, 9.3),
        ({"severity": [{"type": "CVSS_V2", "score": "AV:N/AC:L/Au:N/C:P/I:P/A:P"}]}, 7.5),
        ({"database_specific": {"severity": "HIGH"}}, 8.9),
        ({"database_specific": {"severity": "moderate"}}, 6.9),
        ({"severity": [{"score": "CVSS:3.1/AV:nothing"}, 7, {}], "database_specific": []}, None),
        ({"severity": "high"}, None),
        ({"id": "MAL-2026-1"}, 10.0),
        ({}, None),
    ],
)
def test_the_highest_that_it_says_of_itself_counts(
    told: dict[str, Any], score: float | None
) -> None:
    assert score_of(told, {}) == score
    assert score_of({"id": told.get("id")}, told) == score


def written(**parts: Any) -> bytes:
    package = {"package": {"ecosystem": "PyPI", "name": "A_b"}, "versions": ["1"]}
    whole = {"id": "A-1", "modified": "2026-11-01T00:00:00Z", "affected": [package]}
    return json.dumps(whole | parts).encode()


def test_an_advisory_names_each_package_once_in_the_one_way_to_write_it() -> None:
    ranges = [
        {"type": "GIT", "events": [{"introduced": "0"}, {"fixed": "abc"}]},
        {"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.0"}]},
    ]
    affected = [
        {"package": {"ecosystem": "PyPI", "name": "a-B"}, "ranges": ranges},
        {"package": {"ecosystem": "PyPI", "name": "a.b"}, "versions": ["3.0"]},
        {"package": {"ecosystem": "Debian:12", "name": "a"}, "versions": ["1"]},
        {
            "package": {"ecosystem": "Maven:https://repo.example.com", "name": "c:d"},
            "versions": ["1"],
        },
        {"package": {"ecosystem": "npm", "name": "says-nothing"}},
    ]

    entry = read_entry(written(affected=affected, aliases=["CVE-2026-1"], summary="Bad  thing"))

    assert [(one.ecosystem, one.name) for one in entry.affected] == [
        ("PyPI", "a-b"), ("Maven", "c:d"),
    ]  # fmt: skip
    first = entry.affected[0]
    assert first.ranges == ((("introduced", "0"), ("fixed", "2.0")),)
    assert (first.versions, first.aliases, first.summary) == (
        ("3.0",),
        ("CVE-2026-1",),
        "Bad thing",
    )


def test_a_withdrawn_advisory_touches_nothing() -> None:
    assert read_entry(written(withdrawn="2026-11-02T00:00:00Z")).affected == ()


@check_rows(
    "content",
    [
        b"", b"[]", b"{", b"\xff", b"[" * 100_000,
        written(id=7), written(id="i" * 101), written(modified="yesterday"),
        written(modified=None), written(affected={}), written(affected=[{}] * 5_001),
        written(aliases="CVE-1"),
        written(affected=[{"package": {"ecosystem": "npm", "name": 7}, "versions": ["1"]}]),
        written(affected=[{"package": {"ecosystem": "npm", "name": "a"}, "versions": [1]}]),
        written(affected=[
            {"package": {"ecosystem": "npm", "name": "a"},
             "ranges": [{"type": "SEMVER", "events": []}]},
        ]),
    ],
)  # fmt: skip
def test_what_is_no_advisory_is_unreadable(content: bytes) -> None:
    with pytest.raises(Unreadable):
        read_entry(content)
