"""Tables: no dialect of theirs is certain, so nothing here is ever more than a remark."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from verification.engine.evidence import NotInspected, SyntaxProblem
from verification.engine.grammars.registry import MAX_DATA_BYTES, Parsed, grammar
from verification.engine.grammars.text import Decoded, decoded, sentence

_MAX_REMARKS = 10
_SAMPLED_ROWS = 200
_DELIMITERS = ",;\t|"
_NAMED_DELIMITER = re.compile(r"sep=([,;:|\t ])\r?\n", re.IGNORECASE)
_COMMENT = re.compile(r"^#", re.MULTILINE)
_NO_ROWS = "The file holds no rows."
_ONE_ROW = "The file holds one row only, perhaps a header without data."
_OPEN_QUOTE = "A quote opens in this row and never closes."
_RAGGED = "This row has {}, where the first has {}."
_MORE = "{} further rows have another number of fields than the first."
_NULS = "The file holds NUL characters."
_LATIN = "The file is not valid UTF-8: it was read as Latin-1."


@dataclass(frozen=True, slots=True)
class _Dialect:
    delimiter: str
    quotes: bool = True

    def reader(self, lines: Iterable[str], *, strict: bool = False) -> Iterator[list[str]]:
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            quoting=csv.QUOTE_MINIMAL if self.quotes else csv.QUOTE_NONE,
            strict=strict,
        )


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    width: int
    is_open: bool = False


@grammar("CSV", ".csv", max_bytes=MAX_DATA_BYTES, is_certain=False, bytes_per_second=3_000_000)
def parse_csv(_path: str, content: bytes) -> Parsed:
    return _looked(content, [_Dialect(one) for one in _DELIMITERS])


@grammar("TSV", ".tsv", max_bytes=MAX_DATA_BYTES, is_certain=False, bytes_per_second=3_000_000)
def parse_tsv(_path: str, content: bytes) -> Parsed:
    # Many tools that write tabs know no quotes.
    return _looked(content, [_Dialect("\t"), _Dialect("\t", quotes=False)])


def _looked(content: bytes, dialects: list[_Dialect]) -> Parsed:
    read = decoded(content)
    found: list[SyntaxProblem] = []
    if isinstance(read, SyntaxProblem):
        found.append(replace(read, message=_LATIN, certain=False))
        read = Decoded(content.decode("latin-1"))
    text = read.text
    if "\0" in text:
        return (*found, SyntaxProblem(_NULS, text.count("\n", 0, text.index("\0")) + 1, 0, False))
    if named := _NAMED_DELIMITER.match(text):
        dialects, text = [_Dialect(named[1])], f"\n{text[named.end() :]}"
    csv.field_size_limit(MAX_DATA_BYTES)
    try:
        best = min(dialects, key=lambda one: _fit(text, one))
        problems = [] if _is_even(text, best) else _problems(_rows(text, best))
        return (*found, *problems)
    except csv.Error as error:
        return NotInspected(sentence(str(error)))


def _is_even(text: str, dialect: _Dialect) -> bool:
    """Tell quickly that nothing is to be told: rows of one width, and no comments among them."""
    if _COMMENT.search(text):
        return False
    try:
        widths = Counter(map(len, dialect.reader(io.StringIO(text, newline=""), strict=True)))
    except csv.Error:
        return False
    del widths[0]
    return len(widths) == 1 and widths.total() > 1


def _fit(text: str, dialect: _Dialect) -> tuple[int, bool, int]:
    """The less the better: rows that differ from the first; quotes are rather used than not."""
    rows = list(islice(_rows(text, dialect), _SAMPLED_ROWS))
    width = rows[0].width if rows else 1
    differ = sum(row.width != width or row.is_open for row in rows)
    return (differ if width > 1 else _SAMPLED_ROWS, not dialect.quotes, -width)


def _problems(rows: Iterable[_Row]) -> Iterator[SyntaxProblem]:
    width = count = ragged = line = 0
    for row in rows:
        count += 1
        width, line = width or row.width, row.line
        if row.is_open:
            yield SyntaxProblem(_OPEN_QUOTE, row.line, certain=False)
        elif row.width != width:
            ragged += 1
            if ragged < _MAX_REMARKS:
                message = _RAGGED.format(_fields(row.width), _fields(width))
                yield SyntaxProblem(message, row.line, certain=False)
    if ragged >= _MAX_REMARKS:
        yield SyntaxProblem(_MORE.format(ragged - _MAX_REMARKS + 1), certain=False)
    if not count:
        yield SyntaxProblem(_NO_ROWS, certain=False)
    elif count == 1 and line == 1:
        yield SyntaxProblem(_ONE_ROW, certain=False, note=True)


def _fields(count: int) -> str:
    return "1 field" if count == 1 else f"{count} fields"


def _rows(text: str, dialect: _Dialect) -> Iterator[_Row]:
    """Rows that hold anything, with the line on which each begins; comment lines are left out."""
    lines = _Lines(text)
    for row in dialect.reader(lines):
        if len(row) > 1 or (row and row[0].strip()):
            yield _Row(lines.first_of_row, len(row), lines.ended_inside)
        lines.at_row_start = True


class _Lines:
    """Gives a table's lines to its reader, and knows on which of them a row began."""

    def __init__(self, text: str) -> None:
        self._lines = io.StringIO(text, newline="")
        self.number = self.first_of_row = 0
        self.at_row_start = True
        self.ended_inside = False

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        for line in self._lines:
            self.number += 1
            if self.at_row_start:
                if line.startswith("#"):
                    continue
                self.first_of_row = self.number
                self.at_row_start = False
            return line
        # The reader wants a further line in the middle of a row for one reason: a quote is open.
        self.ended_inside = not self.at_row_start
        raise StopIteration
