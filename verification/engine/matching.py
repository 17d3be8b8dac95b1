"""Linear-time matching, by the same dialect in which rules are edited. It runs in a limited child."""

from __future__ import annotations

import codecs
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from heapq import merge
from itertools import accumulate, groupby
from typing import Any

from processes.definition import patterns as dialect
from processes.definition.visible_text import spans_in_both, visible_text
from verification.engine.evidence import (
    Answer,
    Matches,
    NotInspected,
    Pattern,
    PatternMatch,
    UnsupportedPattern,
)
from verification.engine.grammars.text import wide_encoding

MAX_PLACES = 50
MAX_QUOTE_CHARS = 200
TOO_LONG = "It took too long."


def search(
    patterns: Sequence[Pattern], texts: Texts, *, clock: Callable[[], float]
) -> Iterator[Answer]:
    """Yield one answer per pattern, over all texts, as soon as it is known."""
    for pattern in patterns:
        yield _search(pattern, texts, clock)


def text_of(content: bytes) -> bytes:
    """The same text in valid UTF-8 without a byte order mark."""
    if encoding := wide_encoding(content):
        return content.decode(encoding, errors="replace").encode(errors="replace")
    content = content.removeprefix(codecs.BOM_UTF8)
    if content.isascii():
        return content
    return content.decode(errors="replace").encode()


class Texts:
    """Searched one by one, and together, so that a pattern which is nowhere costs one search."""

    def __init__(self, contents: Sequence[bytes], *, are_texts: bool = False) -> None:
        self.each = contents if are_texts else [text_of(content) for content in contents]
        self._all = b"\n".join(self.each) if len(self.each) > 1 else b""
        self._starts = list(accumulate((len(text) + 1 for text in self.each), initial=0))

    def candidates(self, pattern: str, compiled: Any) -> Iterator[int]:
        """Yield the numbers of the texts in which the pattern may match."""
        last = len(self.each)
        if last < 2 or not dialect.crosses_lines_alike(pattern):
            yield from range(last)
            return
        number = 0
        while number < last:
            match = compiled.search(self._all, self._starts[number])
            if match is None:
                return
            # What begins at a separator may end in the next text, and match there for itself.
            number = bisect_right(self._starts, match.start(), hi=last) - 1
            yield number
            number += 1

    @cached_property
    def visible(self) -> VisibleTexts:
        return VisibleTexts(self.each)


class VisibleTexts:
    """The texts in which a person reads something else than stands there."""

    def __init__(self, texts: Sequence[bytes]) -> None:
        read = {number: visible_text(text) for number, text in enumerate(texts)}
        self.by_number = {number: text for number, text in read.items() if text is not None}
        self._numbers = list(self.by_number)
        self._texts = Texts([text.content for text in self.by_number.values()], are_texts=True)

    def candidates(self, pattern: str, compiled: Any) -> Iterator[int]:
        for position in self._texts.candidates(pattern, compiled):
            yield self._numbers[position]


def _search(pattern: Pattern, texts: Texts, clock: Callable[[], float]) -> Answer:
    started = clock()
    if problem := dialect.problem_of(pattern.text):
        return UnsupportedPattern(problem.message)
    compiled = dialect.compiled(pattern.text)
    count = 0
    places: list[PatternMatch] = []
    for number in _candidates(pattern, texts, compiled):
        if clock() - started > pattern.seconds:
            return NotInspected(TOO_LONG)
        text = texts.each[number]
        lines = _Lines(text)
        for start, end in _spans(pattern, texts, number, compiled):
            count += 1
            if len(places) < MAX_PLACES:
                places.append(PatternMatch(number, *lines.place(start), _quote(text, start, end)))
            if count >= pattern.limit:
                return Matches(count, tuple(places), clock() - started)
    return Matches(count, tuple(places), clock() - started)


def _candidates(pattern: Pattern, texts: Texts, compiled: Any) -> Iterator[int]:
    numbers = texts.candidates(pattern.text, compiled)
    if pattern.in_visible_text:
        both = merge(numbers, texts.visible.candidates(pattern.text, compiled))
        numbers = (number for number, _ in groupby(both))
    return numbers


def _spans(pattern: Pattern, texts: Texts, number: int, compiled: Any) -> Iterator[tuple[int, int]]:
    text = texts.each[number]
    visible = texts.visible.by_number.get(number) if pattern.in_visible_text else None
    if visible is None:
        return dialect.spans(compiled, text)
    return spans_in_both(compiled, text, visible, limit=pattern.limit)


class _Lines:
    """Turns rising positions into lines and columns without counting anything twice."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._at = 0
        self._line = 1
        self._column = 1

    def place(self, start: int) -> tuple[int, int]:
        passed = self._text.count(b"\n", self._at, start)
        if passed:
            self._line += passed
            self._column = 1
            self._at = self._text.rindex(b"\n", self._at, start) + 1
        self._column += len(self._text[self._at : start].decode())
        self._at = start
        return self._line, self._column


def _quote(text: bytes, start: int, end: int) -> str:
    cut = text[start : min(end, start + 4 * MAX_QUOTE_CHARS)]
    return cut.decode(errors="ignore")[:MAX_QUOTE_CHARS]
