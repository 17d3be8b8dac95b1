# Worked examples: Cohen 1960; Fleiss, Levin and Paik, Statistical Methods, 2003.

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from verification.engine.statistics.agreement import (
    ONE_CATEGORY,
    Agreement,
    agreement,
)
from verification.engine.statistics.estimates import Estimate, TooFew, Undefined
from verification.engine.statistics.kappa import cohens_kappa, kappa_interval

Counts = list[list[int]]


def tables(k: int) -> st.SearchStrategy[Counts]:
    row = st.lists(st.integers(0, 40), min_size=k, max_size=k)
    return st.lists(row, min_size=k, max_size=k).filter(lambda t: sum(map(sum, t)) > 0)


any_table = st.sampled_from([2, 3, 4]).flatmap(tables)


def exact_kappa(table: Counts) -> Fraction | None:
    # By the definition, in fractions.
    n = sum(map(sum, table))
    agreed = Fraction(sum(table[i][i] for i in range(len(table))), n)
    chance = sum(
        Fraction(sum(table[i]), n) * Fraction(sum(row[i] for row in table), n)
        for i in range(len(table))
    )
    return None if chance == 1 else (agreed - chance) / (1 - chance)


@pytest.mark.parametrize(
    ("table", "kappa"),
    [
        ([[20, 5], [10, 15]], 0.4),
        ([[45, 15], [25, 15]], 0.1304),
        ([[25, 35], [5, 35]], 0.2593),
        ([[75, 1, 4], [5, 4, 1], [0, 0, 10]], 0.6765),
        ([[88, 14, 18], [10, 40, 10], [2, 6, 12]], 0.4915),
        ([[10, 0], [0, 10]], 1.0),
        ([[0, 10], [10, 0]], -1.0),
        ([[25, 25], [25, 25]], 0.0),
    ],
    ids=["grants", "lax-pair", "strict-pair", "Fleiss-18.1", "Cohen-1960", "all", "none", "chance"],
)
def test_kappa_gives_the_published_value(table: Counts, kappa: float) -> None:
    found = cohens_kappa(table)

    assert found is not None
    assert round(found, 4) == kappa


@pytest.mark.parametrize("table", [[[0, 0], [0, 0]], [[30, 0], [0, 0]]], ids=["empty", "one"])
def test_kappa_is_undefined_where_nothing_tells_agreement_from_chance(table: Counts) -> None:
    assert cohens_kappa(table) is None
    assert (kappa_interval(table).low, kappa_interval(table).high) == (-1.0, 1.0)


def test_raters_without_an_order_have_the_kappa_of_scott() -> None:
    # 0.58 agree; 27.5 of 50 say yes on average: chance is 0.505.
    one_way, other = [[20, 5], [16, 9]], [[20, 16], [5, 9]]

    found = cohens_kappa(one_way, interchangeable=True)

    assert found == cohens_kappa(other, interchangeable=True)
    yes = (25 + 36) / 100
    chance = yes**2 + (1 - yes) ** 2
    assert found == pytest.approx((0.58 - chance) / (1 - chance))


@given(any_table)
def test_kappa_follows_its_definition_within_bounds(table: Counts) -> None:
    exact, found = exact_kappa(table), cohens_kappa(table)

    assert (found is None) == (exact is None)
    if found is not None and exact is not None:
        assert found == pytest.approx(float(exact), abs=1e-9)
        assert -1 <= found <= 1


@given(any_table)
def test_it_does_not_matter_which_rater_stands_first(table: Counts) -> None:
    turned = [list(row) for row in zip(*table, strict=True)]

    assert cohens_kappa(turned) == pytest.approx(cohens_kappa(table))


@given(st.data())
def test_it_does_not_matter_in_which_order_categories_stand(data: st.DataObject) -> None:
    table = data.draw(any_table)
    order = data.draw(st.permutations(range(len(table))))

    shuffled = [[table[i][j] for j in order] for i in order]

    assert cohens_kappa(shuffled) == pytest.approx(cohens_kappa(table))


@given(st.lists(st.integers(1, 60), min_size=2, max_size=4))
def test_perfect_agreement_is_one_and_never_certain(agreed: list[int]) -> None:
    table = [[n if i == j else 0 for j in range(len(agreed))] for i, n in enumerate(agreed)]

    found = kappa_interval(table)

    assert cohens_kappa(table) == 1.0
    assert found.low < found.high == 1.0


@given(any_table)
def test_an_interval_holds_its_kappa_and_is_the_same_each_time(table: Counts) -> None:
    kappa = cohens_kappa(table)
    assume(kappa is not None)
    assert kappa is not None

    found = kappa_interval(table, resamples=200)

    assert -1 <= found.low <= kappa <= found.high <= 1
    assert kappa_interval(table, resamples=200) == found


@pytest.mark.parametrize(
    ("shares", "n"),
    [
        ([[0.55, 0.10], [0.10, 0.25]], 60),
        ([[0.40, 0.10], [0.05, 0.45]], 150),
        ([[0.3, 0.05, 0.05], [0.05, 0.2, 0.05], [0.02, 0.08, 0.2]], 120),
    ],
    ids=["skewed", "even", "three"],
)
def test_of_a_hundred_intervals_at_least_ninety_hold_the_true_kappa(
    shares: list[list[float]], n: int
) -> None:
    of = np.array(shares)
    chance = float((of.sum(axis=0) * of.sum(axis=1)).sum())
    true = (float(of.trace()) - chance) / (1 - chance)
    draws = np.random.default_rng(11).multinomial(n, of.ravel(), size=300)

    intervals = [kappa_interval(d.reshape(of.shape).tolist(), resamples=500) for d in draws]

    assert sum(one.low <= true <= one.high for one in intervals) >= 0.90 * 300


def test_two_thousand_resamples_take_seconds_at_most() -> None:
    kappa_interval([[1, 2], [3, 4]])
    began = time.process_time()

    kappa_interval([[400, 30, 20, 10], [20, 300, 9, 8], [7, 6, 200, 5], [4, 3, 2, 100]])

    assert time.process_time() - began < 10


def test_too_few_pairs_say_how_many_are_missing() -> None:
    found = agreement([[8, 1], [2, 1]])

    assert found == Agreement(12, TooFew(12, 20), TooFew(12, 20))
    assert isinstance(found.kappa, TooFew)
    assert found.kappa.missing == 8


def test_agreement_on_one_category_has_a_percentage_and_no_kappa() -> None:
    found = agreement([[40, 0], [0, 0]])

    assert isinstance(found.percentage, Estimate)
    assert (found.percentage.value, found.percentage.high) == (1.0, 1.0)
    assert found.percentage.low == pytest.approx(0.9124, abs=1e-4)
    assert found.kappa == Undefined(40, ONE_CATEGORY)


@pytest.mark.parametrize("table", [[[1, 2]], [[1, -2], [3, 4]], [1, 2]])
def test_what_is_no_table_is_refused(table: Counts) -> None:
    with pytest.raises(ValueError, match="as many rows as columns"):
        cohens_kappa(table)
