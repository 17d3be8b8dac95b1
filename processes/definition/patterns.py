"""Patterns for a linear-time matcher: what it can run, and where it cannot, why."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2

MAX_PATTERN_CHARS = 2_000
MAX_PROGRAM_BYTES = 2 * 1024 * 1024
"""A large compiled pattern is what makes a linear-time matcher slow."""

UNSUPPORTED = (
    ("lookahead", re.compile(r"\(\?[=!]")),
    ("lookbehind", re.compile(r"\(\?<[=!]")),
    ("backreference", re.compile(r"\\[1-9]|\\[gk][{<']|\(\?P=")),
    ("atomic group", re.compile(r"\(\?>")),
    ("conditional group", re.compile(r"\(\?\(")),
    ("comment group", re.compile(r"\(\?#")),
    ("possessive repetition", re.compile(r"(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\+")),
    (r"\Z (write \z)", re.compile(r"\\Z")),
    (r"\u (write \x{…})", re.compile(r"\\[uU]")),
    ("named character", re.compile(r"\\N")),
    ("flag", re.compile(r"\(\?[a-zA-Z]*[auLx][a-zA-Z]*[):]")),
)
COUNTED = re.compile(r"\{(?:[0-9]{0,9},)?([0-9]{1,9})\}")
NO_ANCHOR = re.compile(r"\\[^AzCQ]|\[\^")
OF_WHOLE_TEXTS = re.compile(r"\\[AzCQ]|[\^$]")
OF_LINES = re.compile(r"\\[AzCQ]|\(\?[a-zA-Z]*-")
EVERY_LINE = re.compile(r"\(\?[is]*m[is]*\)")
SKIPPED = re.compile(r"\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|\[:\^?[a-z]+:\]|[^\]\\])*\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PatternProblem:
    """Why a pattern cannot run. `column` counts from 1 in the pattern; None: cannot be told."""

    message: str
    column: int | None = None


def options() -> Any:
    """How every pattern is compiled, while editing and while judging."""
    chosen = re2.Options()
    chosen.max_mem = MAX_PROGRAM_BYTES
    chosen.never_capture = True  # groups that nobody reads make searching slow
    chosen.log_errors = False
    return chosen


def problem_of(pattern: str) -> PatternProblem | None:
    """Say why a pattern cannot run; None: it can."""
    if len(pattern) > MAX_PATTERN_CHARS:
        return PatternProblem(f"A pattern may hold at most {MAX_PATTERN_CHARS} characters.")
    try:
        compiled(pattern)
    except re2.error as error:
        return _unsupported(pattern) or _in_its_words(pattern, error)
    except UnicodeError:
        return PatternProblem("A pattern must be text that UTF-8 can hold.")
    return None


def count_matches(pattern: str, text: str, *, limit: int) -> int:
    """Count matches that do not overlap, up to `limit`.

    Raises:
        ValueError: the pattern cannot run.
    """
    if problem := problem_of(pattern):
        raise ValueError(problem.message)
    found = 0
    for _span in spans(compiled(pattern), text.encode(errors="replace")):
        found += 1
        if found >= limit:
            break
    return found


def spans(pattern: Any, content: bytes) -> Iterator[tuple[int, int]]:
    """Yield where matches begin and end, in bytes of valid UTF-8.

    The matcher's own iterator gives an empty match twice and stops within characters.
    """
    at = 0
    while at <= len(content):
        match = pattern.search(content, at)
        if match is None:
            return
        start, end = match.span()
        yield start, end
        at = end if end > start else _after_character(content, end)


def crosses_lines_alike(pattern: str) -> bool:
    """Say whether what matches in a text also matches in it between other lines.

    Not so for what asks where a text begins or ends, unless every line counts.
    """
    limit = OF_LINES if EVERY_LINE.match(pattern) else OF_WHOLE_TEXTS
    return limit.search(NO_ANCHOR.sub("", pattern)) is None


def weight(pattern: str) -> int:
    """How much a search may cost against other patterns: repetitions multiply."""
    return len(pattern) * math.prod(max(1, int(count)) for count in COUNTED.findall(pattern))


@lru_cache(maxsize=128)
def compiled(pattern: str) -> Any:
    """What `problem_of` finds no fault with; a compiled pattern may hold `MAX_PROGRAM_BYTES`."""
    return re2.compile(pattern, options())


def _after_character(content: bytes, at: int) -> int:
    at += 1
    while at < len(content) and content[at] & 0xC0 == 0x80:
        at += 1
    return at


def _unsupported(pattern: str) -> PatternProblem | None:
    at = 0
    while at < len(pattern):
        for name, construct in UNSUPPORTED:
            if construct.match(pattern, at):
                message = f"The matcher has no {name}: it answers in linear time, whatever comes."
                return PatternProblem(message, at + 1)
        skipped = SKIPPED.match(pattern, at)
        at = skipped.end() if skipped else at + 1
    return None


def _in_its_words(pattern: str, error: Exception) -> PatternProblem:
    raw = error.args[0] if error.args else ""
    text = raw.decode(errors="replace") if isinstance(raw, bytes) else str(raw)
    reason, _, fragment = text.partition(": ")
    tells_where = fragment not in ("", pattern) and pattern.count(fragment) == 1
    at = pattern.find(fragment) if tells_where else -1
    shown = f"{reason}: {fragment[:60]}" if fragment else reason
    return PatternProblem(f"Not a pattern: {shown}.", at + 1 if at >= 0 else None)
