"""How new lists, mappings and texts are written, in the manner of the file around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from processes.definition.patching.scalars import literal, one_line
from processes.definition.patching.tree import Document, Entry, Kind, Node

MAX_STEP = 8
DEFAULT_STEP = 2


@dataclass(frozen=True, slots=True)
class Look:
    """Spaces and quotes of a file, or of the entries next to the one that is written."""

    step: int = DEFAULT_STEP
    """How far a mapping stands in under its key."""
    list_step: int = DEFAULT_STEP
    gap: str = " "
    """What stands behind the dash of a list."""
    key_style: str = ""
    text_style: str = ""


def look_of(document: Document) -> Look:
    steps = [
        (child.kind, document.column(child.body) - document.column(parent.body))
        for parent, child in _nested(document.root)
        if document.line(child.body) > document.line(parent.body)
    ]
    step = next((width for kind, width in steps if kind is Kind.MAPPING and width > 0), None)
    list_step = next((width for kind, width in steps if kind is Kind.LIST), None)
    style = _first_key_style(document.root) if document.root.style == "flow" else ""
    return Look(
        step=min(step or list_step or DEFAULT_STEP, MAX_STEP),
        list_step=min(DEFAULT_STEP if list_step is None else max(list_step, 0), MAX_STEP),
        key_style=style,
        text_style=style,
    )


def _nested(node: Node) -> Iterator[tuple[Node, Node]]:
    """Yield block mappings with the block lists and mappings that stand under their keys."""
    for entry in node.entries:
        if entry.value.is_block:
            if node.kind is Kind.MAPPING:
                yield node, entry.value
            yield from _nested(entry.value)


def _first_key_style(node: Node) -> str:
    key = node.entries[0].key if node.entries else None
    return key.style if key else ""


def look_beside(look: Look, document: Document, entry: Entry) -> Look:
    """Take spaces and quotes from an entry that stands already."""
    value = entry.value
    inner = value.entries[0] if value.entries else entry
    key = inner.key
    gap = document.text[entry.after : value.start] if entry.after is not None else " "
    if "\n" in gap:
        gap = "\n" + gap.rpartition("\n")[2]
    return replace(
        look,
        gap=gap if gap and not gap.strip(" \n") else " ",
        key_style=look.key_style or (key.style if key else ""),
        text_style=look.text_style or _quotes_of(entry),
    )


def _quotes_of(entry: Entry) -> str:
    """Quotes around a text next to the new one: its texts are quoted the same way."""
    style = entry.value.style if entry.value.kind is Kind.SCALAR else ""
    return style if style in ("'", '"') else ""


def is_filled(value: Any) -> bool:
    return isinstance(value, dict | list) and bool(value)


def is_block_text(value: Any, look: Look) -> bool:
    return isinstance(value, str) and "\n" in value and look.text_style != '"'


def key_text(key: str, look: Look, *, in_flow: bool) -> str:
    return next(one_line(key, style=look.key_style, in_flow=in_flow))


def flow(value: Any, look: Look) -> str:
    """Write a value on one line."""
    if isinstance(value, dict):
        pairs = (
            f"{key_text(key, look, in_flow=True)}: {flow(part, look)}"
            for key, part in value.items()
        )
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(part, look) for part in value) + "]"
    return next(one_line(value, style=look.text_style, in_flow=True))


def block(value: Any, column: int, look: Look) -> str:
    """Write a filled list or mapping whose first line begins at the column, without the spaces."""
    pad = "\n" + " " * column
    if isinstance(value, dict):
        return pad.join(
            f"{key_text(key, look, in_flow=False)}:{under_key(part, column, look)}"
            for key, part in value.items()
        )
    return pad.join(f"-{behind_dash(part, column, look)}" for part in value)


def under_key(value: Any, column: int, look: Look) -> str:
    """Write what follows the colon of a key at the column."""
    if is_filled(value):
        inner = column + (look.step if isinstance(value, dict) else look.list_step)
        return "\n" + " " * inner + block(value, inner, look)
    return " " + _scalar(value, column, look)


def behind_dash(value: Any, column: int, look: Look) -> str:
    """Write what follows a dash at the column."""
    if not is_filled(value):
        return (" " if "\n" in look.gap else look.gap) + _scalar(value, column, look)
    last_line = look.gap.rpartition("\n")[2]
    inner = len(last_line) if "\n" in look.gap else column + 1 + len(look.gap)
    return look.gap + block(value, inner, look)


def _scalar(value: Any, column: int, look: Look) -> str:
    if is_filled(value) or value in ([], {}):
        return flow(value, look)
    if is_block_text(value, look):
        written = literal(value, column + look.step, column)
        if written:
            return "\n".join(written)
    return next(one_line(value, style=look.text_style))
