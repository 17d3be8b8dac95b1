"""Text with delimiters as a table: rows as they are, none made up and none left out."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from verification.adapters.viewing_grid import MAX_COLUMNS, ROWS_OF_PAGE, Cell, Grid
from verification.adapters.viewing_text import CannotShow, decoded, is_number

DELIMITERS: Final = (",", "\t", ";", "|")
SNIFFED_LINES: Final = 30
SNIFFED_CHARACTERS: Final = 20_000

Row = tuple[int, int, list[str]]
"""First line, last line, cells."""


def shown(content: bytes, asked: Mapping[str, Any]) -> tuple[dict[str, Any], Sequence[bytes]]:
    """One page of rows: from row `rows` on, or the one that holds line `line`.

    Row 1 is the first below the head.
    """
    text, note = decoded(content)
    lines = _lines(text)
    delimiter = delimiter_of(lines)
    table = _Table(_rows(lines, delimiter))
    line = int(asked.get("line") or 0)
    grid, first = table.page(1 if line else max(1, int(asked.get("rows") or 1)), line)
    if not table.total and not table.head:
        raise CannotShow("It is empty.")
    told = {
        **grid.told(),
        "first": first,
        "before": min(first - 1, table.total),
        "after": max(0, table.total - (first - 1) - len(grid.rows)),
        "next": first + len(grid.rows),
        "ragged": table.ragged,
        "delimiter": "tab" if delimiter == "\t" else delimiter,
        "note": " ".join(one for one in (note, table.end) if one),
    }
    return told, []


def delimiter_of(lines: Sequence[str]) -> str:
    """The delimiter that parts most of the first lines in the same number of cells."""
    sample = [line[:SNIFFED_CHARACTERS] for line in lines[:SNIFFED_LINES] if line.strip()]
    unquoted = ["".join(line.split('"')[::2]) for line in sample]

    def agreement(delimiter: str) -> tuple[float, int]:
        counts = [line.count(delimiter) for line in unquoted]
        usual = max(set(counts), key=counts.count, default=0)
        return (counts.count(usual) / len(counts) if usual else 0.0, usual)

    return max(DELIMITERS, key=agreement) if unquoted else ","


class _Table:
    def __init__(self, rows: Iterator[Row]) -> None:
        self._rows = rows
        self.head, self._waiting = self._head()
        self.total = 0
        self.ragged = 0
        self.end = ""

    def page(self, start: int, line: int) -> tuple[Grid, int]:
        """The page that begins at row `start`, or the one on which `line` is; and where it begins."""
        page, width = Grid(self.head, len(self.head)), len(self.head)
        is_sought, is_settled = line > 0, False
        try:
            for first, last, cells in _chained(self._waiting, self._rows):
                self.total += 1
                self.ragged += len(cells) != width
                if is_settled or self.total < start:
                    continue
                shown = [Cell(text) for text in cells[:MAX_COLUMNS]]
                is_full = self.total >= start + ROWS_OF_PAGE
                if is_full or not page.add((first, last), shown, count=len(cells)):
                    if not is_sought:
                        is_settled = True
                        continue
                    page, start = Grid(self.head, width), self.total
                    page.add((first, last), shown, count=len(cells))
                is_sought = is_sought and last < line
        except csv.Error:
            self.end = f"It cannot be read further than row {self.total}."
        return page, start

    def _head(self) -> tuple[list[str], list[Row]]:
        """The head, where the first row looks like one, and the rows read for it."""
        try:
            first = next(self._rows, None)
        except csv.Error as error:
            raise CannotShow("It is no table.") from error
        if first is None:
            return [], []
        if any(map(is_number, first[2][:MAX_COLUMNS])) or not any(first[2]):
            return [str(number) for number in range(1, len(first[2]) + 1)], [first]
        return first[2], []


def _chained(waiting: list[Row], rest: Iterator[Row]) -> Iterator[Row]:
    yield from waiting
    yield from rest


def _rows(lines: Sequence[str], delimiter: str) -> Iterator[Row]:
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter)
    before = 0
    for cells in reader:
        if cells:
            yield before + 1, reader.line_num, cells
        before = reader.line_num


def _lines(text: str) -> list[str]:
    if "\n" not in text:
        text = text.replace("\r", "\n")
    # A return within a line is shown as what it is: csv would take it for the end of a row.
    lines = [line.removesuffix("\r").replace("\r", "\u240d") for line in text.split("\n")]
    return lines[:-1] if lines[-1] == "" else lines
