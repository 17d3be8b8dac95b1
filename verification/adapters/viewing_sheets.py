"""A workbook's sheets as tables: values, with the formulas behind them as text. Nothing is computed."""

from __future__ import annotations

import io
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from itertools import zip_longest
from typing import Any, Final

import defusedxml

from verification.adapters.viewing_grid import ROWS_OF_PAGE, Cell, Grid
from verification.adapters.viewing_text import CannotShow, clipped

MAX_ENTRIES: Final = 3_000
MAX_UNPACKED_BYTES: Final = 64 * 1024 * 1024
MAX_SHEETS: Final = 60
MAX_NAME_CHARACTERS: Final = 80
MAX_ROWS: Final = 1_048_576
_ROW: Final = re.compile(rb"<(?:\w{1,20}:)?row(?=[\s/>])(?:[^<>]{0,200}?\sr=[\"'](\d{1,9})[\"'])?")
_BROKEN: Final = "This workbook is broken."
_TRAP: Final = "This workbook defines entities of its own. It is not opened."

# numpy and its threads would cost half a second and are of no use here.
sys.modules["numpy"] = None  # type: ignore[assignment]
defusedxml.defuse_stdlib()  # type: ignore[attr-defined]

from openpyxl import load_workbook  # noqa: E402
from openpyxl.utils import get_column_letter  # noqa: E402


def shown(content: bytes, asked: Mapping[str, Any]) -> tuple[dict[str, Any], Sequence[bytes]]:
    """One page of rows of one sheet: `sheet` and `rows` count from 1."""
    _check(content)
    try:
        return _told(content, int(asked.get("sheet") or 1), int(asked.get("rows") or 1)), []
    except (CannotShow, MemoryError, RecursionError):
        raise
    except Exception as error:
        # Whatever the library stumbles over is the file's.
        is_trap = isinstance(error.__cause__ or error, defusedxml.DefusedXmlException)
        raise CannotShow(_TRAP if is_trap else _BROKEN) from error


def _check(content: bytes) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        raise CannotShow(_BROKEN) from error
    if len(entries) > MAX_ENTRIES or sum(one.file_size for one in entries) > MAX_UNPACKED_BYTES:
        raise CannotShow("This workbook unpacks to more than is opened here.")


def _told(content: bytes, number: int, first: int) -> dict[str, Any]:
    book = load_workbook(io.BytesIO(content), read_only=True, keep_links=False)
    values = load_workbook(io.BytesIO(content), read_only=True, keep_links=False, data_only=True)
    sheets = book.worksheets
    if not 1 <= number <= len(sheets):
        raise CannotShow("There is no such sheet." if sheets else "It has no sheet with cells.")
    sheet, computed = sheets[number - 1], values.worksheets[number - 1]
    first = max(1, first)
    last = first + ROWS_OF_PAGE - 1
    pairs = zip_longest(_rows(sheet, first, last), _rows(computed, first, last), fillvalue=())
    grid, is_cut = _grid(list(pairs), first)
    total = _count(content, sheet)
    end = first + len(grid.rows) if is_cut else last + 1
    return {
        **grid.told(),
        "first": first,
        "before": min(first - 1, total),
        "after": max(0, total - end + 1),
        "next": end,
        "sheets": [_name(one) for one in sheets[:MAX_SHEETS]],
        "sheet": number,
        "sheets_left": max(0, len(sheets) - MAX_SHEETS),
    }


def _rows(sheet: Any, first: int, last: int) -> Iterator[Sequence[Any]]:
    sheet.reset_dimensions()  # what a file says of its own size is no help and may be a lie
    return iter(list(sheet.iter_rows(min_row=first, max_row=last, values_only=True)))


def _grid(pairs: Sequence[tuple[Sequence[Any], Sequence[Any]]], first: int) -> tuple[Grid, bool]:
    """The grid, and whether not all of its rows found room."""
    rows = [[_cell(*both) for both in zip_longest(said, values)] for said, values in pairs]
    while rows and not _width(rows[-1]):
        rows.pop()
    width = max(map(_width, rows), default=0)
    grid = Grid([get_column_letter(at) for at in range(1, width + 1)], width)
    for number, row in enumerate(rows, start=first):
        if not grid.add((number, number), row[:width], count=width):
            return grid, True
    return grid, False


def _width(row: Sequence[Cell]) -> int:
    return max((at for at, cell in enumerate(row, start=1) if any(cell)), default=0)


def _cell(said: Any, value: Any) -> Cell:
    """The value; of a formula the value that was computed last, and the formula."""
    formula = getattr(said, "text", said)
    if isinstance(formula, str) and formula.startswith("=") and formula != value:
        return Cell(_plain(value), formula)
    return Cell(_plain(said))


def _plain(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ").removesuffix(" 00:00:00")
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value) if isinstance(value, str | int | float | timedelta) else type(value).__name__


def _name(sheet: Any) -> dict[str, Any]:
    name = clipped(str(sheet.title), MAX_NAME_CHARACTERS)
    return {"html": name, "is_hidden": sheet.sheet_state != "visible"}


def _count(content: bytes, sheet: Any) -> int:
    """The number of the sheet's last row, told without parsing the rows."""
    found, left = 0, b""
    archive = zipfile.ZipFile(io.BytesIO(content))
    with archive, archive.open(sheet._worksheet_path) as source:
        while chunk := source.read(1 << 20):
            block = left + chunk
            at = max(block.rfind(b"<"), 0)
            found = _last_row(block[:at], found)
            left = block[at:]
    return min(_last_row(left, found), MAX_ROWS)


def _last_row(markup: bytes, found: int) -> int:
    for number in _ROW.findall(markup):
        found = max(found, int(number)) if number else found + 1
    return found
