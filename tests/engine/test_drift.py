from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.engine.drift import NEEDED, risen
from verification.engine.shadow import SideOutcome
from verification.engine.statistics.intervals import newcombe

PASS, WARNED, FAIL, LOST = (
    SideOutcome.PASS,
    SideOutcome.PASS_WITH_WARNINGS,
    SideOutcome.FAIL,
    SideOutcome.UNDECIDED,
)
COUNTS = st.dictionaries(st.sampled_from(SideOutcome), st.integers(0, 400))


@pytest.mark.parametrize(
    ("before", "after", "rose"),
    [
        ({PASS: 900, FAIL: 100}, {PASS: 450, FAIL: 50}, []),
        ({PASS: 900, FAIL: 100}, {PASS: 400, FAIL: 100}, [FAIL]),
        ({PASS: 400, FAIL: 100}, {PASS: 900, FAIL: 100}, [PASS]),
        ({PASS: 1000}, {PASS: 480, LOST: 20}, [LOST]),
        # Two at once, the steeper one first.
        ({PASS: 1000}, {PASS: 300, WARNED: 60, FAIL: 140}, [FAIL, WARNED]),
        # Within chance.
        ({PASS: 90, FAIL: 10}, {PASS: 86, FAIL: 14}, []),
        # Too few to say anything.
        ({PASS: 1000}, {FAIL: NEEDED - 1}, []),
        ({PASS: NEEDED - 1}, {FAIL: 1000}, []),
        ({PASS: NEEDED}, {FAIL: NEEDED}, [FAIL]),
        ({}, {}, []),
    ],
)
def test_an_outcome_is_told_that_rose_beyond_its_interval(
    before: Mapping[SideOutcome, int], after: Mapping[SideOutcome, int], rose: list[SideOutcome]
) -> None:
    assert [one.outcome for one in risen(before, after)] == rose


def test_a_rise_tells_both_shares_and_its_interval() -> None:
    (rise,) = risen({PASS: 900, FAIL: 100}, {PASS: 400, FAIL: 100})

    assert (rise.before, rise.after) == (0.1, 0.2)
    assert (rise.before_n, rise.after_n) == (1000, 500)
    assert 0 < rise.low < 0.1 < rise.high
    usual = newcombe((100, 1000), (100, 500))
    assert rise.low < usual.low, "five outcomes are looked at, so that each needs more"


@given(COUNTS)
def test_nothing_rises_where_nothing_changed(counts: dict[SideOutcome, int]) -> None:
    assert risen(counts, counts) == ()


@given(COUNTS, COUNTS)
def test_what_rose_one_way_does_not_rise_back(
    before: dict[SideOutcome, int], after: dict[SideOutcome, int]
) -> None:
    there = {one.outcome for one in risen(before, after)}
    back = {one.outcome for one in risen(after, before)}

    assert not there & back
    assert all(one.low <= one.after - one.before <= one.high for one in risen(before, after))


@pytest.mark.parametrize("shares", [(0.5, 0.2, 0.05, 0.2, 0.05), (0.94, 0.02, 0.01, 0.02, 0.01)])
def test_chance_alone_raises_an_alarm_in_one_look_of_twenty_at_most(
    shares: tuple[float, ...],
) -> None:
    drawn = np.random.default_rng(11)
    first = drawn.multinomial(400, shares, size=2000)
    second = drawn.multinomial(300, shares, size=2000)

    alarms = sum(
        bool(risen(dict(zip(SideOutcome, was, strict=True)), dict(zip(SideOutcome, now, strict=True))))
        for was, now in zip(first.tolist(), second.tolist(), strict=True)
    )  # fmt: skip

    assert alarms / 2000 <= 0.05


def test_a_rise_of_ten_points_is_seen_within_some_hundred_runs() -> None:
    drawn = np.random.default_rng(12)
    after = drawn.binomial(300, 0.2, size=1000).tolist()

    seen = sum(
        any(one.outcome is FAIL for one in risen({PASS: 360, FAIL: 40}, {PASS: 300 - k, FAIL: k}))
        for k in after
    )

    assert seen >= 800
