"""The reliability diagram, drawn here: what judges said across, what was so upwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from verification.engine.statistics.calibration import Bin
from verification.engine.statistics.estimates import Estimate
from verification.reviews.agreement.shown import plural

SIZE = 300
LEFT, TOP, RIGHT, BELOW = 42, 12, 14, 24
MIN_RADIUS, MAX_RADIUS = 3.0, 11.0


@dataclass(frozen=True, slots=True)
class Point:
    """One tenth. `low` and `high` are the ends of its interval; the y axis points down."""

    x: str
    y: str
    low: str
    high: str
    radius: str
    title: str
    tenth: int


@dataclass(frozen=True, slots=True)
class Tick:
    at: str
    word: str


@dataclass(frozen=True, slots=True)
class Diagram:
    points: Sequence[Point]
    across: Sequence[Tick]
    upward: Sequence[Tick]
    size: int = SIZE
    width: int = LEFT + SIZE + RIGHT
    height: int = TOP + SIZE + BELOW
    left: int = LEFT
    right: int = LEFT + SIZE
    top: int = TOP
    below: int = TOP + SIZE


def diagram(bins: Sequence[Bin]) -> Diagram:
    """A bin that holds nothing has no point; the size of the others follows their number."""
    most = max((one.n for one in bins), default=0)
    steps = [number / 4 for number in range(5)]
    return Diagram(
        points=[
            _point(number, one, one.agreed, sqrt(one.n / most))
            for number, one in enumerate(bins)
            if one.agreed
        ],
        across=[Tick(f"{_across(step):.1f}", f"{step:g}") for step in steps],
        upward=[Tick(f"{_up(step):.1f}", f"{step * 100:.0f} %") for step in steps],
    )


def _point(number: int, one: Bin, agreed: Estimate, size: float) -> Point:
    said = one.confidence or 0.0
    words = f"said {said:.2f}, people agreed with {agreed.value * 100:.0f} %"
    return Point(
        x=f"{_across(said):.1f}",
        y=f"{_up(agreed.value):.1f}",
        low=f"{_up(agreed.low):.1f}",
        high=f"{_up(agreed.high):.1f}",
        radius=f"{MIN_RADIUS + (MAX_RADIUS - MIN_RADIUS) * size:.1f}",
        title=f"{words} of {plural(one.n, 'verdict')}",
        tenth=number,
    )


def _across(share: float) -> float:
    return LEFT + share * SIZE


def _up(share: float) -> float:
    return TOP + (1 - share) * SIZE
