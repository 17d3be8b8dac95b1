"""Two changes of one text, put together where they lie apart."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from processes.texts import MAX_DIFF_LINES


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines `start` to `end` of the base become `lines`."""

    start: int
    end: int
    lines: Sequence[str]

    def is_apart_from(self, other: Hunk) -> bool:
        """A line at least lies between: changes side by side may well be about one thing."""
        return self.end < other.start or other.end < self.start


def merged(base: str, mine: str, theirs: str) -> str | None:
    """Return `base` with both changes; None where they meet or the texts are too long."""
    old = base.splitlines(keepends=True)
    sides = [text.splitlines(keepends=True) for text in (mine, theirs)]
    if max(map(len, (old, *sides))) > MAX_DIFF_LINES:
        return None
    ours, others = (_hunks(old, side) for side in sides)
    extra = [hunk for hunk in others if hunk not in ours]
    if not all(one.is_apart_from(other) for one in ours for other in extra):
        return None
    lines = list(old)
    for hunk in sorted((*ours, *extra), key=lambda hunk: hunk.start, reverse=True):
        lines[hunk.start : hunk.end] = hunk.lines
    return "".join(lines)


def _hunks(old: list[str], new: list[str]) -> list[Hunk]:
    matcher = difflib.SequenceMatcher(None, old, new)
    return [
        Hunk(start, end, new[first:last])
        for tag, start, end, first, last in matcher.get_opcodes()
        if tag != "equal"
    ]
