"""An entry of a list in another place: entries change places, what stands between them stays."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from processes.definition.patching.adding import with_comments
from processes.definition.patching.applying import MAX_WORK
from processes.definition.patching.finding import Path, find, missing, refusal, shown
from processes.definition.patching.said import Change, said
from processes.definition.patching.tree import Document, Kind, Node, read_document
from processes.definition.stream import Unreadable

Span = tuple[int, int]


def move(document: Document, path: Path, to: int) -> Document:
    """Put an entry of a list where `to` says, counted from 0 in the list as it will be."""
    place = find(document, path)
    parent, entry = place.parent, place.entry
    if entry is None:
        raise missing(document, parent, path)
    if parent.kind is not Kind.LIST:
        message = f"{shown(path)} is no entry of a list."
        raise refusal(document, "patch.kind", message, path=path, at=entry.start)
    if not 0 <= to < len(parent.entries):
        raise missing(document, parent, (*path[:-1], to))
    if document.work + document.size > MAX_WORK:
        message = "So many edits of so long a file take too long: send the text."
        raise refusal(document, "patch.too_much", message, path=path, at=entry.start)
    meant = said(document.root, Change(parent, place.index, None, moved_to=to))
    text = _reordered(document, parent, place.index, to)
    try:
        result = read_document(text) if text is not None else None
    except Unreadable:
        result = None
    if result is None or said(result.root) != meant:
        message = f"{shown(path)} is written in a way that only an edit of the text can move."
        raise refusal(document, "patch.layout", message, path=path, at=entry.start)
    return replace(result, work=document.work + document.size)


def _reordered(document: Document, parent: Node, index: int, to: int) -> str | None:
    """Return the text; None: a comment stands where nobody can tell whose it is."""
    source = document.text
    spans = _spans(document, parent)
    gaps = [source[one[1] : other[0]] for one, other in pairwise(spans)]
    if parent.style == "flow" and any("#" in gap for gap in gaps):
        return None
    texts = [source[start:end] for start, end in spans]
    texts.insert(to, texts.pop(index))
    pieces = [texts[0]]
    for gap, text in zip(gaps, texts[1:], strict=True):
        pieces += [gap, text]
    return source[: spans[0][0]] + "".join(pieces) + source[spans[-1][1] :]


def _spans(document: Document, parent: Node) -> list[Span]:
    """From where to where each entry goes, with the comments that belong to it."""
    if parent.style == "flow":
        return [(entry.start, entry.end) for entry in parent.entries]
    spans, floor = [], 0
    for entry in parent.entries:
        start = entry.start
        if document.begins_line(start):
            start = with_comments(document, entry, floor) + document.column(start)
        floor = entry.end
        spans.append((start, _end_with_comments(document, entry.end, document.column(entry.start))))
    return spans


def _end_with_comments(document: Document, end: int, column: int) -> int:
    """Comment lines below an entry that stand further in than it are its own."""
    end += len(document.rest_of_line(end) or "")
    while end < (following := document.next_line(end)):
        line = document.text[following : document.line_end(following)]
        bare = line.lstrip(" ")
        if not bare.startswith("#") or len(line) - len(bare) <= column:
            break
        end = document.line_end(following)
    return end
