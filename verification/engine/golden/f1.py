"""The F1 score and its interval. Loading NumPy takes a tenth of a second, which only this needs."""

from __future__ import annotations

import numpy as np

from verification.engine.statistics.estimates import MIN_LABELS, Estimate, Figure, TooFew
from verification.engine.statistics.intervals import TAIL, Interval, wilson

RESAMPLES = 2_000
SEED = 1979


def f1_score(hits: int, false_alarms: int, misses: int) -> float:
    """The harmonic mean of precision and recall, 0 to 1; at least one count is above 0."""
    return 2 * hits / (2 * hits + false_alarms + misses)


def f1(hits: int, false_alarms: int, misses: int, *, resamples: int = RESAMPLES) -> Figure:
    """F1 with its percentile bootstrap interval, at the level of 95 %; the draws never change.

    What is neither plays no part. Where every draw would be the same (nothing is wrong, or
    nothing is hit) the interval reaches to the F1 at the far end of the Wilson interval of hits.

    Source: C. J. van Rijsbergen, Information Retrieval, 1979; B. Efron, R. J. Tibshirani, An
    Introduction to the Bootstrap, 1993, chapter 13.
    """
    n = hits + false_alarms + misses
    if n < MIN_LABELS:
        return TooFew(n, MIN_LABELS)
    value = f1_score(hits, false_alarms, misses)
    found = _interval((hits, false_alarms, misses), resamples).around(value)
    return Estimate(n, value, found.low, found.high)


def _interval(counts: tuple[int, int, int], resamples: int) -> Interval:
    n, hits = sum(counts), counts[0]
    if hits in (0, n):
        ends = wilson(hits, n)
        return Interval(_of_share(ends.low), _of_share(ends.high))
    shares = np.array(counts) / n
    drawn = np.random.default_rng(SEED).multinomial(n, shares, size=resamples)[:, 0] / n
    low, high = np.quantile(2 * drawn / (1 + drawn), [TAIL, 1 - TAIL])
    return Interval(float(low), float(high))


def _of_share(hits: float) -> float:
    """F1 by the share of hits among hits, false alarms and misses."""
    return 2 * hits / (1 + hits)
