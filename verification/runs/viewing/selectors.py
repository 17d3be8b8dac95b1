"""A view of a content: kept from the last look, or made now."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from verification.adapters.viewing import WAIT_SECONDS, Opened, open_content
from verification.runs.evidence_store import EvidenceLost, read_blob
from verification.runs.models import RunFile
from verification.runs.viewing import kept
from verification.runs.viewing.kinds import Kind, View

MAX_NUMBER: Final = 10_000_000
ASKS: Final = {
    Kind.MARKDOWN: "markdown",
    Kind.TABLE: "table",
    Kind.SHEETS: "sheets",
    Kind.TREE: "tree",
    Kind.IMAGE: "image",
    Kind.PAGES: "pages",
}
WISHES: Final = {
    Kind.TABLE: ("rows", "line"),
    Kind.SHEETS: ("sheet", "rows"),
    Kind.PAGES: ("page",),
}
LOST: Final = "The content is no longer stored."


@dataclass(frozen=True, slots=True)
class Source:
    """A content that can be looked at, of a project by its id. `path` is empty for the output."""

    project: int
    sha256: str
    size: int
    path: str
    kind: Kind
    read: Callable[[], bytes] = field(repr=False, compare=False)

    @classmethod
    def of_file(cls, row: RunFile, kind: Kind) -> Source:
        blob = row.blob
        return cls(blob.project_id, blob.sha256, row.size, row.path, kind, lambda: read_blob(blob))

    @classmethod
    def of_text(cls, project: int, text: str, kind: Kind) -> Source:
        content = text.encode()
        digest = hashlib.sha256(content).hexdigest()
        return cls(project, digest, len(content), "", kind, lambda: content)


@dataclass(frozen=True, slots=True)
class Wish:
    """Which part of a content is looked at, and how: as an address says it."""

    view: str = ""
    sheet: int = 1
    rows: int = 1
    page: int = 1
    line: int = 0

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Wish:
        return cls(
            view=query.get("view", ""),
            line=_number(query.get("line"), 0),
            **{name: _number(query.get(name), 1) for name in ("sheet", "rows", "page")},
        )

    def of_kind(self, kind: Kind) -> dict[str, int]:
        return {name: getattr(self, name) for name in WISHES.get(kind, ())}


def kept_view(source: Source, wish: Wish) -> Opened | None:
    """The view, where it was made before."""
    if source.kind not in ASKS:
        return None
    return kept.kept(source.project, _name(source, wish))


def view_of(source: Source, wish: Wish, *, seconds: float = WAIT_SECONDS) -> Opened:
    """The view, made now where it was not before. It may be a refusal, never an error."""
    if source.kind not in ASKS:
        return Opened({}, refusal="There is nothing to show of this.")
    if (found := kept_view(source, wish)) is not None:
        return found
    try:
        content = source.read()
    except EvidenceLost:
        return Opened({}, refusal=LOST, is_lasting=False)
    wished = wish.of_kind(source.kind)
    made = open_content(content, ASKS[source.kind], wait_seconds=seconds, **wished)
    if made.is_lasting:
        kept.keep(source.project, _name(source, wish), made)
    return made


def is_source(view: str) -> bool:
    return view in (View.SOURCE, View.NONE)


def _name(source: Source, wish: Wish) -> str:
    wished = "-".join(str(one) for one in wish.of_kind(source.kind).values())
    return "-".join(one for one in (source.sha256, ASKS[source.kind], wished) if one)


def _number(text: Any, usual: int) -> int:
    if not isinstance(text, str) or not text.isascii() or not text.isdecimal() or len(text) > 8:
        return usual
    return min(int(text), MAX_NUMBER) or usual
