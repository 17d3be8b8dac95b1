"""Whether a pattern matches no text at all, or every text. Where that is unclear: neither."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable

from processes.definition.patterns import compiled, problem_of

MAX_DEPTH = 100
"""Groups within groups. Deeper patterns are not looked into, nor quotations (`\\Q`)."""
EMPTY_PROGRAM = 1
"""Instructions of a compiled class that holds no character, such as `[^\\s\\S]`."""
SYMBOLS = re.compile(
    r"""\\x\{[^}]*\} | \\[pP]\{[^}]*\} | \\[pP]. | \\x.. | \\.
    | \[\^?\]?(?:\\.|\[:\^?[a-z]+:\]|[^\]\\])*\]
    | \(\?[a-zA-Z-]*\) | \((?:\?P?<[^>]*>|\?[a-zA-Z-]*:)? | [)|]
    | (?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\?? | .""",
    re.VERBOSE | re.DOTALL,
)
OPTIONAL = re.compile(r"[*?]|\{0+[,}]")
NEVER = re.compile(r"\{0+(?:,0+)?\}")
REPEATED = re.compile(r"[*+?]|\{[0-9]+(?:,[0-9]*)?\}")
FLAGS = re.compile(r"\(\?[a-zA-Z-]*\)")
EVERY_LINE = re.compile(r"\(\?[a-zA-Z]*m")

CONSUMED, START, END, BOUNDARY = "consumed", "start", "end", "boundary"
Path = frozenset[str]
"""What a way through a pattern has done so far: consumed a character, or asserted a place."""
Paths = frozenset[Path]
NOTHING_YET: Paths = frozenset([frozenset()])


def matches_nothing(pattern: str) -> bool:
    """Return whether no text can hold a match of a pattern that runs."""
    return not _paths_through(pattern)


def matches_everything(pattern: str) -> bool:
    """Return whether every text, the empty one too, holds a match of a pattern that runs."""
    return any(path <= {START} or path <= {END} for path in _paths_through(pattern))


def _paths_through(pattern: str) -> Paths:
    symbols = deque(SYMBOLS.findall(pattern))
    depth = deepest = 0
    for symbol in symbols:
        depth += (symbol[0] == "(" and not FLAGS.fullmatch(symbol)) - (symbol == ")")
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH or r"\Q" in symbols:
        return frozenset([frozenset([CONSUMED])])
    counts_lines = any(symbol[0] == "(" and EVERY_LINE.match(symbol) for symbol in symbols)
    return _through_alternatives(symbols, NOTHING_YET, counts_lines)


def _through_alternatives(symbols: deque[str], begin: Paths, counts_lines: bool) -> Paths:
    """Follow all alternatives up to the end of their group. Removes its symbols."""
    ended: Paths = frozenset()
    before = now = begin
    while symbols and (symbol := symbols.popleft()) != ")":
        if symbol == "|":
            ended |= now
            before = now = begin
        elif NEVER.match(symbol):
            now = before
        elif REPEATED.match(symbol):
            now = now | before if OPTIONAL.match(symbol) else now
        elif not FLAGS.fullmatch(symbol):
            before = now
            if symbol[0] == "(":
                now = _through_alternatives(symbols, now, counts_lines)
            else:
                now = _through_symbol(symbol, now, counts_lines)
    return ended | now


def _through_symbol(symbol: str, paths: Paths, counts_lines: bool) -> Paths:
    if symbol in ("^", r"\A"):
        is_strict = symbol == r"\A" or not counts_lines
        return _with(START, (path for path in paths if not (is_strict and CONSUMED in path)))
    if symbol in ("$", r"\z"):
        return _with(END, paths)
    if symbol in (r"\b", r"\B"):
        return _with(BOUNDARY, paths)
    if (
        symbol[0] == "["
        and not problem_of(symbol)
        and compiled(symbol).programsize == EMPTY_PROGRAM
    ):
        return frozenset()
    return _with(CONSUMED, (path for path in paths if counts_lines or END not in path))


def _with(mark: str, paths: Iterable[Path]) -> Paths:
    return frozenset(path | {mark} for path in paths)
