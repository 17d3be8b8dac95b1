"""Texts without content. Source: docs/engine.md, "Nothing submitted"."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

MAX_EMPTY_CHARS = 10_000
"""A longer text with a visible character is not looked into for empty values."""
_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Me", "Mn", "Zl", "Zp", "Zs"})
_INVISIBLE_LETTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Fillers that Unicode counts as letters or symbols."""
_TERMINAL_CODES = re.compile(r"\x1b\[[0-9;?]{0,64}[A-Za-z]")
_FENCE_LINE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*[\w+-]{0,40}[ \t]*\r?$", re.MULTILINE)
_EMPTY_WORDS = frozenset({"None", "undefined", "nil"})


def is_blank(text: str) -> bool:
    """Return whether a reader would see no character: white space, no width, control codes."""
    if "\x1b" in text:
        text = _TERMINAL_CODES.sub("", text)
    text = text.strip()
    return not any(map(_is_visible, set(text[:1000]))) and not any(map(_is_visible, set(text)))


def is_without_content(text: str) -> bool:
    """Return whether a text is blank, or an empty code fence, or an empty text in quotes."""
    return is_blank(text) or (
        len(text) <= MAX_EMPTY_CHARS and _value_of(_without_fences(text)) == ""
    )


def is_empty_value(text: str) -> bool:
    """Return whether a text is a value that holds nothing: `null`, `[]`, `{"rows": []}`, `None`.

    Such a value may be the right answer.
    """
    if len(text) > MAX_EMPTY_CHARS:
        return False
    inner = _without_fences(text)
    return inner in _EMPTY_WORDS or _holds_nothing(_value_of(inner))


def _is_visible(character: str) -> bool:
    if character in _INVISIBLE_LETTERS:
        return False
    return unicodedata.category(character) not in _INVISIBLE_CATEGORIES


def _without_fences(text: str) -> str:
    return _FENCE_LINE.sub("", text).strip().strip("\ufeff")


def _value_of(text: str) -> Any:
    """Return the value that a text spells as JSON, '' for a blank text, else the text itself."""
    if is_blank(text) or text == "''":
        return ""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return "" if isinstance(value, str) and is_blank(value) else value


def _holds_nothing(value: Any) -> bool:
    left = [value]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            left += part.values()
        elif isinstance(part, list):
            left += part
        elif not (part is None or (isinstance(part, str) and is_blank(part))):
            return False
    return True
