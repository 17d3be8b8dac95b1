"""What a tree says, whatever way it is written: to compare what was meant with what was done."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from processes.definition.patching.tree import Kind, Node
from processes.definition.plain import INTEGER, TRUE_WORDS
from processes.definition.stream import TAG

Said = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """An edit as it changes the tree: of one node's entries, the one at `index`.

    `index` past the last entry adds one; `said` None removes; `key` names an added one.
    With `moved_to` the entry goes there as it is.
    """

    parent: Node
    index: int
    said: Said | None
    key: str | None = None
    moved_to: int | None = None


def said(node: Node, change: Change | None = None) -> Said:
    """Return what a tree says, once the change is made."""
    if node.kind is Kind.ALIAS and node.target is not None:
        return said(node.target, change)
    if node.kind is Kind.SCALAR:
        return _scalar(node.tag, node.text)
    entries = [
        (said(entry.key) if entry.key else (), said(entry.value, change)) for entry in node.entries
    ]
    if change is not None and change.parent is node:
        _apply(entries, change)
    usual = ("", f"{TAG}{'seq' if node.kind is Kind.LIST else 'map'}")
    return (node.kind if node.tag in usual else node.tag, tuple(entries))


def _apply(entries: list[tuple[Said, Said]], change: Change) -> None:
    if change.moved_to is not None:
        entries.insert(change.moved_to, entries.pop(change.index))
    elif change.said is None:
        del entries[change.index]
    elif change.index < len(entries):
        entries[change.index] = (entries[change.index][0], change.said)
    else:
        entries.append((() if change.key is None else said_of(change.key), change.said))


def said_of(value: Any) -> Said:
    """Return what a text must say that means this JSON value."""
    if isinstance(value, dict):
        return (Kind.MAPPING, tuple((said_of(key), said_of(part)) for key, part in value.items()))
    if isinstance(value, list):
        return (Kind.LIST, tuple(((), said_of(part)) for part in value))
    if value is None:
        return ("null", None)
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, int):
        return ("int", value)
    if isinstance(value, float):
        return ("float", value)
    return ("str", str(value))


def _scalar(tag: str, text: str) -> Said:
    name = tag.removeprefix(TAG)
    if name == "null":
        return (name, None)
    if name == "bool":
        return (name, text.strip().lower() in TRUE_WORDS)
    if name == "int" and INTEGER.fullmatch(text) and text.lstrip("+-") in ("0", text.lstrip("+-0")):
        return (name, int(text))
    if name == "float" and (number := _finite(text)) is not None:
        return (name, number)
    return (name, text)


def _finite(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
