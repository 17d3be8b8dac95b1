from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.engine.statistics.estimates import (
    Drawn,
    Estimate,
    Figure,
    TooFew,
    sample_rates,
    share,
    weighted_share,
)
from verification.engine.statistics.intervals import clopper_pearson, wilson


def value_of(figure: Figure) -> float:
    assert isinstance(figure, Estimate), figure
    return figure.value


def drawn(
    rate: float,
    *,
    rejected_by_us: bool,
    accepted: int,
    rejected: int,
    undecided: int = 0,
    flagged: bool = False,
) -> Drawn:
    return Drawn(
        rate=rate,
        is_flagged=flagged,
        is_rejected=rejected_by_us,
        drawn=accepted + rejected + undecided,
        accepted=accepted,
        rejected=rejected,
    )


def test_a_share_is_a_figure_from_twenty_decisions_on() -> None:
    assert share(3, 19) == TooFew(19, 20)
    found = share(3, 20)
    assert found == Estimate(20, 0.15, wilson(3, 20).low, wilson(3, 20).high)


def test_decisions_drawn_at_one_rate_count_alike_and_have_the_exact_interval() -> None:
    found = weighted_share([(3, 50.0)], [(17, 50.0)])

    exact = clopper_pearson(3, 20)
    assert isinstance(found, Estimate)
    assert found.n == 20
    assert found.value == pytest.approx(0.15)
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))


def test_what_was_drawn_rarely_stands_for_more() -> None:
    # 10 of 20 at 10 % stand for 100 of 200; 2 of 40 at 100 % for themselves: 102 of 240.
    found = weighted_share([(10, 10.0), (2, 1.0)], [(10, 10.0), (38, 1.0)])

    assert isinstance(found, Estimate)
    assert found.n == 60
    assert found.value == pytest.approx(102 / 240)
    effective = 240**2 / (20 * 100 + 40)
    exact = clopper_pearson(102 / 240 * effective, effective)
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))


def test_rates_are_of_all_runs_that_were_drawn_from() -> None:
    found = sample_rates(
        [
            drawn(0.5, rejected_by_us=True, accepted=4, rejected=16),
            drawn(0.02, rejected_by_us=False, accepted=38, rejected=2),
        ]
    )

    assert (found.drawn, found.decided) == (60, 60)
    assert value_of(found.false_fail) == pytest.approx(0.2)
    assert value_of(found.precision) == pytest.approx(0.8)
    assert value_of(found.escaped_defect) == pytest.approx(0.05)
    assert value_of(found.recall) == pytest.approx(16 / 0.5 / (16 / 0.5 + 2 / 0.02))


def test_flagged_runs_that_are_decided_sooner_do_not_weigh_more() -> None:
    # Of 100 drawn, 20 were flagged and all decided; of the 80 others every fourth was.
    found = sample_rates(
        [
            drawn(0.1, rejected_by_us=False, accepted=10, rejected=10, flagged=True),
            drawn(0.1, rejected_by_us=False, accepted=19, rejected=1, undecided=60),
        ]
    )

    assert value_of(found.escaped_defect) == pytest.approx((10 + 1 * 4) / 100)


def test_each_side_of_the_sample_tells_for_itself_what_is_missing() -> None:
    found = sample_rates(
        [
            drawn(0.1, rejected_by_us=True, accepted=1, rejected=3, undecided=9),
            drawn(0.1, rejected_by_us=False, accepted=30, rejected=0),
        ]
    )

    assert found.false_fail == found.precision == TooFew(4, 10)
    assert value_of(found.escaped_defect) == 0.0
    assert found.recall == TooFew(3, 10)
    assert (found.drawn, found.decided) == (43, 34)


@pytest.mark.parametrize(
    "drawn_runs",
    [[], [drawn(0.0, rejected_by_us=True, accepted=50, rejected=50)]],
    ids=["nothing", "drawn-at-rate-nought"],
)
def test_without_a_sample_there_are_no_rates(drawn_runs: list[Drawn]) -> None:
    found = sample_rates(drawn_runs)

    assert found.decided == 0
    assert found.false_fail == found.escaped_defect == found.recall == TooFew(0, 10)


parts = st.lists(st.tuples(st.integers(0, 50), st.floats(1, 1000)), max_size=4)


@given(parts, parts)
def test_a_weighted_share_lies_in_its_interval_and_mirrors_its_rest(
    hits: list[tuple[int, float]], misses: list[tuple[int, float]]
) -> None:
    found, rest = weighted_share(hits, misses), weighted_share(misses, hits)

    if isinstance(found, TooFew):
        assert rest == found
    else:
        assert isinstance(found, Estimate)
        assert 0 <= found.low <= found.value <= found.high <= 1
        assert value_of(rest) == pytest.approx(1 - found.value)


def test_of_a_hundred_weighted_intervals_at_least_ninety_hold_the_true_rate() -> None:
    # 5,000 runs, half drawn at 2 % and half at 10 %, with different rates of defects.
    random = np.random.default_rng(3)
    true, held = (0.02 + 0.12) / 2, 0
    for _ in range(300):
        strata = []
        for rate, defects in ((0.02, 0.02), (0.10, 0.12)):
            taken = int(random.binomial(2500, rate))
            bad = int(random.binomial(taken, defects))
            strata.append(drawn(rate, rejected_by_us=False, accepted=taken - bad, rejected=bad))
        found = sample_rates(strata).escaped_defect
        assert isinstance(found, Estimate)
        held += found.low <= true <= found.high

    assert held >= 0.90 * 300
