"""Submitted text within other formats: cut, cleaned, and never taken for markup."""

from __future__ import annotations

import re
from urllib.parse import quote

ZERO_WIDTH = "\u200b"
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Control characters but tab and newline, and those that reorder or hide text.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2028\u2029\u2060-\u2069\ufeff]"
)
_MARKDOWN = re.compile(r"[\\`*_\[\]#|~$^]|:(?=[/\w])|\.(?=\w)|(?<=\d)[.)]|^[-+=:]")
_NAMING = re.compile(r"([@#!$%~&^])(?=[\w\[\"'])")
_BACKTICKS = re.compile("`+")
_OUTSIDE = re.compile(r"[/\\]|[A-Za-z]:[\\/]|(.*/)?\.\.(/|$)")


def clipped(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def one_line(text: str) -> str:
    return " ".join(text.split())


def xml_text(text: str, limit: int) -> str:
    """Without what XML cannot hold, and without what CI servers take for an attachment."""
    return clipped(_NOT_XML.sub("\ufffd", text).replace("[[", "[ ["), limit)


def sarif_text(text: str, limit: int) -> str:
    """Neither a link nor a placeholder where a viewer would look for them."""
    text = text.replace("](", f"]{ZERO_WIDTH}(")
    return clipped(re.sub(r"\{(\d+)\}", rf"{{{ZERO_WIDTH}\1}}", text), limit)


def markdown_text(text: str, limit: int) -> str:
    """One line of plain text: no markup, link, mention or reference to an issue is left in it."""
    text = visible(one_line(clipped(text, limit)))
    # Code hosts look for names in the finished page, where no backslash is left.
    text = _NAMING.sub(rf"\1{ZERO_WIDTH}", text)
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(_backslash, text)


def _backslash(found: re.Match[str]) -> str:
    return f"\\{found[0]}"


def markdown_code(text: str, limit: int) -> str:
    """A block of code that its text cannot end."""
    text = visible(clipped(text, limit).replace("\r\n", "\n").replace("\r", "\n"))
    fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))
    return f"{fence}text\n{text}\n{fence}"


def markdown_span(text: str, limit: int) -> str:
    """Code within a line that its text cannot end."""
    text = visible(one_line(clipped(text, limit)))
    mark = "`" * (1 + max(map(len, _BACKTICKS.findall(text)), default=0))
    room = " " if "`" in text else ""
    return f"{mark}{room}{text}{room}{mark}"


def visible(text: str) -> str:
    """Characters that reorder or hide text, by their number."""
    return _HIDDEN.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)


def relative_uri(path: str) -> str | None:
    """The path as a relative reference; None where it leads out of the workspace."""
    if not path or _OUTSIDE.match(path):
        return None
    return quote(path, safe="/")
