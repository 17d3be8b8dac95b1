"""Panes of the artefact that can be looked at in more ways than one."""

from __future__ import annotations

from collections.abc import Sequence

from verification.adapters.viewing import MAX_CONTENT_BYTES
from verification.runs.artefacts import Mark, decode, line_of
from verification.runs.evidence_store import EvidenceLost, read_blob
from verification.runs.models import RunFile
from verification.runs.viewing.kinds import Kind, kind_of
from verification.runs.viewing.selectors import Source
from verification.runs.viewing.viewer import Place, Viewable


def viewable_of(
    row: RunFile, content: bytes | None = None, marks: Sequence[Mark] = (), line: int = 0
) -> Viewable | None:
    """How a file can be looked at. None: it is stored no longer, or too large to be opened."""
    if row.size > MAX_CONTENT_BYTES:
        return None
    if content is None:
        try:
            content = read_blob(row.blob)
        except EvidenceLost:
            return None
    kind = kind_of(row.path, content)
    text = decode(content) if marks else None
    return Viewable(Source.of_file(row, kind), places_in(text or "", marks), line)


def viewable_text(project: int, text: str, marks: Sequence[Mark] = ()) -> Viewable | None:
    """How the run's output can be looked at."""
    kind = kind_of("", text.encode()) if text else Kind.TEXT
    if kind not in (Kind.MARKDOWN, Kind.TREE, Kind.TEXT):
        return None
    return Viewable(Source.of_text(project, text, kind), places_in(text, marks))


def places_in(text: str, marks: Sequence[Mark]) -> tuple[Place, ...]:
    """Where findings stand, by line; those that nothing places are left out."""
    return tuple(
        (line_of(text, mark), mark.enforcement)
        for mark in marks
        if mark.line or (mark.quote and mark.quote in text)
    )
