"""What a content is, by its bytes first and its name second; and which views it has. Pure."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from verification.runs.artefacts import decode


class Kind(StrEnum):
    TEXT = "text"
    MARKDOWN = "markdown"
    TABLE = "table"
    SHEETS = "sheets"
    TREE = "tree"
    IMAGE = "image"
    PAGES = "pages"
    OTHER = "other"


class View(StrEnum):
    SOURCE = "source"
    RENDERED = "rendered"
    TABLE = "table"
    TREE = "tree"
    IMAGE = "image"
    PAGES = "pages"
    NONE = "none"


VIEWS: Final = {
    Kind.TEXT: (View.SOURCE,),
    Kind.MARKDOWN: (View.RENDERED, View.SOURCE),
    Kind.TABLE: (View.TABLE, View.SOURCE),
    Kind.SHEETS: (View.TABLE,),
    Kind.TREE: (View.TREE, View.SOURCE),
    Kind.IMAGE: (View.IMAGE,),
    Kind.PAGES: (View.PAGES,),
    Kind.OTHER: (View.NONE,),
}
"""The first is shown where no finding has a place."""

PICTURES: Final = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a")
NAMED: Final = {
    "md": Kind.MARKDOWN,
    "markdown": Kind.MARKDOWN,
    "csv": Kind.TABLE,
    "tsv": Kind.TABLE,
    "json": Kind.TREE,
    "geojson": Kind.TREE,
    "ipynb": Kind.TREE,
}
UNTOLD: Final = ("", "txt", "text", "out")
"""Names that say nothing of what is inside."""
LOOKED_AT_CHARACTERS: Final = 10_000
_MARKS: Final = tuple(
    re.compile(pattern, re.M)
    for pattern in (
        r"^#{1,6} +\S",
        r"^ {0,3}(```|~~~)",
        r"^ {0,3}[-*+] +\S[^\n]*\n(?:[^\n]*\n){0,3}? {0,3}[-*+] +\S",
        r"^ {0,3}1[.)] +\S",
        r"\*\*[^\s*][^*\n]{0,200}\*\*",
        r"\[[^\]\n]{1,80}\]\([^()\s]{1,300}\)",
        r"^> +\S",
    )
)
_TABLE: Final = re.compile(r"^ {0,3}\|? *:?-{3,}:? *(?:\| *:?-{3,}:? *)+\|? *$", re.M)


def kind_of(path: str, content: bytes) -> Kind:
    """What is submitted at this path; an empty path is the run's output."""
    suffix = suffix_of(path)
    if magic := _magic(content, suffix):
        return magic
    text = decode(content)
    if text is None:
        return Kind.TABLE if NAMED.get(suffix) is Kind.TABLE else Kind.OTHER
    if suffix in UNTOLD:
        return _looks(text)
    named = NAMED.get(suffix, Kind.TEXT)
    return Kind.TEXT if named is Kind.TREE and not _may_be_tree(text) else named


def suffix_of(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""


def _magic(content: bytes, suffix: str) -> Kind | None:
    start = content[:1024]
    if start.startswith(PICTURES) or (start[:4] == b"RIFF" and start[8:12] == b"WEBP"):
        return Kind.IMAGE
    if start.startswith(b"%PDF-") or (suffix == "pdf" and b"%PDF-" in start):
        return Kind.PAGES
    if start.startswith(b"PK\x03\x04") and b"xl/workbook" in content:
        return Kind.SHEETS
    return None


def _looks(text: str) -> Kind:
    if _may_be_tree(text) and text.rstrip()[-1:] in ("}", "]") and '"' in text:
        return Kind.TREE
    return Kind.MARKDOWN if looks_like_markdown(text) else Kind.TEXT


def _may_be_tree(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[")


def looks_like_markdown(text: str) -> bool:
    """A table, or two marks of different kinds: one alone stands in much that is not Markdown."""
    start = text[:LOOKED_AT_CHARACTERS]
    if _TABLE.search(start) and "|" in start:
        return True
    return sum(mark.search(start) is not None for mark in _MARKS) > 1
