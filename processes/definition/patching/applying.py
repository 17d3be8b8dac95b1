"""One edit: the first way to write it that says exactly what was meant."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

from processes.definition.model import Problem
from processes.definition.patching.adding import additions, removals
from processes.definition.patching.finding import (
    Path,
    Place,
    Unpatchable,
    find,
    missing,
    refusal,
    refuse_merged,
    refuse_shared,
    refuse_shared_within,
    shown,
)
from processes.definition.patching.said import Change, said, said_of
from processes.definition.patching.setting import Splice, settings
from processes.definition.patching.tree import Document, Kind, Node, read_document
from processes.definition.patching.writing import look_of
from processes.definition.stream import MAX_DEPTH, MAX_NODES, TAG, Unreadable

MAX_INTEGER = 10**18
MAX_WAYS = 10
MAX_STEPS = 8
MAX_LEVELS = 2
MAX_WORK = 3 * MAX_NODES
"""Nodes that are read again to see what edits did: two seconds' worth, and 100 edits of any file
of a usual length."""
Step = Callable[[Document], Document]


def set_value(document: Document, path: Path, value: Any, *, levels: int = MAX_LEVELS) -> Document:
    """Change a value. `levels`: how deep to look for the parts of it that differ."""
    _check_value(document, path, value)
    place = find(document, path)
    if place.rest:
        path = path[: -len(place.rest)]
        for key in reversed(place.rest):
            value = {key: value}
    entry = place.entry
    if entry is None:
        return _add_key(document, place, path, value)
    refuse_shared_within(document, entry.value, path)
    if entry.value.kind is Kind.ALIAS:
        refuse_shared(document, entry.value, path)
    change = Change(place.parent, place.index, said_of(value))
    if said(entry.value) == change.said:
        return document
    ways = settings(document, place.parent, entry, value, look_of(document))
    result = _by_parts(document, change, path, value, levels) if levels else None
    return result or _first(document, change, ways, path)


def _by_parts(
    document: Document, change: Change, path: Path, value: Any, levels: int
) -> Document | None:
    """Change only those entries of a list or mapping that differ; None: that is not enough."""
    node = change.parent.entries[change.index].value
    steps: list[Step] | None = None
    if node.kind is Kind.LIST and isinstance(value, list):
        steps = _list_steps(node, path, value, levels - 1)
    elif node.kind is Kind.MAPPING and isinstance(value, dict):
        steps = _mapping_steps(node, path, value, levels - 1)
    if not steps or len(steps) > MAX_STEPS:
        return None
    result = document
    try:
        for step in steps:
            result = step(result)
    except Unpatchable:
        return None
    return result if said(result.root) == said(document.root, change) else None


def _list_steps(node: Node, path: Path, value: list[Any], levels: int) -> list[Step] | None:
    old, new = [said(entry.value) for entry in node.entries], [said_of(part) for part in value]
    if not old or not new:
        return None
    if new[: len(old)] == old:
        return [partial(append, path=path, value=part) for part in value[len(old) :]]
    if len(new) == len(old):
        pairs = enumerate(zip(old, new, strict=True))
        return [
            partial(set_value, path=(*path, at), value=value[at], levels=levels)
            for at, (one, other) in pairs
            if one != other
        ]
    kept = 0
    gone: list[Step] = []
    for index, one in enumerate(old):
        if kept < len(new) and one == new[kept]:
            kept += 1
        else:
            gone.insert(0, partial(remove, path=(*path, index)))
    return gone if kept == len(new) else None


def _mapping_steps(node: Node, path: Path, value: dict[str, Any], levels: int) -> list[Step] | None:
    old = {entry.key.text: said(entry.value) for entry in node.entries if entry.key is not None}
    if not value or not old.keys() & value.keys():
        return None
    gone: list[Step] = [partial(remove, path=(*path, key)) for key in old if key not in value]
    return gone + [
        partial(set_value, path=(*path, key), value=part, levels=levels)
        for key, part in value.items()
        if old.get(key) != said_of(part)
    ]


def _add_key(document: Document, place: Place, path: Path, value: Any) -> Document:
    key, parent = str(path[-1]), place.parent
    if parent.kind is Kind.SCALAR:  # nothing stands under the key above: make the mapping
        return set_value(document, path[:-1], {key: value})
    if not parent.entries and parent.style == "flow" and place.owner is not None:
        return set_value(document, path[:-1], {key: value})
    ways = additions(document, parent, value, look_of(document), key)
    change = Change(parent, place.index, said_of(value), key)
    return _first(document, change, ways, path)


def append(document: Document, path: Path, value: Any) -> Document:
    _check_value(document, path, value)
    entry = find(document, path).entry
    node = entry.value if entry else None
    is_empty = node is None or (node.kind is Kind.SCALAR and node.tag == f"{TAG}null")
    if node is not None and node.kind is Kind.LIST and not node.entries:
        is_empty = isinstance(value, dict | list)
    if is_empty or node is None:
        return set_value(document, path, [value])
    refuse_shared(document, node, path)
    if node.kind is not Kind.LIST:
        message = f"{shown(path)} is no list."
        raise refusal(document, "patch.kind", message, path=path, at=node.body)
    ways = additions(document, node, value, look_of(document))
    return _first(document, Change(node, len(node.entries), said_of(value)), ways, path)


def remove(document: Document, path: Path) -> Document:
    place = find(document, path)
    entry = place.entry
    if entry is None:
        raise missing(document, place.parent, path)
    if isinstance(path[-1], str):
        refuse_merged(document, place.parent, path)
    if _twice(place):
        message = f"{shown(path)} stands there twice: the other one would count."
        raise refusal(document, "patch.duplicate", message, path=path, at=entry.start)
    for node in filter(None, (entry.key, entry.value)):
        refuse_shared_within(document, node, path)
    ways = removals(document, place.parent, entry, place.owner)
    return _first(document, Change(place.parent, place.index, None), ways, path)


def _twice(place: Place) -> bool:
    entry = place.entry
    if entry is None or entry.key is None:
        return False
    key = said(entry.key)
    return sum(said(other.key) == key for other in place.parent.entries if other.key) > 1


def _first(document: Document, change: Change, ways: Iterator[Splice], path: Path) -> Document:
    meant = said(document.root, change)
    bound: Problem | None = None
    work, at = document.work, change.parent.body
    for _number, (start, end, text) in zip(range(MAX_WAYS), ways, strict=False):
        new = text.replace("\n", document.newline)
        work += document.size
        if work > MAX_WORK:
            message = "So many edits of so long a file take too long: send the text."
            raise refusal(document, "patch.too_much", message, path=path, at=at)
        try:
            result = read_document(document.text[:start] + new + document.text[end:])
        except Unreadable as error:
            bound = bound or (None if error.problem.code == "yaml.syntax" else error.problem)
            continue
        if said(result.root) == meant:
            return replace(result, work=work)
    if bound is not None:
        raise refusal(document, bound.code, bound.message, path=path, at=at)
    message = f"{shown(path)} is written in a way that only an edit of the text can change."
    raise refusal(document, "patch.layout", message, path=path, at=at)


def _check_value(document: Document, path: Path, value: Any) -> None:
    """Refuse what is no JSON, or too much of it, before anything walks it in depth."""
    pending, count = [(value, 1), (list(path), 1)], 0
    while pending:
        part, depth = pending.pop()
        count += 1
        if count > MAX_NODES or depth > MAX_DEPTH:
            message = "The value holds too much, or is nested too deep."
            raise refusal(document, "patch.value", message, path=path, at=0)
        if isinstance(part, dict):
            pending += [(one, depth + 1) for one in chain(part.keys(), part.values())]
        elif isinstance(part, list):
            pending += [(one, depth + 1) for one in part]
        elif problem := _unfit(part):
            raise refusal(document, "patch.value", problem, path=path, at=0)


def _unfit(value: Any) -> str | None:
    if isinstance(value, str):
        if "\0" in value:
            return "Text may hold no NUL character."
        if any("\ud800" <= char <= "\udfff" for char in value):
            return "Text may hold no half of a surrogate pair."
        return None
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int):
        return None if abs(value) < MAX_INTEGER else "A number may have at most 18 digits."
    if isinstance(value, float):
        return None if math.isfinite(value) else "A number must be finite."
    return f"A value is text, a number, a flag, a list or a mapping, not {type(value).__name__}."
