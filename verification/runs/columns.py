"""A chart of stacked columns, as `runs/_columns.html` draws it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

WIDTH, HEIGHT = 1000, 200
MIN_PIECE_HEIGHT = 1.5
COLUMN_SHARE = 0.82
MOST_TICKS = 7


class Part(Protocol):
    """So many rows of one kind, and how the list of runs is asked for them."""

    @property
    def word(self) -> str: ...
    @property
    def tone(self) -> str: ...
    @property
    def count(self) -> int: ...
    @property
    def query(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Piece:
    tone: str
    y: str
    height: str


@dataclass(frozen=True, slots=True)
class Column:
    """One step of the chart; the `counts` of all columns are of the same kinds."""

    label: str
    title: str
    x: str
    width: str
    total: int
    pieces: Sequence[Piece]
    counts: Sequence[Part]
    query: str


@dataclass(frozen=True, slots=True)
class Step:
    label: str
    counts: Sequence[Part]
    query: str

    @property
    def total(self) -> int:
        return sum(part.count for part in self.counts)


@dataclass(frozen=True, slots=True)
class Columns:
    """`top` is the highest total; `ticks` are labels, '' where there is none."""

    columns: Sequence[Column]
    top: int
    ticks: Sequence[str]

    @property
    def words(self) -> list[str]:
        return [part.word for part in self.columns[0].counts] if self.columns else []

    @property
    def view_box(self) -> str:
        return f"0 0 {WIDTH} {HEIGHT}"

    @property
    def lines(self) -> tuple[float, float]:
        """Where the top and its half are."""
        return 0.5, HEIGHT / 2


def columns_of(steps: Sequence[Step]) -> Columns:
    top = max((step.total for step in steps), default=0)
    pitch = WIDTH / max(1, len(steps))
    columns = [
        Column(
            label=step.label,
            title=_title(step),
            x=f"{number * pitch:.2f}",
            width=f"{pitch * COLUMN_SHARE:.2f}",
            total=step.total,
            pieces=_pieces(step.counts, top),
            counts=step.counts,
            query=step.query,
        )
        for number, step in enumerate(steps)
    ]
    return Columns(columns, top, _ticks([step.label for step in steps]))


def _title(step: Step) -> str:
    parts = [f"{one.count:,} {one.word}" for one in step.counts if one.count]
    return f"{step.label}: {step.total:,} run{'s' * (step.total != 1)}, {', '.join(parts)}"


def _ticks(labels: Sequence[str]) -> list[str]:
    """Of every so many columns one has a label, from its left edge."""
    pace = max(1, -(-len(labels) // MOST_TICKS))
    return [
        label.removesuffix(" 00:00") if number % pace == 0 else ""
        for number, label in enumerate(labels)
    ]


def _pieces(counts: Iterable[Part], top: int) -> list[Piece]:
    """Bottom to top."""
    pieces, y = [], float(HEIGHT)
    for part in counts:
        if not part.count:
            continue
        height = max(MIN_PIECE_HEIGHT, part.count / top * HEIGHT)
        y = max(0.0, y - height)
        pieces.append(Piece(part.tone, f"{y:.2f}", f"{height:.2f}"))
    return pieces
