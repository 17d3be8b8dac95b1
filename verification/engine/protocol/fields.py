"""A JSON object's values under plain keys, and their meaning where it is unambiguous."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from verification.engine.protocol.words import CONFLICT, plain_key
from verification.engine.rating import SEMANTIC_PARTS, Rating

MAX_TEXT = 4_000
MAX_TEXTS = 100
_NUMBER = re.compile(r"[+-]?(?:\d{1,9}(?:\.\d{0,17})?|\.\d{1,17})")
_SAYS_NOTHING = frozenset(("none", "na", "null", "nil", ""))
_TEXT_KEYS = ("message", "issue", "description", "text", "why", "reason")


class Fields:
    """Values by plain key. One key with two values has none, and `CONFLICT` stands there."""

    def __init__(self, document: Mapping[Any, Any]) -> None:
        self.values: dict[str, Any] = {}
        for key, value in document.items():
            plain = plain_key(key)
            told = self.values.setdefault(plain, value)
            if told is not value and told != value:
                self.values[plain] = CONFLICT

    def has(self, *keys: str) -> bool:
        return any(key in self.values for key in keys)

    def first(self, *keys: str) -> Any:
        """The value of the first key that is there; None without any."""
        return next((self.values[key] for key in keys if key in self.values), None)

    def text(self, *keys: str) -> str:
        return text_of(self.first(*keys))


def text_of(value: Any) -> str:
    """A text that can be stored: bounded, without NUL and lone surrogates."""
    if isinstance(value, list):
        return " ".join(texts_of(value))[:MAX_TEXT]
    if isinstance(value, Mapping):
        return Fields(value).text(*_TEXT_KEYS)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = str(value)[:MAX_TEXT].replace("\0", "�")
    return text.encode("utf-8", "replace").decode()


def texts_of(value: Any) -> tuple[str, ...]:
    """A list of texts, or a single one; what says nothing (`none`, `n/a`) is left out."""
    if not isinstance(value, list | tuple):
        value = (value,)
    told = (text_of(one) for one in value[:MAX_TEXTS] if not isinstance(one, list))
    return tuple(text for text in told if plain_key(text) not in _SAYS_NOTHING)


def share_of(value: Any) -> float | None:
    """A confidence from 0 to 1: a number, its text, or a percentage. Anything else is absent."""
    if isinstance(value, str) and value.strip().endswith("%"):
        percent = number_of(value.strip()[:-1])
        return None if percent is None else _within(percent / 100, 1)
    return _within(number_of(value), 1)


def rating_of(value: Any) -> Rating | None:
    """Points for each part: a number, or its text, within the part's bounds. Else it is absent.

    A whole that names no part is none: what it would be made of is not known.
    """
    fields = Fields(value if isinstance(value, Mapping) else {})
    if not fields.has(*SEMANTIC_PARTS):
        return None
    points = {
        name: _within(number_of(fields.first(name)), most) for name, most in SEMANTIC_PARTS.items()
    }
    return Rating(**points)


def is_rating(value: Any) -> bool:
    """Whether it speaks of parts of a score and of nothing else: its own sum may stand there."""
    known = {*SEMANTIC_PARTS, "total"}
    return isinstance(value, Mapping) and {*Fields(value).values} <= known


def number_of(value: Any) -> float | None:
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def pairs(value: Any) -> Iterable[tuple[Any, Any]]:
    """The entries of an object or a list; a list's have no keys."""
    if isinstance(value, Mapping):
        return value.items()
    return (("", one) for one in value) if isinstance(value, list) else ()


def _within(number: float | None, highest: float) -> float | None:
    if number is None or not math.isfinite(number):
        return None
    return number if 0 <= number <= highest else None
