"""A text in passages: sentences, list items, rows and headings, one after another."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from verification.engine.claims.spans import Span, merged

_LINE = re.compile(r"[^\n]*(?:\n|$)")
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]+")
_ROW = re.compile(r"[ \t]*\|")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
# With the white space behind it, up to a line that is not blank.
_SENTENCE_END = re.compile(
    r"(?:(?<![.!?…])[.!?…]++[\"'”’)\]*_]*+(?=\s|$)|[。！？]+[」』”’）]*)[ \t]*(?:\r?\n(?:[ \t]*\r?\n)*)?"  # noqa: RUF001
)
# Words that end with a full stop, and no sentence with them.
_SHORT = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|approx|ca|Dr|Mr|Mrs|Ms|Prof|No|Nos|Fig|pp?|St|z\.B)|\b[A-Z])\.\s*\Z"
)
_LONGEST_SHORT = 12


@dataclass(frozen=True, slots=True)
class Passages:
    """`starts` part the whole text; `headings` are places of headings with their levels."""

    text: str
    starts: tuple[int, ...]
    headings: tuple[tuple[Span, int], ...]

    def around(self, span: Span) -> Span:
        """The passages in which a span stands, white space behind them included."""
        start, end = span
        first = bisect_right(self.starts, start) - 1
        after = bisect_right(self.starts, end - 1)
        return self.starts[first], [*self.starts[after : after + 1], len(self.text)][0]

    def with_bare_headings(self, spans: Sequence[Span]) -> tuple[Span, ...]:
        """The merged spans, and each heading under which they leave nothing."""
        ends = (*self.starts[1:], len(self.text))
        titles = {start for (start, _), _ in self.headings}
        held, left = [0], [0]
        for start, end in zip(self.starts, ends, strict=True):
            is_body = start not in titles and bool(self.text[start:end].strip())
            held.append(held[-1] + is_body)
            left.append(left[-1] + (is_body and not self._is_taken((start, end), spans)))
        bare = []
        for heading, below in self._sections():
            first, last = (bisect_left(self.starts, at) for at in below)
            if held[first] < held[last] and left[first] == left[last]:
                bare.append(self.around(heading))
        return merged([*spans, *bare])

    def _is_taken(self, passage: Span, spans: Sequence[Span]) -> bool:
        """Whether nothing but white space of a passage lies outside of the spans."""
        start, end = passage
        for taken, after in spans[max(0, bisect_right(spans, (start, start)) - 1) :]:
            if taken >= end or self.text[start:taken].strip():
                break
            start = max(start, after)
        return not self.text[start:end].strip()

    def _sections(self) -> Iterator[tuple[Span, Span]]:
        """Each heading, and the place of what stands under it."""
        following: list[tuple[int, int]] = [(len(self.text), 0)]
        for (start, end), level in reversed(self.headings):
            while following[-1][1] > level:
                following.pop()
            yield (start, end), (end, following[-1][0])
            following.append((start, level))


def passages(text: str) -> Passages:
    starts = {0}
    headings = []
    markers: set[int] = set()
    parts_here = False
    for line in _LINE.finditer(text):
        heading, item = _HEADING.match(line[0]), _ITEM.match(line[0])
        is_blank = not line[0].strip()
        if heading or item or _ROW.match(line[0]) or (parts_here and not is_blank):
            starts.add(line.start())
        if heading:
            headings.append((line.span(), len(heading[1])))
        if item:
            markers.add(line.start() + item.end())
        parts_here = is_blank or bool(heading)
    for end in _SENTENCE_END.finditer(text):
        if end.end() in markers:
            continue
        if not _SHORT.search(text[max(0, end.end() - _LONGEST_SHORT) : end.end()]):
            starts.add(end.end())
    return Passages(text, tuple(sorted(starts - {len(text)} | {0})), tuple(headings))
