"""JSON objects within a text, found in one pass."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verification.engine.protocol.doubt import DAMAGED, TOO_DEEP, Doubt
from verification.engine.protocol.words import CONFLICT

MAX_DAMAGED = 1_000
"""Each failure to parse costs a count of all lines before it."""
_LONGEST_INTEGER = 300
_OPENS = re.compile(
    r"""\{(?=\s{0,200}(?:\\{0,4}["'“”‘’„«＂]|\}|,|//|/\*|#|\w{1,60}\s{0,9}[:=：]))"""
)
_BRACE = re.compile(r"[{}]")
_BRACKET = re.compile(r"[{}\[\]]")
_CLOSING = {"{": "}", "[": "]"}


@dataclass(frozen=True, slots=True)
class Span:
    """An object that stands whole in a text, from `start` to before `end`."""

    start: int
    end: int
    document: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Objects:
    """`whole` ones that no other one holds, and where objects begin that do not parse."""

    whole: tuple[Span, ...]
    damaged: tuple[int, ...]


def loads(text: str) -> Any:
    """Read JSON. A key with two values holds `CONFLICT`; NaN and infinities are None.

    Raises:
        ValueError: it is no JSON.
        Doubt: it is nested too deeply.
    """
    try:
        return _STRICT.decode(text)
    except RecursionError as error:
        raise Doubt(TOO_DEEP) from error


def objects_in(text: str) -> Objects:
    """Find every object, outermost ones only.

    What stands inside of a damaged object is part of it, and no object of its own.

    Raises:
        Doubt: it is nested too deeply, or there are more than `MAX_DAMAGED`.
    """
    whole: list[Span] = []
    damaged: list[int] = []
    at = 0
    while opened := _OPENS.search(text, at):
        start = opened.start()
        try:
            document, at = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            damaged.append(start)
            at = max(error.pos, start + 1)
            if len(damaged) > MAX_DAMAGED:
                raise Doubt(DAMAGED) from error
        except RecursionError as error:
            raise Doubt(TOO_DEEP) from error
        else:
            whole.append(Span(start, at, document))
    return Objects(tuple(_outermost(text, whole, damaged)), tuple(damaged))


def without(text: str, spans: Iterable[Span]) -> str:
    """The text with these objects taken out of it."""
    kept, at = [], 0
    for span in sorted(spans, key=lambda span: span.start):
        kept.append(text[at : span.start])
        at = span.end
    return "\n".join([*kept, text[at:]])


def closes_what_never_began(text: str, start: int, closing: str = "}") -> bool:
    """Whether a bracket is closed after `start` that was not opened there: the beginning is lost.

    `closing`: the brackets to look at, of `}` and `]`.
    """
    depths = dict.fromkeys(closing, 0)
    for bracket in _BRACKET.finditer(text, start):
        kind = _CLOSING.get(bracket[0], bracket[0])
        if kind in depths:
            depths[kind] += 1 if bracket[0] in _CLOSING else -1
            if depths[kind] < 0:
                return True
    return False


def _outermost(text: str, whole: Sequence[Span], damaged: Sequence[int]) -> Iterator[Span]:
    """Those that stand in no object that was left open before them."""
    begins = frozenset(damaged)
    open_: list[bool] = []
    at = 0
    for span in whole:
        for brace in _BRACE.finditer(text, at, span.start):
            if brace[0] == "{":
                open_.append(brace.start() in begins)
            elif open_:
                open_.pop()
        at = span.end
        if not any(open_):
            yield span


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        found[key] = value if found.setdefault(key, value) == value else CONFLICT
    return found


def _integer(digits: str) -> int | None:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else None


_STRICT = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_int=_integer, parse_constant=lambda _name: None
)
_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_int=_integer, parse_constant=lambda _name: None, strict=False
)
"""Takes line breaks within strings as they are: no other place can be meant."""
