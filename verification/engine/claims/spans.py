"""Places in a text, in code points from 0: where words stand, and what is left without them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

Span = tuple[int, int]

MAX_PLACES = 2_000
"""Where a phrase may stand, inside of other words too, before the search for it gives up."""
# A line's end may be followed by the marks of a Markdown quotation, and words may be emphasised.
_GAP = re.compile(
    r"(?P<space>\s*\n[ \t]*(?:>[ \t]?)+|\s+)|(?<![^\W_])(?:[*_`]|~~)++|(?:[*_`]|~~)++(?![^\W_])"
)
_MARKS_BEFORE = re.compile(r"[*_`~]{1,3}$")
_MARKS_AFTER = re.compile(r"[*_`~]{1,3}")
SAME_QUOTES = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201b", "'"),
        **dict.fromkeys("\u201c\u201d\u201e", '"'),
    }
)
_SAME_LETTERS = str.maketrans(
    {
        "\u0130": "i",  # the one letter whose small form is longer
        "\u03c2": "\u03c3",  # a final sigma: small letters depend on what follows
    }
)
CLOSING = ".;:,!?…。"
_NUMBER_GOES_ON = re.compile(r"[.,]\d")
_NUMBER_CAME_BEFORE = re.compile(r"\d[.,]")
_NO_SPACES_FROM = "\u0e00"
"""Scripts from here on part their words without spaces, or with little help of them."""


class SoughtInVain(Exception):
    """A phrase cannot be looked for in bounded time."""


@dataclass(frozen=True, slots=True)
class Origins:
    """Where the characters of a text stood in the one it was made of, piece by piece."""

    starts: tuple[int, ...]
    origins: tuple[int, ...]

    def of(self, span: Span) -> Span:
        """The place of a span that is not empty."""
        start, end = span
        return self._of(start), self._of(end - 1) + 1

    def _of(self, at: int) -> int:
        piece = bisect_right(self.starts, at) - 1
        return self.origins[piece] + at - self.starts[piece]


@dataclass(frozen=True, slots=True)
class Folded:
    """A text in which white space, case, emphasis and the form of quotes make no difference."""

    text: str
    origins: Origins


def folded(text: str) -> Folded:
    pieces: list[str] = []
    places: list[tuple[int, int]] = []
    at = length = 0
    for gap in _GAP.finditer(text):
        pieces.append(text[at : gap.start()])
        places.append((length, at))
        length += gap.start() - at
        if gap["space"]:
            pieces.append(" ")
            places.append((length, gap.start()))
            length += 1
        at = gap.end()
    pieces.append(text[at:])
    places.append((length, at))
    starts, origins = zip(*places, strict=True)
    return Folded(plain("".join(pieces)), Origins(starts, origins))


def plain(text: str) -> str:
    """Case and the form of quotes taken away; as long as before."""
    return text.translate(SAME_QUOTES).translate(_SAME_LETTERS).lower().translate(_SAME_LETTERS)


def phrase_of(text: str) -> str:
    """What to look for in a folded text."""
    return folded(text).text.strip()


def core_of(phrase: str) -> str:
    """A phrase without the mark that closes it: two claims that share it say the same."""
    return phrase.rstrip(CLOSING) or phrase


def occurrences(text: str, phrase: str) -> Iterator[Span]:
    """Where a phrase stands in a folded text, whole words only; they do not overlap.

    Raises:
        SoughtInVain: too much of the text looks like it.
    """
    places = 0
    at = text.find(phrase) if phrase else -1
    while at >= 0:
        places += 1
        if places > MAX_PLACES:
            raise SoughtInVain
        end = at + len(phrase)
        if _goes_on(text, at, end):
            end = at + 1
        else:
            yield at, end
        at = text.find(phrase, end)


def balanced(text: str, span: Span) -> Span:
    """The span with a mark of emphasis beside it, whose other end lies within."""
    start, end = span
    before = _MARKS_BEFORE.search(text, max(0, start - 3), start)
    after = _MARKS_AFTER.match(text, end)
    if before and text.count(before[0], start, end) % 2:
        start = before.start()
    if after and text.count(after[0], span[0], end) % 2:
        end = after.end()
    return start, end


def merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The same places, in order, none of them touching another."""
    whole: list[Span] = []
    for start, end in sorted(spans):
        if whole and start <= whole[-1][1]:
            whole[-1] = whole[-1][0], max(end, whole[-1][1])
        else:
            whole.append((start, end))
    return tuple(whole)


def kept(text: str, spans: Sequence[Span]) -> tuple[Span, ...]:
    """What lies between merged spans."""
    starts = (0, *(end for _, end in spans))
    ends = (*(start for start, _ in spans), len(text))
    return tuple(zip(starts, ends, strict=True))


def without(text: str, spans: Sequence[Span]) -> str:
    """The text without merged spans; every other character stays."""
    return "".join(text[start:end] for start, end in kept(text, spans))


def origins_of(pieces: Sequence[Span]) -> Origins:
    """The places of pieces that were put together."""
    lengths = accumulate((end - start for start, end in pieces), initial=0)
    return Origins(tuple(lengths)[:-1], tuple(start for start, _ in pieces))


def _goes_on(text: str, start: int, end: int) -> bool:
    """Whether a word or a number that begins or ends here is only a part of one."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if _is_of_a_word(before[-1:]) and _is_of_a_word(text[start]):
        return True
    if _is_of_a_word(after[:1]) and _is_of_a_word(text[end - 1]):
        return True
    return bool(
        (text[start].isdigit() and _NUMBER_CAME_BEFORE.match(before))
        or (text[end - 1].isdigit() and _NUMBER_GOES_ON.match(after))
    )


def _is_of_a_word(character: str) -> bool:
    return (character.isalnum() or character == "_") and character < _NO_SPACES_FROM
