# Published examples: Newcombe, Statistics in Medicine 17 (1998), table I.

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import check_rows
from verification.engine.statistics.intervals import (
    beta_quantile,
    clopper_pearson,
    incomplete_beta,
    wilson,
)


@pytest.mark.parametrize(
    ("count", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_gives_the_published_ends(count: int, n: int, low: float, high: float) -> None:
    found = wilson(count, n)

    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@pytest.mark.parametrize(
    ("count", "n", "low", "high"),
    [
        (81, 263, 0.2527, 0.3676),
        (15, 148, 0.0578, 0.1617),
        (0, 20, 0.0, 0.1684),
        (1, 29, 0.0009, 0.1776),
        (29, 29, 0.8806, 1.0),
    ],
)
def test_clopper_and_pearson_give_the_published_ends(
    count: int, n: int, low: float, high: float
) -> None:
    found = clopper_pearson(count, n)

    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


def test_the_exact_ends_leave_a_fortieth_on_each_side() -> None:
    found = clopper_pearson(3, 10)

    def at_most(count: int, share: float) -> float:
        return sum(
            [1, 10, 45, 120, 210, 252, 210, 120, 45, 10, 1][k] * share**k * (1 - share) ** (10 - k)
            for k in range(count + 1)
        )

    assert at_most(3, found.high) == pytest.approx(0.025, abs=1e-9)
    assert 1 - at_most(2, found.low) == pytest.approx(0.025, abs=1e-9)


@pytest.mark.parametrize(
    ("x", "a", "b", "value"),
    [
        (0.3, 1, 1, 0.3),
        (0.5, 2, 2, 0.5),
        (0.25, 2, 3, 0.26171875),
        (0.9, 0.5, 0.5, 0.7951672353008665),
        (0.0, 3, 4, 0.0),
        (1.0, 3, 4, 1.0),
    ],
)
def test_the_beta_function_has_its_closed_forms(x: float, a: float, b: float, value: float) -> None:
    assert incomplete_beta(x, a, b) == pytest.approx(value, abs=1e-10)


def test_a_quantile_is_where_the_beta_function_reaches_it() -> None:
    assert incomplete_beta(beta_quantile(0.2, 30.5, 7.25), 30.5, 7.25) == pytest.approx(0.2)


@pytest.mark.parametrize("interval", [wilson, clopper_pearson])
def test_nothing_counted_says_nothing(interval: object) -> None:
    found = interval(0, 0)  # type: ignore[operator]

    assert (found.low, found.high) == (0.0, 1.0)


@pytest.mark.parametrize(("count", "n"), [(-1, 3), (4, 3)])
def test_a_share_above_its_whole_is_refused(count: int, n: int) -> None:
    with pytest.raises(ValueError, match="no share"):
        wilson(count, n)


@given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_an_interval_holds_its_estimate_within_bounds(counted: tuple[int, int]) -> None:
    count, n = counted

    for found in (wilson(count, n), clopper_pearson(count, n)):
        assert 0 <= found.low <= count / n <= found.high <= 1


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_a_share_and_its_rest_have_mirrored_intervals(counted: tuple[int, int]) -> None:
    count, n = counted

    for interval in (wilson, clopper_pearson):
        there, rest = interval(count, n), interval(n - count, n)
        assert there.low == pytest.approx(1 - rest.high, abs=1e-9)


@given(st.integers(2, 60), st.integers(1, 40))
def test_more_of_the_same_narrows_the_interval(n: int, times: int) -> None:
    few, many = wilson(n // 2, n), wilson(n // 2 * (times + 1), n * (times + 1))

    assert many.high - many.low < few.high - few.low


@check_rows("share", [0.02, 0.1, 0.3, 0.5, 0.9])
@check_rows("n", [20, 60, 200])
def test_of_a_hundred_intervals_at_least_ninety_hold_the_true_share(share: float, n: int) -> None:
    counts = np.random.default_rng(7).binomial(n, share, size=1000)
    held = [
        [found.low <= share <= found.high for found in (wilson(c, n), clopper_pearson(c, n))]
        for c in (int(count) for count in counts)
    ]

    by_wilson, exact = np.mean(held, axis=0)

    assert by_wilson >= 0.90
    assert exact >= 0.94
