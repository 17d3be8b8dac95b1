"""What a command wrote to its terminal, as lines with their colours. Hostile text. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from verification.adapters.viewing_text import escaped

MAX_LINE_CHARACTERS = 2_000
ESCAPE = re.compile(
    r"\x1b(?:\[(?P<how>[0-?]{0,64})[ -/]{0,8}(?P<what>[@-~])"
    r"|\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)|[()#][0-9A-Z]|[0-9=>@-Z\\^_c-~])"
)
CUT = re.compile(r"… (\d{1,12}) bytes left out …")
COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
FONTS = {1: "bold", 2: "dim", 3: "italic", 4: "underlined"}
ENDINGS = {22: ("bold", "dim"), 23: ("italic",), 24: ("underlined",)}
FOREGROUND = {
    base + at: colour for base in (30, 90) for at, colour in enumerate(COLOURS)
}  # other grounds are left out: they would need to be read against
LONGER = {"5": 1, "2": 3}
"""How many more numbers a colour takes that is none of the eight."""


@dataclass(frozen=True, slots=True)
class Piece:
    """`look` names classes, '' for plain text."""

    text: str
    look: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """`left_out`: it stands for so many bytes that were not kept."""

    pieces: Sequence[Piece]
    hidden_characters: int = 0
    left_out: int = 0

    @property
    def html(self) -> str:
        shown = "".join(
            f'<span class="{one.look}">{escaped(one.text)}</span>'
            if one.look
            else escaped(one.text)
            for one in self.pieces
        )
        if not self.hidden_characters:
            return shown
        return f'{shown}<i class="faint"> … {self.hidden_characters:,} characters more</i>'


def plain(text: str) -> str:
    """Without what steers a terminal."""
    return ESCAPE.sub("", text) if "\x1b" in text else text


def split(text: str) -> list[str]:
    written = text.replace("\r\n", "\n").split("\n")
    if written[-1] == "":
        written.pop()
    return written


def lines_of(text: str) -> list[Line]:
    """What stood on a terminal: a line that was written over shows what came last."""
    return read(split(text))


def read(written: Iterable[str], *, is_cut: bool = False) -> list[Line]:
    """Some lines, the first of them in no colour.

    `is_cut`: a line may say how much of the middle was not kept.
    """
    look: dict[str, str] = {}
    return [_line(one, look, is_cut=is_cut) for one in written]


def _line(written: str, look: dict[str, str], *, is_cut: bool) -> Line:
    if is_cut and (cut := CUT.fullmatch(written)):
        return Line((), left_out=int(cut[1]))
    seen = written.rstrip("\r").rpartition("\r")[2]
    if "\x1b" not in written:
        pieces = [Piece(seen, _classes(look))] if seen else []
    else:
        _follow(written.removesuffix(seen), look)
        pieces = list(_pieces(seen, look))
    return _bounded(pieces)


def _follow(text: str, look: dict[str, str]) -> None:
    """What was written over may have changed the colours all the same."""
    for found in ESCAPE.finditer(text):
        if found["what"] == "m":
            _turn(found["how"], look)


def _pieces(text: str, look: dict[str, str]) -> Iterator[Piece]:
    at = 0
    for found in ESCAPE.finditer(text):
        if found.start() > at:
            yield Piece(text[at : found.start()], _classes(look))
        at = found.end()
        if found["what"] == "m":
            _turn(found["how"], look)
    if at < len(text):
        yield Piece(text[at:], _classes(look))


def _turn(how: str, look: dict[str, str]) -> None:
    """Do what the numbers before an `m` say."""
    numbers = iter(how.replace(":", ";").split(";"))
    for number in numbers:
        code = int(number) if number.isascii() and number.isdigit() else 0
        if code == 0:
            look.clear()
        elif code in FONTS:
            look[FONTS[code]] = FONTS[code]
        elif code in ENDINGS:
            for font in ENDINGS[code]:
                look.pop(font, None)
        elif code in FOREGROUND:
            look["colour"] = FOREGROUND[code]
        elif code in (38, 39):
            look.pop("colour", None)
        if code in (38, 48):
            for _ in range(LONGER.get(next(numbers, ""), 0)):
                next(numbers, None)


def _classes(look: Mapping[str, str]) -> str:
    return " ".join(f"t-{one}" for one in look.values())


def _bounded(pieces: Sequence[Piece]) -> Line:
    size = sum(len(one.text) for one in pieces)
    if size <= MAX_LINE_CHARACTERS:
        return Line(tuple(pieces))
    left, kept = MAX_LINE_CHARACTERS, []
    for one in pieces:
        if left <= 0:
            break
        kept.append(Piece(one.text[:left], one.look))
        left -= len(one.text)
    return Line(tuple(kept), size - MAX_LINE_CHARACTERS)
