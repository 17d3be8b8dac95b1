"""Whether what a verifier decides has changed since it was last looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from verification.engine.shadow import SideOutcome
from verification.engine.statistics.intervals import LEVEL, newcombe

NEEDED = 50
"""Fewer runs on either side would call chance a rise."""


class Against(StrEnum):
    """What the runs since a cutover are held against."""

    TRIAL = "trial"
    FIRST_RUNS = "first_runs"


@dataclass(frozen=True, slots=True)
class Rise:
    """An outcome whose share (0 to 1) rose; surely by `low` at least, and at most by `high`.

    The shares are of `before_n` and `after_n` runs.
    """

    outcome: SideOutcome
    before: float
    after: float
    low: float
    high: float
    before_n: int
    after_n: int


def risen(
    before: Mapping[SideOutcome, int],
    after: Mapping[SideOutcome, int],
    *,
    needed: int = NEEDED,
) -> tuple[Rise, ...]:
    """The outcomes that rose by more than chance explains, the steepest first.

    Newcombe's interval of the rise lies above 0 as a whole. Its level is that of Bonferroni:
    as many outcomes are looked at, one is called risen by chance in one look of twenty at most.
    Empty too where there are fewer than `needed` runs on a side.

    Source: docs/engine.md, "Drift"; R. G. Newcombe, Statistics in Medicine 17, 1998, p. 873.
    """
    first, second = sum(before.values()), sum(after.values())
    if min(first, second) < max(1, needed):
        return ()
    level = 1 - (1 - LEVEL) / len(SideOutcome)
    found = []
    for outcome in SideOutcome:
        was, now = before.get(outcome, 0), after.get(outcome, 0)
        rise = newcombe((was, first), (now, second), level=level)
        if rise.low > 0:
            shares = (was / first, now / second)
            found.append(Rise(outcome, *shares, rise.low, rise.high, first, second))
    return tuple(sorted(found, key=lambda one: one.before - one.after))
