"""How far two raters agree, beyond what chance would bring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from verification.engine.statistics.estimates import (
    MIN_LABELS,
    Estimate,
    Figure,
    TooFew,
    Undefined,
    share,
)

if TYPE_CHECKING:
    from verification.engine.statistics.kappa import Table

ONE_CATEGORY = "one_category"
"""Both raters said the same one thing each time: nothing tells agreement from chance."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """`kappa` is 1 for perfect agreement, 0 for what chance would bring, below 0 for less."""

    n: int
    percentage: Figure
    kappa: Figure


def agreement(table: Table, *, interchangeable: bool = False) -> Agreement:
    """Percentage and kappa of a table, each with its interval.

    `interchangeable`: no rater is the first by nature. Both orders then count half, which makes
    kappa the one of Scott (1955).
    """
    from verification.engine.statistics.kappa import cohens_kappa, kappa_interval

    n = sum(map(sum, table))
    if n < MIN_LABELS:
        return Agreement(n, TooFew(n, MIN_LABELS), TooFew(n, MIN_LABELS))
    percentage = share(sum(row[i] for i, row in enumerate(table)), n)
    value = cohens_kappa(table, interchangeable=interchangeable)
    if value is None:
        return Agreement(n, percentage, Undefined(n, ONE_CATEGORY))
    found = kappa_interval(table, interchangeable=interchangeable)
    return Agreement(n, percentage, Estimate(n, value, found.low, found.high))
