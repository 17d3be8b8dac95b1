"""Two texts side by side, line by line; what is the same is folded but for a few lines."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from processes.texts import MAX_DIFF_LINES, MIN_ALIKE, Piece, WordDiffs, lines_of

AROUND = 3
MIN_FOLDED = 3
MAX_FOLDED_LINES = 1000
"""Unchanged lines that a page carries folded; what is more is told and not sent."""
MAX_LINE_PAIRS = 2500
"""Old lines of a changed place times its new ones: beyond, they are paired in their order."""

MAX_LINE_CHARS = 2000
TOKENS = 20
"""What a pair of lines costs of the allowance, in pairs of words."""

Pair = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """`kind` is same, changed (a line by words), other (two lines), old or new (that side alone)."""

    kind: str
    old: Line | None
    new: Line | None


@dataclass(frozen=True, slots=True)
class Stretch:
    """`count` lines. Folded ones are all unchanged; without rows there were too many to send."""

    rows: tuple[Row, ...]
    count: int
    is_folded: bool = False


def beside(old: str, new: str) -> list[Stretch] | None:
    """Every line of both texts. Empty: the lines are the same; None: too long to compare."""
    before, after = _lines(old), _lines(new)
    if max(len(before), len(after)) > MAX_DIFF_LINES:
        return None
    if before == after:
        return []
    return list(_bounded(_joined(_stretches(before, after, WordDiffs()))))


def _lines(text: str) -> list[str]:
    found = lines_of(text)
    return found[:-1] if found[-1] == "" else found


def _stretches(before: list[str], after: list[str], words: WordDiffs) -> Iterator[Stretch]:
    matcher = difflib.SequenceMatcher(None, before, after)
    for tag, i, j, m, n in matcher.get_opcodes():
        if tag == "equal":
            rows = [_same(before, i + at, m + at) for at in range(j - i)]
            is_last = (j, n) == (len(before), len(after))
            yield from _folded(rows, is_first=i == m == 0, is_last=is_last)
            continue
        pairs = _paired(before[i:j], after[m:n], words)
        rows = [_row((before, i), (after, m), pair, words) for pair in pairs]
        yield Stretch(tuple(rows), len(rows))


def _same(before: list[str], i: int, m: int) -> Row:
    pieces = (Piece("same", before[i]),)
    return Row("same", Line(i + 1, pieces), Line(m + 1, pieces))


def _folded(rows: list[Row], *, is_first: bool, is_last: bool) -> Iterator[Stretch]:
    """Unchanged lines: those beside a change stay open."""
    head = 0 if is_first else AROUND
    tail = len(rows) - (0 if is_last else AROUND)
    if tail - head < MIN_FOLDED:
        yield Stretch(tuple(rows), len(rows))
        return
    for part, is_folded in ((rows[:head], False), (rows[head:tail], True), (rows[tail:], False)):
        if part:
            yield Stretch(tuple(part), len(part), is_folded)


def _joined(stretches: Iterator[Stretch]) -> Iterator[Stretch]:
    """Open ones beside each other are one."""
    held: list[Row] = []
    for one in stretches:
        if not one.is_folded:
            held.extend(one.rows)
            continue
        if held:
            yield Stretch(tuple(held), len(held))
        held = []
        yield one
    if held:
        yield Stretch(tuple(held), len(held))


def _bounded(stretches: Iterator[Stretch]) -> Iterator[Stretch]:
    left = MAX_FOLDED_LINES
    for one in stretches:
        if one.is_folded and one.count > left:
            yield replace(one, rows=())
            continue
        left -= one.count if one.is_folded else 0
        yield one


def _row(
    before: tuple[list[str], int], after: tuple[list[str], int], pair: Pair, words: WordDiffs
) -> Row:
    """`before` and `after` are a text's lines and where the changed place begins in them."""
    at, to = pair
    old = None if at is None else before[0][before[1] + at]
    new = None if to is None else after[0][after[1] + to]
    if old is None or new is None:
        pieces: Sequence[Piece] = [Piece("del", old or ""), Piece("ins", new or "")]
        kind = "old" if new is None else "new"
    else:
        pieces = words.of(old, new)
        kind = "changed" if any(piece.kind == "same" for piece in pieces) else "other"
    return Row(
        kind,
        None if at is None else Line(before[1] + at + 1, of_old(pieces)),
        None if to is None else Line(after[1] + to + 1, of_new(pieces)),
    )


def of_old(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    return tuple(piece for piece in pieces if piece.kind != "ins")


def of_new(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    return tuple(piece for piece in pieces if piece.kind != "del")


def _paired(old: Sequence[str], new: Sequence[str], words: WordDiffs) -> Iterator[Pair]:
    """Lines that say much the same stand beside each other; between them, others in order."""
    at = to = 0
    for i, m in [*_alike(old, new, words), (len(old), len(new))]:
        yield from zip_longest(range(at, i), range(to, m))
        if i < len(old):
            yield i, m
        at, to = i + 1, m + 1


def _alike(old: Sequence[str], new: Sequence[str], words: WordDiffs) -> list[tuple[int, int]]:
    """The pairs, in order, that have most in common together."""
    if len(old) * len(new) > MAX_LINE_PAIRS:
        return []
    longest = max(map(len, (*old, *new)), default=0)
    if longest > MAX_LINE_CHARS or not words.allow(len(old) * len(new) * TOKENS):
        return []
    said = [[Counter(re.findall(r"\w+|[^\w\s]", line)) for line in text] for text in (old, new)]
    likes = [[_likeness(one, other) for other in said[1]] for one in said[0]]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in reversed(range(len(old))):
        for m in reversed(range(len(new))):
            with_pair = best[i + 1][m + 1] + likes[i][m] if likes[i][m] else 0.0
            best[i][m] = max(with_pair, best[i + 1][m], best[i][m + 1])
    return list(_walk(best, likes))


def _walk(best: list[list[float]], likes: list[list[float]]) -> Iterator[tuple[int, int]]:
    i = m = 0
    while i < len(best) - 1 and m < len(best[0]) - 1:
        if likes[i][m] and best[i][m] == best[i + 1][m + 1] + likes[i][m]:
            yield i, m
            i, m = i + 1, m + 1
        elif best[i][m] == best[i + 1][m]:
            i += 1
        else:
            m += 1


def _likeness(one: Counter[str], other: Counter[str]) -> float:
    """0 where they have less than half in common."""
    total = one.total() + other.total()
    share = 2 * (one & other).total() / total if total else 0.0
    return share if share >= MIN_ALIKE else 0.0
