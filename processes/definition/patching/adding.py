"""Ways to add an entry at the end of a list or mapping, and to take one away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from processes.definition.patching.setting import Splice
from processes.definition.patching.tree import BREAKS, Document, Entry, Kind, Node, skip
from processes.definition.patching.writing import (
    Look,
    behind_dash,
    flow,
    key_text,
    look_beside,
    under_key,
)


def additions(
    document: Document, node: Node, value: Any, look: Look, key: str | None = None
) -> Iterator[Splice]:
    """Yield ways to add to a list or mapping that holds entries, or to a flow one."""
    if node.style == "flow":
        yield from _in_flow(document, node, value, look, key)
        return
    last = node.entries[-1]
    near = look_beside(look, document, last) if key is None else look
    column = document.column(last.start)
    texts = []
    if key is None:
        if last.value.style == "flow":
            texts.append("-" + (near.gap.strip("\n") or " ") + flow(value, near))
        texts.append("-" + behind_dash(value, column, near))
    else:
        own = look_beside(look, document, last)
        texts.append(key_text(key, own, in_flow=False) + ":" + under_key(value, column, look))
    blank = "\n" if _are_apart(document, node) else ""
    for text in texts:
        yield from _behind(document, last, f"{blank}{' ' * column}{text}")


def _are_apart(document: Document, node: Node) -> bool:
    """Whether blank lines stand between the entries."""
    if len(node.entries) < 2:
        return False
    before, last = node.entries[-2:]
    between = document.text[before.end : last.start]
    return any(not line.strip() for line in between.split("\n")[1:-1])


def _behind(document: Document, last: Entry, line: str) -> Iterator[Splice]:
    end = document.line_end(last.end)
    column = document.column(last.start)
    while (following := document.next_line(end)) < len(document.text) and end < following:
        text = document.text[following : document.line_end(following)]
        is_its_comment = text.lstrip(" ").startswith("#")
        if not is_its_comment or len(text) - len(text.lstrip(" ")) <= column:
            break
        end = document.line_end(following)
    yield end, end, "\n" + line
    if end < len(document.text):
        return
    yield end, end, f"\n{line}\n"
    node = _last_node(last)
    if node.is_block_text:  # its last line break was missing: now it must not count
        start = node.body + 1
        for last_break in ("", "\n"):
            yield start, end, f"-{document.text[start:end]}\n{line}{last_break}"


def _last_node(entry: Entry) -> Node:
    node = entry.value
    while node.entries:
        node = node.entries[-1].value
    return node


def _in_flow(
    document: Document, node: Node, value: Any, look: Look, key: str | None
) -> Iterator[Splice]:
    source = document.text
    if not node.entries:
        piece = _piece(value, look, key, ": ")
        yield node.body + 1, node.end - 1, piece
        return
    last = node.entries[-1]
    near = look_beside(look, document, last)
    colon = ": "
    if last.key is not None and last.after is not None and last.value.start == last.after:
        colon = ":" if last.key.style else ": "
    piece = _piece(value, near, key, colon)
    separator = _separator(document, node)
    comma = skip(source, last.end)
    if source[comma : comma + 1] == ",":
        stop = comma + 1
        comment = document.rest_of_line(stop) if "\n" in separator else None
        stop += len(comment or "")
        yield stop, stop, separator + piece + ","
        return
    comment = document.rest_of_line(last.end) if "\n" in separator else None
    kept = (comment or "").rstrip()
    yield last.end, last.end + len(kept), "," + kept + separator + piece


def _piece(value: Any, look: Look, key: str | None, colon: str) -> str:
    lead = "" if key is None else key_text(key, look, in_flow=True) + colon
    return lead + flow(value, look)


def _separator(document: Document, node: Node) -> str:
    """Return what stands between a comma and the entry behind it."""
    last = node.entries[-1]
    if document.begins_line(last.start):
        return "\n" + document.text[document.line_start(last.start) : last.start]
    if len(node.entries) > 1:
        between = document.text[node.entries[-2].end : last.start]
        return between.partition(",")[2] if not between.strip(" \t,") else " "
    return " "


def removals(document: Document, node: Node, entry: Entry, owner: Entry | None) -> Iterator[Splice]:
    if node.style == "flow":
        yield from _out_of_flow(document, node, entry)
    elif len(node.entries) == 1:
        yield from _last_one(document, node, owner)
    else:
        yield from _lines(document, node, entry)


def _last_one(document: Document, node: Node, owner: Entry | None) -> Iterator[Splice]:
    empty = "[]" if node.kind is Kind.LIST else "{}"
    if owner is not None and owner.after is not None:
        after = document.text[owner.after : node.body]
        if "\n" in after or "\r" in after:
            comment = (document.rest_of_line(owner.after) or "").rstrip()
            anchor = f" &{node.anchor}" if node.anchor else ""
            yield owner.after, node.end, f"{anchor} {empty}{comment}"
            return
    yield node.body, node.end, empty


def _lines(document: Document, node: Node, entry: Entry) -> Iterator[Splice]:
    source = document.text
    end = document.line_end(entry.end)
    if document.rest_of_line(entry.end) is None:
        return
    index = node.entries.index(entry)
    if not document.begins_line(entry.start):
        following = document.next_line(end)
        blank = len(source[following:]) - len(source[following:].lstrip(" \t" + BREAKS))
        yield entry.start, following + blank, ""
        if index + 1 < len(node.entries):
            yield entry.start, node.entries[index + 1].start, ""
        return
    floor = node.entries[index - 1].end if index else 0
    start = with_comments(document, entry, floor)
    following = document.next_line(end)
    if following == end and start:  # the file has no last line break, and gets none
        before = start - (2 if source[:start].endswith("\r\n") else 1)
        yield before, end, ""
    yield start, following, ""


def with_comments(document: Document, entry: Entry, floor: int) -> int:
    """Return where the comment lines directly above an entry begin, in the same column."""
    start = document.line_start(entry.start)
    indent = document.text[start : entry.start]
    while start > 0:
        above = document.line_start(start - 1)
        if above >= start or above < floor:
            break
        if not document.text.startswith(f"{indent}#", above):
            break
        start = above
    return start


def _out_of_flow(document: Document, node: Node, entry: Entry) -> Iterator[Splice]:
    source, entries = document.text, node.entries
    index = entries.index(entry)
    if len(entries) == 1:
        yield node.body + 1, node.end - 1, ""
        return
    comma = skip(source, entry.end)
    stands_alone = document.begins_line(entry.start) and source[comma : comma + 1] == ","
    if stands_alone and document.rest_of_line(comma + 1) is not None:
        floor = entries[index - 1].end if index else node.body + 1
        yield with_comments(document, entry, floor), document.next_line(comma + 1), ""
    if index + 1 < len(entries):
        yield entry.start, entries[index + 1].start, ""
        return
    before = entries[index - 1]
    kept = ""
    gap = source[before.end : entry.start]
    if "#" in gap:
        behind_comma = skip(source, before.end) + 1
        kept = (document.rest_of_line(behind_comma) or "").rstrip()
    yield before.end, entry.end, kept
