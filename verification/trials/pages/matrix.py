"""Old outcomes down, new ones across: each cell leads to its comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from verification.engine.outcome import Verdict
from verification.engine.shadow import DiffClass, SideOutcome
from verification.runs.wording import Badge
from verification.trials.figures import Figures
from verification.trials.judging.wording import CLASSES, side_badge

MOVES = {
    (Verdict.REJECT, Verdict.ACCEPT): ("lax", CLASSES[DiffClass.OLD_FAIL_NEW_PASS]),
    (Verdict.ACCEPT, Verdict.REJECT): ("strict", CLASSES[DiffClass.OLD_PASS_NEW_FAIL]),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """`tone` and `move` say which way the verdict went, '' and None where it stayed."""

    key: str
    n: int
    judged: int
    query: str
    title: str
    old: Badge | None = None
    new: Badge | None = None
    tone: str = ""
    move: Badge | None = None


@dataclass(frozen=True, slots=True)
class Row:
    badge: Badge
    cells: Sequence[Cell]
    total: Cell


@dataclass(frozen=True, slots=True)
class Matrix:
    columns: Sequence[Badge]
    rows: Sequence[Row]
    totals: Sequence[Cell]
    total: int

    @property
    def met(self) -> Sequence[Cell]:
        """The cells that count something, largest first."""
        cells = [cell for row in self.rows for cell in row.cells if cell.n]
        return sorted(cells, key=lambda cell: -cell.n)


def matrix_of(figures: Figures, origin: str) -> Matrix:
    """`origin` as it stands in the page's address, so that cells lead to just what they count."""
    rows = [_row(figures, old, origin) for old in SideOutcome]
    totals = [
        _sum(f"all-{new}", [row.cells[place] for row in rows], origin, new=new)
        for place, new in enumerate(SideOutcome)
    ]
    return Matrix([side_badge(new) for new in SideOutcome], rows, totals, figures.count)


def _row(figures: Figures, old: SideOutcome, origin: str) -> Row:
    cells = [_cell(figures, old, new, origin) for new in SideOutcome]
    return Row(side_badge(old), cells, _sum(f"{old}-all", cells, origin, old=old))


def _cell(figures: Figures, old: SideOutcome, new: SideOutcome, origin: str) -> Cell:
    n = figures.matrix.get(old, {}).get(new, 0)
    judged = figures.judged_matrix.get(old, {}).get(new, 0)
    tone, move = MOVES.get((old.verdict, new.verdict), ("same" if old is new else "", None))
    sides = side_badge(old), side_badge(new)
    words = f"old {sides[0].word}, new {sides[1].word}: {n:,}"
    told = f"{words}, {judged:,} judged" if judged else words
    title = f"{told}. {move.word.capitalize()}" if move else told
    query = _query(origin, old=old, new=new)
    return Cell(f"{old}-{new}", n, judged, query, title, *sides, tone, move)


def _sum(key: str, cells: Sequence[Cell], origin: str, **side: SideOutcome) -> Cell:
    name, outcome = next(iter(side.items()))
    n, judged = sum(one.n for one in cells), sum(one.judged for one in cells)
    title = f"{name} {side_badge(outcome).word}: {n:,}"
    return Cell(key, n, judged, _query(origin, **side), title)


def _query(origin: str, **sides: SideOutcome) -> str:
    given = {"origin": origin, **{name: one.value for name, one in sides.items()}}
    return urlencode({name: value for name, value in given.items() if value})
