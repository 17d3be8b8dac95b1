"""Rows of a table as HTML, within bounds. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from verification.adapters.viewing_text import clipped, is_number

ROWS_OF_PAGE: Final = 200
MAX_COLUMNS: Final = 60
MAX_CELL_CHARACTERS: Final = 400
MAX_PAGE_CHARACTERS: Final = 1_500_000


class Cell(NamedTuple):
    text: str
    formula: str = ""


@dataclass(slots=True)
class Grid:
    """What one page shows of a table. `ragged` counts rows that are not as wide as the first."""

    head: Sequence[str] = ()
    width: int = 0
    rows: list[dict[str, Any]] = field(default_factory=list)
    characters: int = 0

    def add(self, lines: tuple[int, int], cells: Sequence[Cell], *, count: int) -> bool:
        """Add a row of so many cells, of which the first are given, by its first and last line.

        False: no more is shown on a page.
        """
        markup = "".join(_cell(cell) for cell in cells[:MAX_COLUMNS])
        self.characters += len(markup)
        if self.characters > MAX_PAGE_CHARACTERS:
            return False
        row: dict[str, Any] = {"number": lines[0], "last": lines[1], "html": markup}
        if count != self.width:
            row["cells"] = count
            row["missing"] = max(0, min(self.width, MAX_COLUMNS) - count)
        self.rows.append(row)
        return True

    def told(self) -> dict[str, Any]:
        return {
            "head": [clipped(cell, MAX_CELL_CHARACTERS) for cell in self.head[:MAX_COLUMNS]],
            "rows": self.rows,
            "columns_left": max(0, self.width - MAX_COLUMNS),
        }


def _cell(cell: Cell) -> str:
    start = '<td class="num">' if is_number(cell.text) else "<td>"
    text = clipped(cell.text, MAX_CELL_CHARACTERS)
    if cell.formula:
        text = f'{text} <span class="formula">{clipped(cell.formula, MAX_CELL_CHARACTERS)}</span>'
    return f"{start}{text}</td>"
