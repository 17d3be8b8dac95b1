"""Every figure that a decision rests on, against another implementation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import beta, binom, binomtest

from verification.engine.cutover import Evidence, Pairs, gate
from verification.engine.statistics.intervals import (
    Interval,
    beta_quantile,
    clopper_pearson,
    incomplete_beta,
    one_sided_upper,
    wilson,
)
from verification.engine.statistics.mcnemar import at_most, mcnemar

AGREES = 1e-9
DRAWN = np.random.default_rng(404)
SIZES = (1, 2, 5, 20, 67, 400, 2_500, 10_000, 100_000)


def _counted() -> list[tuple[int, int]]:
    """Counts of every size: the ends, what lies near them, and anywhere."""
    found = {(count, n) for n in SIZES for count in (0, 1, n // 20, n // 2, n - 1, n)}
    found |= {(int(DRAWN.integers(0, n + 1)), n) for n in SIZES for _ in range(4)}
    return sorted(found)


COUNTED = _counted()


@pytest.mark.parametrize(("method", "ours"), [("wilson", wilson), ("exact", clopper_pearson)])
def test_intervals_of_a_share(method: str, ours: Callable[[int, int], Interval]) -> None:
    for count, n in COUNTED:
        theirs = binomtest(count, n).proportion_ci(method=method)
        found = ours(count, n)

        assert found.low == pytest.approx(theirs.low, abs=AGREES), (count, n)
        assert found.high == pytest.approx(theirs.high, abs=AGREES), (count, n)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_one_sided_upper_bounds(level: float) -> None:
    for count, n in COUNTED:
        theirs = binomtest(count, n, alternative="less").proportion_ci(level, method="exact")

        assert one_sided_upper(count, n, level=level) == pytest.approx(theirs.high, abs=AGREES)


def test_quantiles_and_shares_of_beta_distributions_that_are_not_whole() -> None:
    for a, b in DRAWN.uniform(0.3, 5_000, size=(60, 2)).tolist():
        for share in (0.001, 0.025, 0.5, 0.95, 0.999):
            there = float(beta.ppf(share, a, b))

            assert beta_quantile(share, a, b) == pytest.approx(there, abs=AGREES)
            assert incomplete_beta(there, a, b) == pytest.approx(share, abs=AGREES)


def test_bounds_of_an_effective_number_that_is_not_whole() -> None:
    for n in DRAWN.uniform(1, 2_000, size=60).tolist():
        count = float(DRAWN.uniform(0, n))

        bound = one_sided_upper(count, n)

        assert bound == pytest.approx(beta.ppf(0.95, count + 1, n - count), abs=AGREES)


def test_a_quantile_next_to_an_end_is_found() -> None:
    for a, b in ((300.0, 1e-14), (1e-14, 300.0), (1.0, 1e6), (1e6, 1.0)):
        found = beta_quantile(0.95, a, b)

        assert 0 <= found <= 1
        assert found == pytest.approx(beta.ppf(0.95, a, b), abs=AGREES)


def test_the_exact_p_of_mcnemar() -> None:
    for count, n in [*COUNTED, (499_000, 1_000_000)]:
        theirs = binomtest(count, n, 0.5).pvalue

        assert mcnemar(count, n - count) == pytest.approx(theirs, abs=AGREES), (count, n)


@pytest.mark.parametrize(("one_way", "other_way"), [(3, 40), (60, 180), (900, 1_300)])
def test_a_p_next_to_nothing_has_its_size(one_way: int, other_way: int) -> None:
    theirs = binomtest(one_way, one_way + other_way, 0.5).pvalue

    assert theirs < 1e-8
    assert mcnemar(one_way, other_way) == pytest.approx(theirs, rel=1e-9)


def test_the_tail_of_a_binomial() -> None:
    for count, n in COUNTED:
        for share in (0.01, 0.5, 0.93):
            theirs = float(binom.cdf(count, n, share))

            assert at_most(count, n, share) == pytest.approx(theirs, abs=AGREES)


def test_the_p_of_the_gate() -> None:
    found = gate(Evidence(Pairs(both_accept=300, laxer=48, stricter=19)))

    assert found.p_value == pytest.approx(binomtest(19, 67).pvalue, abs=AGREES)
