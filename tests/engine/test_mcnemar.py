from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.engine.statistics.intervals import newcombe, one_sided_upper
from verification.engine.statistics.mcnemar import (
    MAX_DISCORDANT,
    at_most,
    mcnemar,
    needed_discordant,
)

COUNT = st.integers(0, 3_000)


@pytest.mark.parametrize(
    ("one_way", "other_way", "p"),
    [
        (0, 0, 1.0),
        (1, 0, 1.0),
        (5, 5, 1.0),
        (5, 6, 1.0),
        (0, 5, 2 / 2**5),
        (0, 6, 2 / 2**6),
        (1, 9, 2 * 11 / 2**10),
        (3, 15, 2 * (1 + 18 + 153 + 816) / 2**18),
    ],
)
def test_the_p_is_that_of_a_fair_coin(one_way: int, other_way: int, p: float) -> None:
    assert mcnemar(one_way, other_way) == pytest.approx(p, rel=1e-12)


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(ValueError, match="below 0"):
        mcnemar(-1, 3)


@given(COUNT, COUNT)
def test_which_side_is_named_first_plays_no_part(one_way: int, other_way: int) -> None:
    assert mcnemar(one_way, other_way) == mcnemar(other_way, one_way)
    assert 0 <= mcnemar(one_way, other_way) <= 1


@given(st.integers(0, 400), st.integers(0, 400))
def test_a_wider_gap_is_less_likely_chance(fewer: int, gap: int) -> None:
    near, far = mcnemar(fewer, fewer + gap), mcnemar(fewer, fewer + gap + 1)

    assert far <= near + 1e-12


def power(n: int, share: float) -> float:
    significant = [k for k in range(n // 2 + 1) if mcnemar(k, n - k) <= 0.05]
    if not significant:
        return 0.0
    return at_most(significant[-1], n, 1 - share) + at_most(significant[-1], n, share)


@pytest.mark.parametrize("share", [0.62, 0.65, 0.7, 0.75, 0.8, 0.9, 0.97, 1.0])
def test_the_pairs_needed_are_the_fewest_with_the_power(share: float) -> None:
    needed = needed_discordant(share)

    assert needed is not None
    assert power(needed, share) >= 0.80
    assert all(power(n, share) < 0.80 for n in range(1, needed))


def test_either_way_takes_as_many() -> None:
    assert needed_discordant(0.25) == needed_discordant(0.75) == 30


@given(st.floats(0.51, 1.0), st.floats(0.51, 1.0))
def test_a_larger_effect_takes_no_more_pairs(one: float, other: float) -> None:
    few, many = (needed_discordant(share) for share in (max(one, other), min(one, other)))

    assert many is None or (few is not None and few <= many)


@pytest.mark.parametrize("share", [0.5, 0.501, 0.505])
def test_an_effect_next_to_nothing_is_not_waited_for(share: float) -> None:
    assert needed_discordant(share) is None


def test_the_most_that_is_waited_for_is_within_the_bound() -> None:
    found = [needed_discordant(0.51 + number / 2_000) for number in range(20)]

    assert None in found
    assert all(one <= MAX_DISCORDANT for one in found if one is not None)
    assert max(one for one in found if one is not None) > MAX_DISCORDANT / 2


@pytest.mark.parametrize(
    ("count", "n", "bound"),
    [(0, 300, 0.0099), (0, 299, 0.01), (0, 20, 0.1391), (1, 473, 0.01), (20, 20, 1.0)],
)
def test_an_upper_bound_has_its_whole_error_on_one_side(count: int, n: int, bound: float) -> None:
    assert one_sided_upper(count, n) == pytest.approx(bound, abs=5e-5)
    if count < n:
        assert at_most(count, n, one_sided_upper(count, n)) == pytest.approx(0.05, abs=1e-9)


# Published examples: Newcombe, Statistics in Medicine 17 (1998), p. 873, table II, method 10.
@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((0, 10), (0, 10), -0.2775, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ],
)
def test_newcombe_gives_the_published_ends(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    found = newcombe(second, first)

    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@given(st.integers(1, 300), st.integers(1, 300), st.data())
def test_a_rise_is_a_fall_seen_from_the_other_end(n: int, m: int, data: st.DataObject) -> None:
    before = data.draw(st.integers(0, n)), n
    after = data.draw(st.integers(0, m)), m

    rise, fall = newcombe(before, after), newcombe(after, before)

    assert rise.low == pytest.approx(-fall.high, abs=1e-12)
    assert -1 <= rise.low <= after[0] / m - before[0] / n <= rise.high <= 1


def test_nothing_counted_leaves_every_rise_possible() -> None:
    assert newcombe((0, 0), (3, 5)).low == -1.0
    assert newcombe((3, 5), (0, 0)).high == 1.0
