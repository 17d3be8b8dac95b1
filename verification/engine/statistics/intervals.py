"""Intervals of a share that was counted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

Counted = tuple[int, int]
"""So many, out of so many."""

LEVEL = 0.95
"""Of a hundred intervals made so, about 95 hold the true value."""
TAIL = (1 - LEVEL) / 2
Z = NormalDist().inv_cdf(1 - TAIL)
"""How many deviations an interval reaches."""
TINY = 1e-300
PRECISE = 1e-12
MAX_STEPS = 10_000
CLOSE = 1e-15
MAX_HALVINGS = 200


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float

    def around(self, value: float) -> Interval:
        """Wide enough to hold the estimate itself."""
        return Interval(min(self.low, value), max(self.high, value))


def wilson(count: int, n: int, *, z: float = Z) -> Interval:
    """The score interval of `count` out of `n`, both ends 0 to 1; `n` 0: nothing is known.

    `z`: how many deviations it reaches; the usual ones make it one of 95 %.

    Source: E. B. Wilson, Probable inference, 1927; R. G. Newcombe, Statistics in Medicine 17,
    1998, method 3.

    >>> found = wilson(15, 148)
    >>> (round(found.low, 4), round(found.high, 4))
    (0.0624, 0.1605)
    """
    _counted(count, n)
    if n == 0:
        return Interval(0.0, 1.0)
    share = count / n
    middle = share + z * z / (2 * n)
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    whole = 1 + z * z / n
    low, high = (middle - reach) / whole, (middle + reach) / whole
    return Interval(max(0.0, low), min(1.0, high)).around(share)


def clopper_pearson(count: float, n: float) -> Interval:
    """The exact interval of `count` out of `n`, both ends 0 to 1; `n` 0: nothing is known.

    Never too narrow, whatever the true share. Neither number needs to be whole: weighted counts
    have an effective `n` (Korn and Graubard, Survey Methodology 24, 1998).

    Source: C. J. Clopper, E. S. Pearson, Biometrika 26, 1934.

    >>> found = clopper_pearson(0, 20)
    >>> (found.low, round(found.high, 4))
    (0.0, 0.1684)
    """
    _counted(count, n)
    if n == 0:
        return Interval(0.0, 1.0)
    low = beta_quantile(TAIL, count, n - count + 1) if count > 0 else 0.0
    high = beta_quantile(1 - TAIL, count + 1, n - count) if count < n else 1.0
    return Interval(low, high).around(count / n)


def one_sided_upper(count: float, n: float, *, level: float = LEVEL) -> float:
    """The share, 0 to 1, that the true one does not exceed at this level; `n` 0: 1.

    The exact bound of Clopper and Pearson with its whole error on one side. Neither number needs
    to be whole.

    >>> round(one_sided_upper(0, 300), 4)
    0.0099
    """
    _counted(count, n)
    return beta_quantile(level, count + 1, n - count) if count < n else 1.0


def newcombe(before: Counted, after: Counted, *, level: float = LEVEL) -> Interval:
    """The interval of what a share rose by, -1 to 1: `after` less `before`, each a count and its n.

    Source: R. G. Newcombe, Statistics in Medicine 17, 1998, p. 873, method 10.

    >>> found = newcombe((48, 80), (56, 70))
    >>> (round(found.low, 4), round(found.high, 4))
    (0.0524, 0.3339)
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    was, now = (wilson(count, n, z=z) for count, n in (before, after))
    if not before[1] or not after[1]:
        return Interval(-1.0, 1.0)
    first, second = (count / n for count, n in (before, after))
    rise = second - first
    return Interval(
        max(-1.0, rise - math.hypot(second - now.low, was.high - first)),
        min(1.0, rise + math.hypot(now.high - second, first - was.low)),
    ).around(rise)


@lru_cache(maxsize=4096)
def beta_quantile(share: float, a: float, b: float) -> float:
    """Where the beta distribution reaches this share of itself, 0 to 1.

    Newton's steps from the mean; where one leaves what is left to search, halving.
    """
    low, high = 0.0, 1.0
    at = a / (a + b) if b > CLOSE * a else 0.5
    for _ in range(MAX_HALVINGS):
        missing = share - incomplete_beta(at, a, b)
        low, high = (at, high) if missing > 0 else (low, at)
        density = math.exp(_log_front(at, a, b)) / (at * (1 - at))
        step = missing / density if density > TINY else math.inf
        if abs(step) <= CLOSE * at:
            break
        at = at + step if low < at + step < high else (low + high) / 2
        if not low < at < high:
            break
    return at


def incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, 0 to 1, for `a` and `b` above 0.

    Source: DLMF 8.17.22, with the reflection 8.17.4 where the fraction converges slowly.
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _below_the_bend(1 - x, b, a)
    return _below_the_bend(x, a, b)


def _below_the_bend(x: float, a: float, b: float) -> float:
    return math.exp(_log_front(x, a, b)) / a / _fraction(x, a, b)


def _log_front(x: float, a: float, b: float) -> float:
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return front + a * math.log(x) + b * math.log1p(-x)


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction below the front factor, by Lentz's method."""
    value = upper = 1.0
    lower = 0.0
    for step in range(1, MAX_STEPS):
        m = step // 2
        if step % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        lower = 1 / _not_zero(1 + term * lower)
        upper = _not_zero(1 + term / upper)
        value *= upper * lower
        if abs(upper * lower - 1) < PRECISE:
            break
    return value


def _not_zero(value: float) -> float:
    return value if abs(value) > TINY else TINY


def _counted(count: float, n: float) -> None:
    if not 0 <= count <= n:
        raise ValueError(f"{count} of {n} is no share")
