"""Ways to put a value in the place of another, the most fitting first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from processes.definition.patching.scalars import folded, literal, one_line
from processes.definition.patching.tree import Document, Entry, Kind, Node
from processes.definition.patching.writing import Look, block, flow, is_filled
from processes.definition.stream import TAG

MIN_WIDTH, USUAL_WIDTH = 40, 88
HEADER = re.compile(r"[|>][-+0-9]*")
Splice = tuple[int, int, str]
"""From, to, and what takes the place of the text between; its line breaks are plain ones."""


def settings(
    document: Document, parent: Node, entry: Entry, value: Any, look: Look
) -> Iterator[Splice]:
    node = entry.value
    if is_filled(value):
        yield from _collections(document, parent, entry, value, look)
        yield from _one_line(document, entry, flow(value, look))
        return
    if isinstance(value, list | dict):
        yield from _one_line(document, entry, flow(value, look))
        return
    if isinstance(value, str) and not parent.style and _wants_block(node, value):
        yield from _blocks(document, parent, entry, value, look)
    style = node.style if node.kind is Kind.SCALAR and node.style else ""
    if parent.style == "flow" and not style:
        style = look.text_style
    old = node.text if node.tag in (f"{TAG}bool", f"{TAG}null") else ""
    for text in one_line(value, style=style, in_flow=parent.style == "flow", old=old):
        yield from _one_line(document, entry, text)


def _wants_block(node: Node, value: str) -> bool:
    if node.is_block_text:
        return True
    is_escaped = node.style == '"' and "\n" in node.text
    return "\n" in value and not is_escaped


def _one_line(document: Document, entry: Entry, text: str) -> Iterator[Splice]:
    node, source = entry.value, document.text
    if node.is_block and entry.after is not None and not _begins_beside(document, entry):
        yield entry.after, node.end, f" {text}{_comment_at(document, entry.after)}"
        return
    is_text = node.is_block_text
    comment = _comment_at(document, _end_of_header(document, node)) if is_text else ""
    lead = "" if source[node.body - 1 : node.body] in (" ", "\t", "\n", "\r", "[", "{") else " "
    if entry.key is not None and entry.after is None:
        lead = ": "
    if lead == " " and node.end > node.body:  # as in {"a":1}
        yield node.body, node.end, text + comment
    yield node.body, node.end, lead + text + comment
    if node.start < node.body:  # the tag belongs to the old value
        anchor = f"&{node.anchor} " if node.anchor else ""
        yield node.start, node.end, anchor + text + comment


def _begins_beside(document: Document, entry: Entry) -> bool:
    return document.line(entry.after or 0) == document.line(entry.value.body)


def _comment_at(document: Document, at: int) -> str:
    return (document.rest_of_line(at) or "").rstrip()


def _end_of_header(document: Document, node: Node) -> int:
    found = HEADER.match(document.text, node.body)
    return found.end() if found else node.end


def _collections(
    document: Document, parent: Node, entry: Entry, value: Any, look: Look
) -> Iterator[Splice]:
    node = entry.value
    if parent.style == "flow" or (node.style == "flow" and node.entries):
        return
    if node.is_block:
        yield node.body, node.end, block(value, document.column(node.body), look)
    if entry.after is None:
        return
    stop, comment = _line_end(document, entry)
    column = document.column(entry.start)
    if parent.kind is Kind.LIST:
        inner = column + 1 + len(look.gap)
        yield entry.after, node.end, look.gap + block(value, inner, look)
        return
    inner = column + (look.step if isinstance(value, dict) else look.list_step)
    anchor = f" &{node.anchor}" if node.anchor else ""
    yield entry.after, stop, f"{anchor}{comment}\n{' ' * inner}{block(value, inner, look)}"


def _line_end(document: Document, entry: Entry) -> tuple[int, str]:
    """Return where the entry ends with its comment, and the comment."""
    node = entry.value
    if node.is_block_text:
        return node.end, _comment_at(document, _end_of_header(document, node))
    if node.is_block and entry.after is not None:
        return node.end, _comment_at(document, entry.after)
    rest = document.rest_of_line(node.end)
    if rest is None:
        return node.end, ""
    return node.end + len(rest), rest.rstrip()


def _blocks(
    document: Document, parent: Node, entry: Entry, value: str, look: Look
) -> Iterator[Splice]:
    node = entry.value
    owner = document.column(parent.body)
    indent = _indent_of(document, node) or document.column(entry.start) + look.step
    stop, comment = _line_end(document, entry)
    start = node.body
    if node.is_block:
        start = entry.after or node.body
    lead = "" if document.text[start - 1 : start] in (" ", "\n", "\r") else " "
    written = [literal(value, indent, owner)]
    if node.style == ">":
        written.insert(0, folded(value, indent, owner, _width_of(document, node)))
    for header, lines in filter(None, written):
        yield start, stop, f"{lead}{header}{comment}\n{lines}"
        if stop == len(document.text):  # without its last line break a block ends without one
            yield start, stop, f"{lead}{header}{comment}\n{lines}\n"


def _indent_of(document: Document, node: Node) -> int | None:
    if not node.is_block_text:
        return None
    for line in document.text[node.body : node.end].splitlines()[1:]:
        if line.strip():
            return len(line) - len(line.lstrip(" "))
    return None


def _width_of(document: Document, node: Node) -> int:
    lines = document.text[node.body : node.end].splitlines()[1:]
    longest = max((len(line.strip()) for line in lines), default=USUAL_WIDTH)
    return max(longest, MIN_WIDTH) if len(lines) > 1 else max(longest, USUAL_WIDTH)
