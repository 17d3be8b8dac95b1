"""Whether a confidence keeps what it says, and below which one people should look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from verification.engine.statistics.estimates import Estimate, Figure, TooFew, share
from verification.engine.statistics.intervals import wilson

BINS = 10
STEPS = 100
"""Confidences are counted by hundredths; 1 has a bucket of its own."""
TARGET = 0.95
MIN_CALIBRATED = 50
"""Fewer decisions make the calibration error larger than it is, by mere scatter."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """Verdicts whose confidence begins with this hundredth, 0 to 100.

    `confidence` is the sum of theirs; `agreed` are those that people agreed with.
    """

    hundredth: int
    n: int
    confidence: float
    agreed: int


@dataclass(frozen=True, slots=True)
class Bin:
    """A tenth of the scale. `confidence` is the mean of what was said; None: nothing fell here."""

    low: float
    high: float
    n: int
    confidence: float | None
    agreed: Estimate | None


class NoFloorReason(StrEnum):
    TOO_FEW = "too_few"
    """Even if people had agreed with all, there are not enough to tell."""
    NEVER_REACHED = "never_reached"
    """There are enough, and above no floor do people agree often enough."""


@dataclass(frozen=True, slots=True)
class Floor:
    """From `floor` on, people agreed with `agreed` of the verdicts."""

    floor: float
    agreed: Estimate


@dataclass(frozen=True, slots=True)
class NoFloor:
    """`best` is the agreement above the floor that came nearest."""

    reason: NoFloorReason
    n: int
    needed: int
    best: Estimate | None


def reliability(buckets: Sequence[Bucket]) -> tuple[Bin, ...]:
    """What was said against what was so, by tenths; the last one holds 1 as well."""
    return tuple(_bin(buckets, number) for number in range(BINS))


def expected_calibration_error(buckets: Sequence[Bucket]) -> float | TooFew:
    """The mean distance of confidence and agreement over the bins, by their sizes, 0 to 1.

    Source: M. P. Naeini, G. F. Cooper, M. Hauskrecht, AAAI 2015; C. Guo et al., ICML 2017.
    """
    n = sum(bucket.n for bucket in buckets)
    if n < MIN_CALIBRATED:
        return TooFew(n, MIN_CALIBRATED)
    distance = 0.0
    for one in reliability(buckets):
        if one.agreed is not None and one.confidence is not None:
            distance += one.n * abs(one.agreed.value - one.confidence)
    return distance / n


def propose_floor(buckets: Sequence[Bucket]) -> Floor | NoFloor:
    """The smallest floor above which people surely agree often enough.

    Surely: the low end of the Wilson interval of their agreement reaches `TARGET`.
    """
    n = sum(bucket.n for bucket in buckets)
    needed = _needed()
    above = _above(buckets)
    for floor, agreed in above:
        if agreed.low >= TARGET:
            return Floor(floor, agreed)
    best = max((agreed for _, agreed in above), key=lambda one: one.low, default=None)
    reason = NoFloorReason.TOO_FEW if n < needed else NoFloorReason.NEVER_REACHED
    return NoFloor(reason, n, needed, best)


def _above(buckets: Sequence[Bucket]) -> list[tuple[float, Estimate]]:
    """The agreement from each confidence on that was ever said, lowest first.

    The lowest of all is the floor 0: nothing lies below it.
    """
    found: list[tuple[float, Estimate]] = []
    n = agreed = 0
    said = sorted((one for one in buckets if one.n), key=lambda one: -one.hundredth)
    for number, bucket in enumerate(said, start=1):
        n, agreed = n + bucket.n, agreed + bucket.agreed
        interval = wilson(agreed, n)
        floor = bucket.hundredth / STEPS if number < len(said) else 0.0
        found.append((floor, Estimate(n, agreed / n, interval.low, interval.high)))
    return found[::-1]


def _needed() -> int:
    """How many decisions that all agree would do."""
    n = 1
    while wilson(n, n).low < TARGET:
        n += 1
    return n


def _bin(buckets: Sequence[Bucket], number: int) -> Bin:
    here = [one for one in buckets if min(one.hundredth * BINS // STEPS, BINS - 1) == number]
    n = sum(one.n for one in here)
    agreed: Figure | None = share(sum(one.agreed for one in here), n, needed=1)
    return Bin(
        low=number / BINS,
        high=(number + 1) / BINS,
        n=n,
        confidence=sum(one.confidence for one in here) / n if n else None,
        agreed=agreed if isinstance(agreed, Estimate) else None,
    )
