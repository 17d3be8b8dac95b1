"""Bytes to text, and places in it."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from verification.engine.evidence import SyntaxProblem

BYTE_ORDER_MARK = "\ufeff"
_SAMPLE_BYTES = 2_000
_WIDE = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class Decoded:
    """`wide` names UTF-16 or UTF-32 where the content is in one of them."""

    text: str
    has_mark: bool = False
    wide: str = ""


def decoded(content: bytes) -> Decoded | SyntaxProblem:
    """UTF-8, or UTF-16 and UTF-32 where the first bytes show them; without byte order mark."""
    wide = wide_encoding(content)
    try:
        text = content.decode(wide or "utf-8")
    except UnicodeDecodeError as error:
        return undecodable(content, error) if not wide else SyntaxProblem(_NOT_WIDE, 1)
    shown = "UTF-32" if "32" in wide else "UTF-16"
    # The codecs named without a byte order take the mark away themselves.
    has_mark = text.startswith(BYTE_ORDER_MARK) or wide in {"utf-16", "utf-32"}
    return Decoded(text.removeprefix(BYTE_ORDER_MARK), has_mark, shown if wide else "")


def wide_encoding(content: bytes) -> str:
    """The codec of UTF-16 or UTF-32 content, with or without a byte order mark; "" for others."""
    for mark, encoding in _WIDE:
        if content.startswith(mark):
            return encoding
    sample = content[: _SAMPLE_BYTES & ~1]
    if len(sample) < 2 or len(content) % 2 or b"\0" not in sample:
        return ""
    even, odd = sample[::2], sample[1::2]
    if not even.count(0) and odd.count(0) * 10 > len(odd) * 7:
        return "utf-16-le"
    if not odd.count(0) and even.count(0) * 10 > len(even) * 7:
        return "utf-16-be"
    return ""


def undecodable(content: bytes, error: UnicodeDecodeError) -> SyntaxProblem:
    line = content.count(b"\n", 0, error.start) + 1
    start = content.rfind(b"\n", 0, error.start) + 1
    column = len(content[start : error.start].decode("utf-8", "replace")) + 1
    return SyntaxProblem(NOT_UTF8, line, column)


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, both from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def offset_of(text: str, line: int, column: int) -> int:
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    return start + column - 1


def sentence(message: str) -> str:
    message = message.strip() or "it does not parse"
    return f"{message[0].upper()}{message[1:].rstrip('.')}."


BLANK = "The file holds nothing but white space."
NOT_UTF8 = "The file is not valid UTF-8."
_NOT_WIDE = "The file starts like UTF-16, and is none."
MARKED = SyntaxProblem("The file starts with a byte order mark.", 1, 1, certain=False, note=True)
