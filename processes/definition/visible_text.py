"""Text as a person reads it, and where each part of it stands in the original.

A person sees no characters without width and no terminal colours, takes compatible forms of a letter
for the letter (NFKC, but for numbers such as `²`), and reads the escapes of JSON. A gap that a person sees stays a gap: codes that
move a cursor become a space. No line is ever joined to the next: an escaped line end is a carriage
return.
"""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from heapq import merge
from itertools import chain, islice, starmap
from operator import itemgetter
from typing import Any

from processes.definition.patterns import spans

BLOCK_BYTES = 32_768
MAX_BLOCK_BYTES = 65_536
"""Of a line without a space."""
MAX_REPLACED = 30
MAX_FORM_BYTES = 12
"""A character whose compatible form is longer stays as it is: a text must not grow without bound."""

_HIGH, _LOW = r"[dD][89abAB][0-9a-fA-F]{2}", r"[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPE = re.compile(
    rf"\\(?:\\*u(?:(?P<high>{_HIGH})\\+u(?P<low>{_LOW})|(?P<code>[0-9a-fA-F]{{4}}))"
    r"|(?P<letter>[\"\\/nrt]))"
)
_ESCAPES = re.compile(r"(?<!\\)(?:\\u[0-9a-fA-F]{4}){2,}")
"""A run of them, which is decoded at once where no part of it is special."""
_NOT_PLAIN = re.compile("[\x00-\x1f\\\\\ud800-\udfff]")
_LETTERS = {"n": "\r", "r": "\r", "t": "\t"}
_KEPT_CONTROLS = frozenset("\t\r\x1b")
_TERMINAL = (
    r"(?P<colours>(?:\x1b\[|\x9b)[0-9;:?]{0,64}[mKhl]|\x1b\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)"
    r"|\x1b[()][0-9A-Za-z])"
    r"|(?P<moves>(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]|\x1b[@-Z\\^_])"
)
_WITHOUT_WIDTH = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
_SUPPLEMENTARY = (
    (0x10780, 0x107C0), (0x1CCD0, 0x1CD00), (0x1D150, 0x1D1D0), (0x1D400, 0x1D800),
    (0x1E000, 0x1E100), (0x1EE00, 0x1EF00), (0x1F100, 0x1F260), (0x1FBF0, 0x1FC00),
    (0x2F800, 0x2FA20),
)  # fmt: skip
"""Where characters above U+FFFF have compatible forms."""
_JAMO = frozenset(map(chr, [*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)]))
"""They join the letter before them, as accents do."""

Read = Callable[[re.Match[str]], str]


def visible_text(content: bytes) -> VisibleText | None:
    """Return valid UTF-8 as a person reads it; None: just as it stands."""
    if content.isascii() and b"\x1b" not in content and b"\\" not in content:
        return None
    blocks: list[_Block] = []
    pieces: list[bytes] = []
    start = visible_start = 0
    while start < len(content):
        end = _block_end(content, start)
        original = content[start:end]
        visible = _read_block(original)
        blocks.append(_Block(start, visible_start, original != visible, end - start))
        pieces.append(visible)
        start, visible_start = end, visible_start + len(visible)
    if not any(block.is_changed for block in blocks):
        return None
    return VisibleText(b"".join(pieces), content, blocks)


def spans_in_both(
    pattern: Any, content: bytes, visible: VisibleText, *, limit: int
) -> Iterator[tuple[int, int]]:
    """Yield matches in the order of the original, with those that only a person sees.

    A match that a person sees and the original holds in part is one.
    """
    in_original = list(islice(spans(pattern, content), limit))
    if len(in_original) == limit:
        return iter(in_original)
    seen = (visible.span(*span) for span in islice(spans(pattern, visible.content), limit))
    return merge(in_original, (span for span in seen if not _overlaps(span, in_original)))


def _overlaps(span: tuple[int, int], others: Sequence[tuple[int, int]]) -> bool:
    """Return whether a span shares a part or the start with one of these, which are in order."""
    start, end = span
    number = bisect_left(others, (max(end, start + 1), 0))
    if not number:
        return False
    other_start, other_end = others[number - 1]
    return other_start == start or (other_start < end and start < other_end)


@dataclass(frozen=True, slots=True)
class _Block:
    start: int
    visible_start: int
    is_changed: bool
    length: int


