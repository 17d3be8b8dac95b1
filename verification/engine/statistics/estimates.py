"""What is known of a share: an estimate with its interval, or how much is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verification.engine.statistics.intervals import clopper_pearson, wilson

MIN_LABELS = 20
"""Fewer decisions than these make no figure: its interval would span half of everything."""
MIN_SAMPLED = 10
"""The same for each side of the random sample, whose decisions come slowly."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """`n` decisions say `value`; the true one lies from `low` to `high`, at the level of 95 %."""

    n: int
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class TooFew:
    """There are `n` decisions, and a figure takes `needed`."""

    n: int
    needed: int

    @property
    def missing(self) -> int:
        return self.needed - self.n


@dataclass(frozen=True, slots=True)
class Undefined:
    """Enough decisions, and no figure follows from them; `reason` is a code."""

    n: int
    reason: str


Figure = Estimate | TooFew | Undefined


@dataclass(frozen=True, slots=True)
class Drawn:
    """Runs of the random sample that are alike.

    `rate`: how likely each was drawn, above 0. `drawn` counts those that nobody has decided yet
    as well; `accepted` and `rejected` are people's decisions.
    """

    rate: float
    is_flagged: bool
    is_rejected: bool
    drawn: int
    accepted: int
    rejected: int

    @property
    def decided(self) -> int:
        return self.accepted + self.rejected

    @property
    def weight(self) -> float:
        """For how many runs one decision here stands.

        One drawn at 2 % stands for 50; where only every other one drawn was decided, for 100.
        """
        return self.drawn / self.decided / self.rate


@dataclass(frozen=True, slots=True)
class SampleRates:
    """Shares of all runs that the sample was drawn from.

    `false_fail`: of the runs that the verifier rejects, those that people accept;
    `escaped_defect`: of those that it accepts, those that people reject; `precision` and
    `recall` are of its fail verdicts.
    """

    drawn: int
    decided: int
    false_fail: Figure
    escaped_defect: Figure
    precision: Figure
    recall: Figure


def share(count: int, n: int, *, needed: int = MIN_LABELS) -> Figure:
    """A share of decisions that all count the same, with its Wilson interval."""
    if n < needed:
        return TooFew(n, needed)
    found = wilson(count, n)
    return Estimate(n, count / n, found.low, found.high)


def weighted_share(
    hits: Sequence[tuple[int, float]],
    misses: Sequence[tuple[int, float]],
) -> Figure:
    """A share of decisions that stand for different numbers of runs: pairs of count and weight.

    The estimate is Hájek's: the weights of the hits over all weights. Its interval is exact, at
    the effective n of Kish: the square of the sum of weights over the sum of their squares.

    Source: J. Hájek, 1971; L. Kish, Survey Sampling, 1965; E. L. Korn, B. I. Graubard, Survey
    Methodology 24, 1998.
    """
    hits = [(count, weight) for count, weight in hits if count]
    every = [*hits, *((count, weight) for count, weight in misses if count)]
    n = sum(count for count, _ in every)
    if n < MIN_SAMPLED:
        return TooFew(n, MIN_SAMPLED)
    whole = sum(count * weight for count, weight in every)
    value = min(1.0, sum(count * weight for count, weight in hits) / whole)
    effective = whole**2 / sum(count * weight**2 for count, weight in every)
    found = clopper_pearson(value * effective, effective)
    return Estimate(n, value, found.low, found.high)


def sample_rates(drawn: Sequence[Drawn]) -> SampleRates:
    """Rates over all runs, from those drawn by chance.

    What was flagged as well is decided sooner. Each decision therefore stands for the undecided
    runs of its own kind too; a kind that nobody has decided anything of is not estimated.
    """
    known = [one for one in drawn if one.decided and one.rate > 0]
    rejecting = [one for one in known if one.is_rejected]
    accepting = [one for one in known if not one.is_rejected]
    false_fails = [(one.accepted, one.weight) for one in rejecting]
    good_catches = [(one.rejected, one.weight) for one in rejecting]
    escaped = [(one.rejected, one.weight) for one in accepting]
    good_passes = [(one.accepted, one.weight) for one in accepting]
    return SampleRates(
        drawn=sum(one.drawn for one in drawn),
        decided=sum(one.decided for one in known),
        false_fail=weighted_share(false_fails, good_catches),
        escaped_defect=weighted_share(escaped, good_passes),
        precision=weighted_share(good_catches, false_fails),
        recall=weighted_share(good_catches, escaped),
    )
