"""Whether two verifiers over the same work differ by more than chance.

Only discordant pairs tell: those that one of them alone accepts. If the two are equal, either
way is as likely.
"""

from __future__ import annotations

import math
from functools import lru_cache

from verification.engine.statistics.intervals import Z, incomplete_beta

ALPHA = 0.05
POWER = 0.80
MAX_DISCORDANT = 10_000
"""An effect that takes more pairs than these to be seen is none that anyone would notice."""
CACHED = 1024
_LEAST = 0.5 + 1 / math.sqrt(MAX_DISCORDANT)
"""Below this share the middle of what is expected lies within two deviations of a half."""


def mcnemar(one_way: int, other_way: int) -> float:
    """The exact two-sided p of discordant pairs, 0 to 1; without any it is 1.

    Source: Q. McNemar, Psychometrika 12, 1947; exact by the binomial distribution, with both
    tails counted.

    >>> round(mcnemar(3, 15), 6)
    0.007538
    """
    fewer, n = min(one_way, other_way), one_way + other_way
    if fewer < 0:
        raise ValueError("no count is below 0")
    return min(1.0, 2 * at_most(fewer, n, 0.5))


def at_most(count: int, n: int, share: float) -> float:
    """How likely it is that at most `count` of `n` are drawn, each with this share.

    Source: DLMF 8.17.5.
    """
    if count < 0:
        return 0.0
    return incomplete_beta(1 - share, n - count, count + 1) if count < n else 1.0


@lru_cache(maxsize=CACHED)
def needed_discordant(share: float, *, power: float = POWER, alpha: float = ALPHA) -> int | None:
    """The smallest number of discordant pairs at which the exact test would see this effect.

    `share`: of them, how many go one way. None: that would take more than `MAX_DISCORDANT`.
    The power of an exact test falls as pairs are added, and leaps where one more the other way
    becomes significant. The answer is one of the leaps, which rise but for an unevenness
    that repeats within the root of their number.

    >>> needed_discordant(0.75)
    30
    """
    share = max(share, 1 - share)
    if share < _LEAST:
        return None
    low, high = -1, 4
    while not _is_seen(_leap(high, alpha), high, share, power):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if _is_seen(_leap(middle, alpha), middle, share, power):
            high = middle
        else:
            low = middle
    start = max(0, high - math.isqrt(high) - 1)
    n = _leap(start, alpha)
    for fewer in range(start, high + 1):
        while 2 * at_most(fewer, n, 0.5) > alpha:
            n += 1
        if _is_seen(n, fewer, share, power):
            break
    return n if n <= MAX_DISCORDANT else None


def _is_seen(n: int, fewer: int, share: float, power: float) -> bool:
    """Whether `n` pairs have the power, if so few the other way are significant.

    More than `MAX_DISCORDANT` count as enough: they end the search.
    """
    if n > MAX_DISCORDANT:
        return True
    return at_most(fewer, n, 1 - share) + at_most(fewer, n, share) >= power


@lru_cache(maxsize=CACHED)
def _leap(fewer: int, alpha: float) -> int:
    """The smallest number of pairs of which so few the other way are significant."""
    about = 2 * fewer + int(Z * math.sqrt(2 * fewer + Z * Z) + Z * Z)
    low, high = max(2 * fewer, about - 3), about + 3
    while low > 2 * fewer and 2 * at_most(fewer, low, 0.5) <= alpha:
        low, high = max(2 * fewer, low - (high - low)), low
    while 2 * at_most(fewer, high, 0.5) > alpha:
        low, high = high, 2 * high - low
    while high - low > 1:
        middle = (low + high) // 2
        if 2 * at_most(fewer, middle, 0.5) > alpha:
            low = middle
        else:
            high = middle
    return high