@dataclass
class VisibleText:
    """`content` is what a person reads; all positions are in bytes."""

    content: bytes
    original: bytes
    blocks: Sequence[_Block]
    _origins: tuple[int, _Origins] = field(init=False)

    def __post_init__(self) -> None:
        self._starts = [block.visible_start for block in self.blocks]
        self._origins = (-1, _Origins("", ()))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of the visible text stands in the original, without what is hidden around it."""
        if start >= len(self.content):
            return len(self.original), len(self.original)
        first = self._origin(start)[0]
        if end <= start:
            return first, first
        last = end - 1
        while last > start and self.content[last] & 0xC0 == 0x80:
            last -= 1
        return first, self._origin(last)[1]

    def _origin(self, position: int) -> tuple[int, int]:
        """Where the visible character that begins here comes from."""
        number = bisect_right(self._starts, position) - 1
        block = self.blocks[number]
        within = position - block.visible_start
        if not block.is_changed:
            start = block.start + within
            return start, _next_character(self.original, start)
        if self._origins[0] != number:
            original = self.original[block.start : block.start + block.length].decode()
            self._origins = (number, _origins_of(original))
        origins = self._origins[1]
        visible = self.content[block.visible_start : block.visible_start + within]
        first, last = origins.of(len(visible.decode()))
        before = len(origins.text[:first].encode())
        return block.start + before, block.start + before + len(origins.text[first:last].encode())


@dataclass(frozen=True, slots=True)
class _Origins:
    """For each step of reading, the last one first, what it replaced; positions in characters.

    A replacement is (start in the result, its end, start in the source, its end).
    """

    text: str
    steps: Sequence[Sequence[tuple[int, int, int, int]]]

    def of(self, position: int) -> tuple[int, int]:
        """Where a character of the result begins and ends in the text."""
        first, last = position, position + 1
        for replacements in self.steps:
            first, last = _before(replacements, first)[0], _before(replacements, last - 1)[1]
        return first, last


def _before(replacements: Sequence[tuple[int, int, int, int]], position: int) -> tuple[int, int]:
    number = bisect_right(replacements, position, key=itemgetter(0)) - 1
    if number < 0:
        return position, position + 1
    _, result_end, start, end = replacements[number]
    if position < result_end:
        return start, end
    moved = end + position - result_end
    return moved, moved + 1


def _origins_of(text: str) -> _Origins:
    resolved = _ESCAPE.sub(_resolve, text)
    steps = [
        _replacements(_hidden(resolved), _show, resolved),
        _replacements(_ESCAPE, _resolve, text),
    ]
    return _Origins(text, steps)


def _replacements(
    pattern: re.Pattern[str] | None, read: Read, text: str
) -> list[tuple[int, int, int, int]]:
    replacements = []
    grown = 0
    for match in pattern.finditer(text) if pattern else ():
        start, end = match.span()
        shown = read(match)
        replacements.append((start + grown, start + grown + len(shown), start, end))
        grown += len(shown) - (end - start)
    return replacements


def _block_end(content: bytes, start: int) -> int:
    """The end of a line, or of a very long one a place where no character is begun."""
    if len(content) - start <= BLOCK_BYTES:
        return len(content)
    end = content.find(b"\n", start + BLOCK_BYTES, start + MAX_BLOCK_BYTES)
    if end < 0:
        end = content.rfind(b" ", start + BLOCK_BYTES, start + MAX_BLOCK_BYTES)
    if end < 0:
        end = content.rfind(b",", start + BLOCK_BYTES, start + MAX_BLOCK_BYTES)
    end = start + MAX_BLOCK_BYTES - 1 if end < 0 else end
    return _next_character(content, end)


def _next_character(content: bytes, at: int) -> int:
    at += 1
    while at < len(content) and content[at] & 0xC0 == 0x80:
        at += 1
    return min(at, len(content))


def _read_block(content: bytes) -> bytes:
    if content.isascii() and b"\x1b" not in content and b"\\" not in content:
        return content
    text = content.decode()
    if "\\u" in text:
        text = _ESCAPES.sub(_resolve_all, text)
    if "\\" in text:
        text = _ESCAPE.sub(_resolve, text)
    pattern = _hidden(text)
    if pattern is not None and pattern is _patterns().alone:
        few = _patterns().hidden.intersection(text)
        if len(few) <= MAX_REPLACED:
            # A search for each character that occurs is many times faster than one for all.
            codes = few & {"\x1b", "\x9b"}
            text, pattern = (_CODES.sub(_show, text) if codes else text), None
            for character in few - codes:
                text = text.replace(character, _visible_form(character))
    return (pattern.sub(_show, text) if pattern else text).encode()


def _resolve_all(escapes: re.Match[str]) -> str:
    text: str = json.loads(f'"{escapes[0]}"')
    is_plain = not _NOT_PLAIN.search(text)
    return text if is_plain else escapes[0]


def _resolve(escape: re.Match[str]) -> str:
    if letter := escape["letter"]:
        return _LETTERS.get(letter, letter)
    if escape["high"]:
        high, low = int(escape["high"], 16), int(escape["low"], 16)
        return chr(0x10000 + ((high - 0xD800) << 10) + low - 0xDC00)
    code = int(escape["code"], 16)
    character = "\r" if code == ord("\n") else chr(code)
    is_control = code < ord(" ") and character not in _KEPT_CONTROLS
    return escape[0] if is_control or 0xD800 <= code < 0xE000 else character


def _hidden(text: str) -> re.Pattern[str] | None:
    """A pattern for all that a person reads otherwise; None: there is nothing of it."""
    if text.isascii():
        return _CODES if "\x1b" in text else None
    patterns, characters = _patterns(), set(text)
    if patterns.hidden.isdisjoint(characters):
        return None
    return patterns.alone if patterns.accents.isdisjoint(characters) else patterns.with_accents


def _show(hidden: re.Match[str]) -> str:
    kind = hidden.lastgroup
    if kind is None:
        return _compatible(hidden[0])
    return " " if kind == "moves" else ""


def _visible_form(character: str) -> str:
    return "" if character in _patterns().narrow else _compatible(character)


@lru_cache(maxsize=10_000)
def _compatible(text: str) -> str:
    form = unicodedata.normalize("NFKC", text)
    return form if len(form.encode()) <= max(MAX_FORM_BYTES, len(text.encode())) else text


_CODES = re.compile(_TERMINAL)


@dataclass(frozen=True, slots=True)
class _Patterns:
    hidden: frozenset[str]
    """What begins or is something that a person reads otherwise."""
    accents: frozenset[str]
    narrow: frozenset[str]
    alone: re.Pattern[str]
    with_accents: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    """Build them from the tables of Unicode, when they are first needed."""
    ranges = (range(0xA0, 0xD800), range(0xE000, 0x10000), *starmap(range, _SUPPLEMENTARY))
    characters = [chr(code) for code in chain.from_iterable(ranges)]
    changed = list(filter(_has_other_form, characters))
    accents = [sign for sign in characters if unicodedata.combining(sign) or sign in _JAMO]
    narrow = [chr(code) for first, last in _WITHOUT_WIDTH for code in range(first, last + 1)]
    unseen = f"{_TERMINAL}|(?P<narrow>[{_class_of(narrow)}]+)"
    accented = f"[^\\x1b\\n{_class_of(narrow)}][{_class_of(accents)}]{{1,30}}"
    return _Patterns(
        hidden=frozenset([*changed, *accents, *narrow, "\x1b", "\x9b"]),
        accents=frozenset(accents),
        narrow=frozenset(narrow),
        alone=re.compile(f"{unseen}|[{_class_of(changed)}]"),
        with_accents=re.compile(f"{unseen}|{accented}|[{_class_of(changed)}]"),
    )


def _has_other_form(character: str) -> bool:
    """Not so for `²`, `½` and `①`: a person takes them for no digits of the number before them."""
    is_sign_of_number = unicodedata.category(character) == "No"
    return unicodedata.normalize("NFKC", character) != character and not is_sign_of_number


def _class_of(characters: Iterable[str]) -> str:
    """The members of a class, as ranges."""
    members = []
    first = last = -2
    for code in (*map(ord, characters), 0x110001):
        if code == last + 1:
            last = code
            continue
        if first >= 0:
            members.append(f"{chr(first)}-{chr(last)}")
        first = last = code
    return "".join(members)
