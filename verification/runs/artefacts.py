"""Numbered, marked lines of submitted text, within bounds. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

MAX_SHOWN_BYTES = 4 * 1024 * 1024
MAX_SHOWN_LINES = 3000
MAX_LINE_CHARACTERS = 3000
MAX_DIFF_LINES = 2000
MAX_DIFF_SHOWN = 600
TOO_LARGE = "This file is too large to show here. Download it instead."

WEIGHT = {"": 0, "observe": 1, "advisory": 2, "hard": 3}


@dataclass(frozen=True, slots=True)
class Mark:
    """A finding's place in one text. `line` and `column` count from 1."""

    enforcement: str
    line: int | None
    column: int | None = None
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    is_marked: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    pieces: tuple[Piece, ...]
    enforcement: str = ""
    hidden_characters: int = 0


@dataclass(frozen=True, slots=True)
class Text:
    """What is shown of a text: some of its lines, and how many stand before and after."""

    lines: tuple[Line, ...] = ()
    before: int = 0
    after: int = 0
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Diff:
    lines: tuple[tuple[str, str], ...] = ()
    refusal: str = ""
    hidden: int = 0


@dataclass(slots=True)
class _Places:
    enforcement: dict[int, str] = field(default_factory=dict)
    spans: dict[int, list[tuple[int, int]]] = field(default_factory=dict)


def decode(content: bytes) -> str | None:
    """The text, or None where it is none that could be shown."""
    if b"\0" in content[:8192]:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def shown_file(
    content: bytes, marks: Iterable[Mark] = (), *, first: int = 1, limit: int = MAX_SHOWN_LINES
) -> Text:
    if len(content) > MAX_SHOWN_BYTES:
        return Text(refusal=TOO_LARGE)
    text = decode(content)
    if text is None:
        return Text(refusal="This is not UTF-8 text. Download it to look inside.")
    return shown_text(text, marks, first=first, limit=limit)


def shown_text(
    text: str, marks: Iterable[Mark] = (), *, first: int = 1, limit: int = MAX_SHOWN_LINES
) -> Text:
    """Lines `first` to `first + limit - 1`, those with findings marked."""
    if not text:
        return Text()
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    first = max(1, min(first, len(lines)))
    places = _places(text, lines, marks)
    last = min(len(lines), first + limit - 1)
    return Text(
        lines=tuple(
            _line(number, lines[number - 1].removesuffix("\r"), places)
            for number in range(first, last + 1)
        ),
        before=first - 1,
        after=len(lines) - last,
    )


def line_of(text: str, mark: Mark) -> int:
    """The line a mark stands on; 1 where nothing tells."""
    if mark.line:
        return mark.line
    at = text.find(mark.quote) if mark.quote else -1
    return text.count("\n", 0, at) + 1 if at >= 0 else 1


def _places(text: str, lines: Sequence[str], marks: Iterable[Mark]) -> _Places:
    places = _Places()
    for mark in marks:
        number = mark.line
        if not number and mark.quote and mark.quote in text:
            number = line_of(text, mark)
        if not number or number > len(lines):
            continue
        quoted = mark.quote.rstrip("\n").split("\n") if mark.quote else [""]
        for offset, quote in enumerate(quoted[: len(lines) - number + 1]):
            _place(places, number + offset, lines[number + offset - 1], quote, mark, offset)
    return places


def _place(places: _Places, number: int, line: str, quote: str, mark: Mark, offset: int) -> None:
    known = places.enforcement.get(number, "")
    if WEIGHT.get(mark.enforcement, 1) >= WEIGHT[known]:
        places.enforcement[number] = mark.enforcement
    column = mark.column - 1 if mark.column and not offset else 0
    start = line.find(quote, column) if quote else -1
    if quote and start < 0:
        start = line.find(quote)
    if quote and start >= 0:
        places.spans.setdefault(number, []).append((start, start + len(quote)))
    elif mark.column and not offset and mark.column <= len(line):
        places.spans.setdefault(number, []).append((column, column + 1))


def _line(number: int, text: str, places: _Places) -> Line:
    hidden = max(0, len(text) - MAX_LINE_CHARACTERS)
    text = text[:MAX_LINE_CHARACTERS]
    pieces: list[Piece] = []
    at = 0
    for start, end in sorted(places.spans.get(number, ())):
        start, end = max(start, at), min(end, len(text))
        if start >= end:
            continue
        if start > at:
            pieces.append(Piece(text[at:start]))
        pieces.append(Piece(text[start:end], is_marked=True))
        at = end
    if at < len(text):
        pieces.append(Piece(text[at:]))
    return Line(number, tuple(pieces), places.enforcement.get(number, ""), hidden)


def diff_of(before: str, after: str) -> Diff:
    """A unified diff, or a word on why there is none."""
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > MAX_DIFF_LINES:
        return Diff(refusal=f"More than {MAX_DIFF_LINES} lines are not compared here.")
    found = list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]
    kinds = {"+": "add", "-": "del", "@": "hunk"}
    lines = tuple(
        (kinds.get(line[:1], ""), line[:MAX_LINE_CHARACTERS]) for line in found[:MAX_DIFF_SHOWN]
    )
    return Diff(lines, hidden=max(0, len(found) - MAX_DIFF_SHOWN))


def whole_of(text: str) -> Diff:
    """A text in which nothing differs, as its diff."""
    lines = text.splitlines()
    shown = tuple(("", line[:MAX_LINE_CHARACTERS]) for line in lines[:MAX_DIFF_SHOWN])
    return Diff(shown, hidden=max(0, len(lines) - MAX_DIFF_SHOWN))


def changed_paths(before: Mapping[str, str], after: Mapping[str, str]) -> list[tuple[str, str]]:
    """`(path, "added" | "removed" | "changed")` between two `{path: sha256}`, by path."""
    found = []
    for path in sorted({*before, *after}):
        if path not in before:
            found.append((path, "added"))
        elif path not in after:
            found.append((path, "removed"))
        elif before[path] != after[path]:
            found.append((path, "changed"))
    return found
