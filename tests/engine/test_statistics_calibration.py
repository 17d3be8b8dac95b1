from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.engine.statistics.calibration import (
    Bucket,
    Floor,
    NoFloor,
    NoFloorReason,
    expected_calibration_error,
    propose_floor,
    reliability,
)
from verification.engine.statistics.estimates import TooFew
from verification.engine.statistics.intervals import wilson


def bucket(hundredth: int, n: int, agreed: int) -> Bucket:
    return Bucket(hundredth, n, confidence=hundredth / 100 * n, agreed=agreed)


buckets = st.lists(
    st.tuples(st.integers(0, 100), st.integers(0, 200), st.floats(0, 1)).map(
        lambda t: bucket(t[0], t[1], int(t[1] * t[2]))
    ),
    max_size=30,
    unique_by=lambda one: one.hundredth,
)


def test_confidences_fall_into_tenths_and_the_last_holds_one() -> None:
    found = reliability([bucket(9, 1, 1), bucket(10, 2, 1), bucket(99, 3, 3), bucket(100, 4, 2)])

    assert [(one.low, one.n) for one in found if one.n] == [(0.0, 1), (0.1, 2), (0.9, 7)]
    last = found[-1]
    assert last.confidence == pytest.approx((0.99 * 3 + 4) / 7)
    assert last.agreed is not None
    assert last.agreed.value == pytest.approx(5 / 7)
    assert found[5].confidence is None
    assert found[5].agreed is None


def test_the_error_is_the_mean_distance_by_size() -> None:
    # 60 said 0.9 and 45 were right (0.15 apart); 40 said 0.6 and 30 were right (0.15).
    found = expected_calibration_error([bucket(90, 60, 45), bucket(60, 40, 30)])

    assert found == pytest.approx(0.15)


def test_who_says_what_is_so_has_no_error() -> None:
    assert expected_calibration_error([bucket(50, 100, 50), bucket(90, 100, 90)]) == pytest.approx(
        0
    )


def test_an_error_takes_fifty_decisions() -> None:
    assert expected_calibration_error([bucket(90, 49, 49)]) == TooFew(49, 50)


def test_the_smallest_floor_is_proposed_above_which_people_surely_agree() -> None:
    found = propose_floor([bucket(95, 400, 396), bucket(80, 100, 96), bucket(70, 100, 60)])

    assert isinstance(found, Floor)
    assert found.floor == 0.8
    assert found.agreed.n == 500
    assert found.agreed.value == pytest.approx(492 / 500)
    assert found.agreed.low == wilson(492, 500).low >= 0.95


def test_where_people_agree_throughout_no_floor_is_needed() -> None:
    found = propose_floor([bucket(95, 100, 100), bucket(30, 50, 50)])

    assert isinstance(found, Floor)
    assert found.floor == 0.0


def test_seventy_three_that_all_agree_are_the_fewest_that_show_it() -> None:
    assert wilson(73, 73).low >= 0.95 > wilson(72, 72).low
    few = propose_floor([bucket(90, 72, 72)])

    assert isinstance(few, NoFloor)
    assert (few.reason, few.n, few.needed) == (NoFloorReason.TOO_FEW, 72, 73)
    assert isinstance(propose_floor([bucket(90, 73, 73)]), Floor)


def test_a_judge_who_is_wrong_however_sure_gets_no_floor() -> None:
    found = propose_floor([bucket(99, 200, 170), bucket(60, 200, 120)])

    assert isinstance(found, NoFloor)
    assert found.reason is NoFloorReason.NEVER_REACHED
    assert found.best is not None
    assert found.best.value == pytest.approx(0.85)


def test_without_decisions_there_is_no_floor() -> None:
    found = propose_floor([])

    assert found == NoFloor(NoFloorReason.TOO_FEW, 0, 73, None)


@given(buckets)
def test_every_decision_falls_into_one_bin_and_errors_are_shares(given_: list[Bucket]) -> None:
    error = expected_calibration_error(given_)

    assert sum(one.n for one in reliability(given_)) == sum(one.n for one in given_)
    assert isinstance(error, TooFew) or 0 <= error <= 1


@given(buckets)
def test_a_proposed_floor_keeps_its_promise_and_none_below_does(given_: list[Bucket]) -> None:
    found = propose_floor(given_)

    if isinstance(found, Floor):
        above = [one for one in given_ if one.hundredth / 100 >= found.floor]
        n, agreed = sum(one.n for one in above), sum(one.agreed for one in above)
        assert wilson(agreed, n).low >= 0.95
        assert (found.agreed.n, found.agreed.value) == (n, agreed / n)
    else:
        assert found.best is None or found.best.low < 0.95
