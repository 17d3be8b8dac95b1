"""Source texts on their way through a browser, and how two of them differ."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
MAX_DIFF_LINES = 4000
MAX_WORDS = 1000
MAX_PAIRS = 5_000_000
"""Words of an old text times words of the new one, over all texts of a page: a second of work."""
MIN_ALIKE = 0.5

_Lines = list[tuple[str, str]]


def with_line_ends_of(old: str, new: str) -> str:
    r"""Give `new`, whose line ends a browser made alike, the line ends that `old` has.

    Lines that both have keep each their own, a changed one that of the line in its place; new
    ones get what `old` uses most.

    >>> with_line_ends_of("a\r\nb\r\n", "a\nc\nb\n")
    'a\r\nc\r\nb\r\n'
    """
    before, after = _lines(old), _lines(new)
    same = _common([text for text, _ in before], [text for text, _ in after])
    tail = _common(
        [text for text, _ in reversed(before[same:])], [text for text, _ in reversed(after[same:])]
    )
    usual = max(("\n", "\r\n", "\r"), key=[end for _, end in before].count)
    ends = [end for _, end in before[:same]]
    ends += _ends_between(before[same : len(before) - tail], after[same : len(after) - tail], usual)
    ends += [end for _, end in before[len(before) - tail :]]
    joined: list[str] = []
    for (text, has_end), kept_end in zip(after, ends, strict=True):
        end = (kept_end or usual) if has_end else ""
        if end == "\n" and not text and joined and joined[-1].endswith("\r"):
            end = "\r"  # the two would be read as one line end
        joined.append(text + end)
    return "".join(joined)


def _ends_between(before: _Lines, after: _Lines, usual: str) -> list[str]:
    """Line ends of `after`, from those of `before`; empty where that line had none."""
    ends = [usual] * len(after)
    if {end for _, end in before} <= {usual} or len(before) * len(after) > MAX_PAIRS:
        return ends
    matcher = difflib.SequenceMatcher(
        None, [text for text, _ in before], [text for text, _ in after]
    )
    for _tag, i, j, m, n in matcher.get_opcodes():
        pairs = min(j - i, n - m)
        ends[m : m + pairs] = [end for _, end in before[i : i + pairs]]
    return ends


def _lines(text: str) -> _Lines:
    """Lines with their ends; the last one has none."""
    found = [(match[1], match[2]) for match in LINE.finditer(text)]
    if len(found) > 1 and found[-2][1] == "":
        found.pop()  # at the end the pattern matches nothing once more
    return found


def lines_of(text: str) -> list[str]:
    """Lines as editors and the process reader count them; the last one may be empty."""
    return [line for line, _ in _lines(text)]


def _common(one: list[str], other: list[str]) -> int:
    at = 0
    while at < min(len(one), len(other)) and one[at] == other[at]:
        at += 1
    return at


@dataclass(frozen=True, slots=True)
class Piece:
    """`kind` is same, del or ins."""

    kind: str
    text: str


class WordDiffs:
    """Changes within texts, word by word, as long as one allowance for all of them lasts."""

    def __init__(self, pairs: int = MAX_PAIRS) -> None:
        self._left = pairs

    def of(self, old: str, new: str) -> list[Piece]:
        """Both texts whole where they have little in common, or are too much to compare."""
        before, after = _words(old), _words(new)
        if max(len(before), len(after)) <= MAX_WORDS and self.allow(len(before) * len(after)):
            matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
            if matcher.quick_ratio() >= MIN_ALIKE and matcher.ratio() >= MIN_ALIKE:
                return list(_pieces(matcher, before, after))
        return [Piece("del", old), Piece("ins", new)]

    def allow(self, pairs: int) -> bool:
        """Whether so many pairs may still be compared; they are counted then."""
        if pairs > self._left:
            return False
        self._left -= pairs
        return True


def plain(value: Any) -> str:
    """A value of a process file, as people read it."""
    if value in (None, "", [], (), {}):
        return "nothing"
    if isinstance(value, list | tuple):
        return ", ".join(plain(one) for one in value)
    if isinstance(value, dict):
        return ", ".join(f"{name}: {plain(one)}" for name, one in value.items())
    return "yes" if value is True else "no" if value is False else str(value)


def _words(text: str) -> list[str]:
    return re.findall(r"\s+|\w+|[^\w\s]", text)


def _pieces(
    matcher: difflib.SequenceMatcher[str], before: list[str], after: list[str]
) -> Iterator[Piece]:
    for tag, i, j, m, n in matcher.get_opcodes():
        if tag == "equal":
            yield Piece("same", "".join(before[i:j]))
            continue
        if j > i:
            yield Piece("del", "".join(before[i:j]))
        if n > m:
            yield Piece("ins", "".join(after[m:n]))
