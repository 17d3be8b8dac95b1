"""Hostile text as HTML: escaped, and what reorders or hides it made visible. Pure."""

from __future__ import annotations

import html
import re
from typing import Final

# Control characters but tab and newline, those that reorder or hide text, and halves of characters.
HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
NUMBER: Final = re.compile(
    r"[-+\u2212]?[$€£]?(\d{1,3}([,' \u00a0\u202f]\d{3})+|\d+)?([.,]\d+)?([eE][-+]?\d+)?\s?[%€$£]?"
)
MAX_NUMBER_CHARACTERS: Final = 40


class CannotShow(Exception):
    """The content is not what it seems, or more than is shown. The text says so to people."""


def escaped(text: str) -> str:
    return revealed(html.escape(text))


def revealed(markup: str) -> str:
    """Markup whose hidden characters stand in text alone, with each of them made visible."""
    return HIDDEN.sub(lambda found: f'<span class="ctl">U+{ord(found[0]):04X}</span>', markup)


def clipped(text: str, limit: int) -> str:
    """The text's beginning as HTML, with how much of it is not shown."""
    if len(text) <= limit:
        return escaped(text)
    return f'{escaped(text[:limit])}<i class="faint"> … {len(text) - limit:,} characters more</i>'


def is_number(text: str) -> bool:
    text = text.strip()
    if not 0 < len(text) <= MAX_NUMBER_CHARACTERS:
        return False
    return any(one.isdigit() for one in text) and NUMBER.fullmatch(text) is not None


def decoded(content: bytes) -> tuple[str, str]:
    """The text, and a word where it is not in UTF-8.

    Raises:
        CannotShow: it is no text.
    """
    for mark, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if content.startswith(mark):
            return _strictly(content, encoding), "It is read as UTF-16."
    try:
        return content.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        if b"\0" in content:
            raise CannotShow("This is no text.") from None
        return content.decode("cp1252", "replace"), "It is not UTF-8. It is read as Windows-1252."


def _strictly(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise CannotShow("This is no text: its encoding is broken.") from error
