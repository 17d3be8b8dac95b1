"""A figure as the pages show it: words, and its interval drawn to scale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from verification.engine.statistics.estimates import Estimate, Figure, TooFew
from verification.runs.templatetags.loomverify import percent

NARROW = 0.05
Words = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Range:
    """An interval on a scale of 100, and where the estimate stands in it."""

    low: str
    width: str
    value: str
    nought: str


@dataclass(frozen=True, slots=True)
class Shown:
    """`value` is empty where nothing is known; `why` says then what is missing."""

    n: int
    value: str
    interval: str
    why: str
    range: Range | None


def share_shown(figure: Figure) -> Shown:
    interval = ends(figure) if isinstance(figure, Estimate) else ""
    return _shown(figure, percent, interval, low=0.0)


def kappa_shown(figure: Figure) -> Shown:
    interval = ""
    if isinstance(figure, Estimate):
        interval = f"{_decimal(figure.low)} to {_decimal(figure.high)}"
    return _shown(figure, _decimal, interval, low=-1.0)


def ends(figure: Estimate) -> str:
    """An interval of shares in whole hundredths; a narrow one by tenths of them."""
    places = 0 if figure.high - figure.low >= NARROW else 1
    return f"{figure.low * 100:.{places}f} to {figure.high * 100:.{places}f} %"


def _shown(figure: Figure, words: Words, interval: str, *, low: float) -> Shown:
    if isinstance(figure, TooFew):
        return Shown(figure.n, "", "", f"{figure.missing} more needed", None)
    if not isinstance(figure, Estimate):
        return Shown(figure.n, "", "", "all were alike: chance would do as well", None)
    return Shown(
        n=figure.n,
        value=words(figure.value),
        interval=interval,
        why="",
        range=_range(figure, low),
    )


def _range(figure: Estimate, low: float) -> Range:
    def at(value: float) -> float:
        return (value - low) / (1 - low) * 100

    width = max(1.0, at(figure.high) - at(figure.low))
    return Range(
        low=f"{min(at(figure.low), 99.0):.2f}",
        width=f"{width:.2f}",
        value=f"{at(figure.value):.2f}",
        nought=f"{at(0.0):.2f}" if low < 0 else "",
    )


def _decimal(value: float) -> str:
    return f"{value:.2f}".replace("-", "\N{MINUS SIGN}")


def plural(n: int, word: str) -> str:
    return f"{n:,} {word}{'s' * (n != 1)}"
