"""How often a rule spoke, as columns of a drawing that the server makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from verification.rules.figures.reading import Step, Use
from verification.runs.spans import DAY, HOUR, Window, iso

WIDTH, HEIGHT = 1000, 120
MIN_HEIGHT = 1.5
TICKS = 7


@dataclass(frozen=True, slots=True)
class Column:
    """One step of time. `query` lists the runs that the rule spoke against in it."""

    label: str
    use: Use
    query: str
    x: str
    width: str
    y: str
    height: str


@dataclass(frozen=True, slots=True)
class Chart:
    """`top` is the share, 0 to 1, that the highest column stands for."""

    columns: Sequence[Column]
    ticks: Sequence[str]
    top: float
    width: int = WIDTH
    height: int = HEIGHT


def chart(steps: Sequence[Step], window: Window, base: Mapping[str, str]) -> Chart:
    by_start: dict[datetime, Use] = {}
    for step in steps:
        by_start[step.start] = by_start.get(step.start, Use()) + step.use
    top = max((use.hit_rate or 0.0 for use in by_start.values()), default=0.0)
    starts = window.starts()
    columns = [
        _column(number, start, by_start.get(start, Use()), window, (top, base))
        for number, start in enumerate(starts)
    ]
    pace = max(1, -(-len(columns) // TICKS))
    ticks = [one.label if number % pace == 0 else "" for number, one in enumerate(columns)]
    return Chart(columns, ticks, top)


def _column(
    number: int, start: datetime, use: Use, window: Window, scale: tuple[float, Mapping[str, str]]
) -> Column:
    top, base = scale
    pitch = WIDTH / window.steps
    height = max(MIN_HEIGHT, (use.hit_rate or 0) / top * HEIGHT) if use.violated else 0.0
    return Column(
        label=_label(start, window),
        use=use,
        query=urlencode({**base, "since": iso(start), "until": iso(start + window.step)}),
        x=f"{number * pitch:.2f}",
        width=f"{pitch * 0.82:.2f}",
        y=f"{HEIGHT - height:.2f}",
        height=f"{height:.2f}",
    )


def _label(start: datetime, window: Window) -> str:
    if window.step == HOUR:
        return f"{start:%H:%M}"
    return f"{start:%-d %b}" if window.step == DAY else f"{start:%-d %b %H:%M}"
