"""The time axis of gates: round marks, and where bars stand, in hundredths of it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

MOST_TICKS = 6
MIN_BAR_PERCENT = 0.8
STEPS_MS = (
    *(step * size for size in (10, 100, 1_000) for step in (1, 2, 5)),
    *(1_000 * seconds for seconds in (10, 15, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600)),
)


@dataclass(frozen=True, slots=True)
class Tick:
    words: str
    x: str


@dataclass(frozen=True, slots=True)
class Bar:
    x: str
    width: str


@dataclass(frozen=True, slots=True)
class Axis:
    """`length_ms` from the first gate's begin to the last one's end."""

    length_ms: int

    @property
    def ticks(self) -> list[Tick]:
        length = max(self.length_ms, 1)
        step = next((one for one in STEPS_MS if length / one <= MOST_TICKS), length)
        return [
            Tick(_words(at), f"{at / length * 100:.2f}%")
            for at in range(0, length, step)
            if at <= length * 0.94  # its words would stand beyond the end
        ]

    def bar(self, started_ms: int, duration_ms: int) -> Bar:
        length = max(self.length_ms, 1)
        width = max(duration_ms / length * 100, MIN_BAR_PERCENT)
        at = min(started_ms / length * 100, 100 - min(width, 100))
        return Bar(f"{at:.2f}%", f"{width:.2f}%")


def _words(at: int) -> str:
    if at == 0:
        return "0"
    if at < 1_000:
        return f"{at} ms"
    if at < 60_000 or at % 60_000:
        return f"{at / 1_000:g} s"
    return f"{at // 60_000} min"
