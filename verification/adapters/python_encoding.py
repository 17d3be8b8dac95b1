"""Python's own rule for the encoding of a source: UTF-8, unless a comment names another (PEP 263)."""

from __future__ import annotations

import codecs
import re

from verification.engine.evidence import SyntaxProblem
from verification.engine.grammars.text import undecodable, wide_encoding

_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK_OR_COMMENT = re.compile(rb"^[ \t\f]*(?:#.*)?$")
_LINE_END = re.compile(rb"\r\n?|\n")
_LATIN_1 = re.compile(r"(?:latin-1|iso-8859-1|iso-latin-1)(?:-.*)?")
_OF_WINDOWS = frozenset({"mbcs", "oem", "ansi", "dbcs"})
_QUADRATIC = frozenset({"punycode", "idna"})
"""Encodings whose decoders take a time that grows with the square of the text."""
_OTHER = "The file is not in the encoding that it names."
_UNKNOWN = "It names an encoding that Python does not know: {}."
_MARK = "It begins with the byte order mark of UTF-8, and names another encoding: {}."
_WIDE = SyntaxProblem("The file is UTF-16, and Python is UTF-8.", 1, 1)


def as_utf8(content: bytes) -> bytes | SyntaxProblem:
    """Return the source in UTF-8, or why Python reads no text in it."""
    if wide_encoding(content):
        return _WIDE
    encoding, line = _declared_encoding(content)
    if encoding in _OF_WINDOWS:
        return content.decode("utf-8", "replace").encode()
    if encoding == "utf-8" or encoding in _QUADRATIC:
        return _checked(content)
    if content.startswith(codecs.BOM_UTF8):
        return SyntaxProblem(_MARK.format(encoding[:40]), line)
    try:
        text = content.decode(encoding)
    except LookupError:
        return SyntaxProblem(_unknown(encoding), line)
    except ValueError:
        return SyntaxProblem(_OTHER, line)
    if "coding" not in text:
        # Bytes of another kind of encoding, such as UTF-16: read so, they hold no such comment.
        return SyntaxProblem(_OTHER, line)
    # Where both read it, the columns of UTF-8 are those that an editor shows.
    return content if isinstance(_checked(content), bytes) else text.encode(errors="replace")


def _unknown(encoding: str) -> str:
    try:
        codecs.lookup(encoding)
    except (LookupError, ValueError):
        return _UNKNOWN.format(encoding[:40])
    # A codec, but none of texts.
    return _OTHER


def _checked(content: bytes) -> bytes | SyntaxProblem:
    try:
        content.decode()
    except UnicodeDecodeError as error:
        return undecodable(content, error)
    return content


def _declared_encoding(content: bytes) -> tuple[str, int]:
    """Return the encoding, spelled as the tokenizer does it, and the line that names it."""
    lines = _LINE_END.split(content.removeprefix(codecs.BOM_UTF8), 2)[:2]
    for number, line in enumerate(lines, start=1):
        if named := _CODING.match(line):
            return _spelled(named[1].decode()), number
        if not _BLANK_OR_COMMENT.match(line):
            break
    return "utf-8", 1


def _spelled(name: str) -> str:
    spelled = name[:12].lower().replace("_", "-")
    if spelled == "utf-8" or spelled.startswith("utf-8-") or name.lower() == "utf8":
        return "utf-8"
    return "iso-8859-1" if _LATIN_1.fullmatch(spelled) else name
