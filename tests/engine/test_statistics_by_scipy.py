"""Every figure that a decision rests on, against another implementation."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from math import hypot

import numpy as np
import pytest
from scipy.stats import beta, binom, binomtest

from verification.engine.cutover import Evidence, Pairs, gate
from verification.engine.statistics.intervals import (
    Interval,
    beta_quantile,
    clopper_pearson,
    incomplete_beta,
    newcombe,
    one_sided_upper,
    wilson,
)
from verification.engine.statistics.mcnemar import at_most, mcnemar, needed_discordant

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


@pytest.mark.parametrize("level", [0.95, 0.99])
def test_intervals_of_what_a_share_rose_by(level: float) -> None:
    counted = [COUNTED[at] for at in DRAWN.integers(0, len(COUNTED), size=200)]

    for before, after in pairwise(counted):
        was, now = (
            binomtest(*one).proportion_ci(level, method="wilson") for one in (before, after)
        )
        first, second = before[0] / before[1], after[0] / after[1]
        down = hypot(second - now.low, was.high - first)
        up = hypot(now.high - second, first - was.low)
        found = newcombe(before, after, level=level)

        assert found.low == pytest.approx(second - first - down, abs=AGREES), (before, after)
        assert found.high == pytest.approx(second - first + up, abs=AGREES), (before, after)


@pytest.mark.extended
@pytest.mark.parametrize("share", [0.56, 0.6, 0.65, 0.7, 0.75, 0.83, 0.9, 0.97, 1.0])
def test_the_pairs_that_an_effect_needs(share: float) -> None:
    sizes = np.arange(1, 1_000)
    fewer = np.array([_most_significant(int(n)) for n in sizes])

    power = np.where(
        fewer < 0, 0.0, binom.cdf(fewer, sizes, 1 - share) + binom.cdf(fewer, sizes, share)
    )

    assert needed_discordant(share) == sizes[np.argmax(power >= 0.80)]
    assert power.max() >= 0.80


@cache
def _most_significant(n: int) -> int:
    """How many of `n` may go the other way at the most; -1: none may."""
    at = int(binom.ppf(0.025, n, 0.5))
    return next((one for one in range(at, -1, -1) if binomtest(one, n, 0.5).pvalue <= 0.05), -1)


def test_the_p_of_the_gate() -> None:
    found = gate(Evidence(Pairs(both_accept=300, laxer=48, stricter=19)))

    assert found.p_value == pytest.approx(binomtest(19, 67).pvalue, abs=AGREES)
