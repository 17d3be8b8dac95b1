"""Cohen's kappa and its interval.

Apart from who asks for them: loading NumPy takes a tenth of a second, which only they need.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from verification.engine.statistics.intervals import TAIL, Interval, wilson

Table = Sequence[Sequence[int]]
"""Counts, k by k: a row for what the first rater said, a column for the second, in one order."""
Shares = NDArray[np.float64]
"""Tables of shares, m by k by k, each of which sums to 1."""

RESAMPLES = 2_000
SEED = 1960


def cohens_kappa(table: Table, *, interchangeable: bool = False) -> float | None:
    """Agreement beyond chance, -1 to 1. None: no counts, or one category alone.

    Source: J. Cohen, Educational and Psychological Measurement 20, 1960.

    >>> cohens_kappa([[20, 5], [10, 15]])
    0.4
    """
    counts = _counts(table)
    if not counts.sum():
        return None
    values, defined = _kappas(_shares(counts, interchangeable=interchangeable)[np.newaxis])
    return round(float(values[0]), 12) if defined[0] else None


def kappa_interval(
    table: Table, *, interchangeable: bool = False, resamples: int = RESAMPLES
) -> Interval:
    """The percentile bootstrap interval of kappa, both ends -1 to 1.

    Drawing n pairs again is drawing a table again, from the shares of this one; the draws are
    the same each time. Tables of which kappa is undefined are left out. Where nothing disagrees
    every draw is perfect and says nothing: the low end is then what kappa would be at the
    Wilson interval's low end of agreement.

    Source: B. Efron, R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.
    """
    counts = _counts(table)
    n, k = int(counts.sum()), len(counts)
    value = cohens_kappa(table, interchangeable=interchangeable)
    if value is None:
        return Interval(-1.0, 1.0)
    if counts.trace() == n:
        return Interval(_worst(counts), 1.0)
    draws = np.random.default_rng(SEED).multinomial(n, counts.ravel() / n, size=resamples)
    values, defined = _kappas(
        _shares(draws.reshape(resamples, k, k), interchangeable=interchangeable)
    )
    low, high = np.quantile(values[defined], [TAIL, 1 - TAIL])
    return Interval(float(low), float(high)).around(value)


def _worst(counts: NDArray[np.int64]) -> float:
    n = int(counts.sum())
    shares = counts.sum(axis=0) / n
    by_chance = float((shares * shares).sum())
    agreed = wilson(n, n).low
    return max(-1.0, (agreed - by_chance) / (1 - by_chance))


def _kappas(shares: Shares) -> tuple[Shares, NDArray[np.bool_]]:
    """Kappa of each table, and whether it has one."""
    agreed = np.trace(shares, axis1=1, axis2=2)
    by_chance = (shares.sum(axis=2) * shares.sum(axis=1)).sum(axis=1)
    room = 1 - by_chance
    defined = room > 1e-12
    values = np.divide(agreed - by_chance, room, out=np.zeros_like(room), where=defined)
    return np.clip(values, -1.0, 1.0), defined


def _shares(counts: NDArray[np.int64], *, interchangeable: bool) -> Shares:
    """The last two axes are the table's."""
    shares: Shares = counts / counts.sum(axis=(-2, -1), keepdims=True)
    return (shares + np.swapaxes(shares, -2, -1)) / 2 if interchangeable else shares


def _counts(table: Table) -> NDArray[np.int64]:
    counts = np.asarray(table, dtype=np.int64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or (counts < 0).any():
        raise ValueError("a table has as many rows as columns, and no count below 0")
    return counts
