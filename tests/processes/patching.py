"""What an edit means, told by plain values: an answer to compare the patched text with."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from processes.definition.patch import Append, Edit, Move, Remove, SetValue

STYLES = sorted((Path(__file__).parent / "styles").glob("*.yaml"))
BUILT_IN = sorted((Path(__file__).parents[2] / "processes" / "builtin").glob("*.yaml"))


def text_of(path: Path) -> str:
    return path.read_bytes().decode()


def read(source: str) -> Any:
    return yaml.load(source, yaml.CSafeLoader)


def places(node: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[Any, Any]]:
    """Yield each path below the root with what stands there."""
    entries: Any = ()
    if isinstance(node, dict):
        entries = node.items()
    elif isinstance(node, list):
        entries = enumerate(node)
    for key, part in entries:
        yield (*path, key), part
        yield from places(part, (*path, key))


def meant(document: Any, edit: Edit) -> Any:
    changed = copy.deepcopy(document)
    node = changed
    for key in edit.path[:-1]:
        node = node[key]
    last: Any = edit.path[-1]
    if isinstance(edit, SetValue):
        node[last] = edit.value
    elif isinstance(edit, Append):
        node[last].append(edit.value)
    elif isinstance(edit, Remove):
        del node[last]
    elif isinstance(edit, Move):
        node.insert(edit.to, node.pop(last))
    return changed


def is_same(one: Any, other: Any) -> bool:
    """Compare with kinds and order: 1 is neither True nor 1.0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    return bool(one == other)


@lru_cache(maxsize=1)
def composed(source: str) -> Any:
    return yaml.compose(source, yaml.CSafeLoader)


def lines_of(source: str, path: tuple[str | int, ...]) -> tuple[int, int]:
    """Return the first and last line (from 0) of an entry with its value, as the parser marks it.

    An alias stands on one line.
    """
    node = composed(source)
    first = 0
    for key in path:
        if isinstance(node, yaml.SequenceNode):
            node = node.value[key]
            first = node.start_mark.line
        else:
            pairs = {pair[0].value: pair for pair in node.value}
            first, node = pairs[key][0].start_mark.line, pairs[key][1]
    return first, max(first, node.end_mark.line)
