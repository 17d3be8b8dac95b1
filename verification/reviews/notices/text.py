"""Submitted text in mails: one line, bounded, and nothing that a mail program acts on."""

from __future__ import annotations

import unicodedata

MAX_TITLE_CHARS = 80
SEPARATORS = ("Zl", "Zp")


def one_line(text: str, limit: int = MAX_TITLE_CHARS) -> str:
    r"""The text without control, direction and line characters, its addresses made plain words.

    >>> one_line("Size\r\nBcc: all@example.org")
    'Size Bcc: all@example.org'
    >>> one_line("see https://example.org")
    'see https[:]//example.org'
    """
    seen = "".join(_plain(character) for character in text[: limit * 20])
    line = " ".join(seen.split()).replace("://", "[:]//")
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _plain(character: str) -> str:
    kind = unicodedata.category(character)
    if kind in SEPARATORS or character.isspace():
        return " "
    return "" if kind.startswith("C") else character
