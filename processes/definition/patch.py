"""Edits of a process file's source text that change the smallest span and leave every other byte.

The text is the truth: comments, odd indentation, quoting, order and line ends stay as their author
wrote them. An edit does exactly what was asked or is refused: what the patched text says is read
again and compared with what was meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from processes.definition.patching.applying import append, remove, set_value
from processes.definition.patching.finding import Path, Unpatchable, resolved
from processes.definition.patching.moving import move
from processes.definition.patching.tree import Document, read_document

__all__ = ["Append", "Edit", "Move", "Path", "Remove", "SetValue", "Unpatchable", "patch"]


@dataclass(frozen=True, slots=True)
class SetValue:
    """Give what stands at `path` this value; a key that its mapping lacks is added at its end."""

    path: Path
    value: Any


@dataclass(frozen=True, slots=True)
class Remove:
    """Take a key with its value, or an entry of a list, with the comment lines that belong to it."""

    path: Path


@dataclass(frozen=True, slots=True)
class Append:
    """Add an entry at the end of the list at `path`; a list that is missing is made."""

    path: Path
    value: Any


@dataclass(frozen=True, slots=True)
class Move:
    """Put an entry of a list where `to` says, from 0, with the comments that belong to it."""

    path: Path
    to: int


Edit = SetValue | Remove | Append | Move


def patch(source: str, edits: Sequence[Edit]) -> str:
    """Apply edits one after the other.

    Entries of a list may be named (`name`, else `id`) instead of numbered, and a path that begins
    with `rules` leads to `verification.rules`.

    Raises:
        Unreadable: the source is no YAML that a process file may be.
        Unpatchable: a path does not exist, or what stands there is shared (an alias, a merge).
    """
    document = read_document(source)
    for number, edit in enumerate(edits):
        try:
            document = _apply(document, edit)
        except Unpatchable as refused:
            refused.edit = number
            raise
    return document.text


def _apply(document: Document, edit: Edit) -> Document:
    path = resolved(document, tuple(edit.path))
    if isinstance(edit, SetValue):
        return set_value(document, path, edit.value)
    if isinstance(edit, Append):
        return append(document, path, edit.value)
    if isinstance(edit, Move):
        return move(document, path, edit.to)
    return remove(document, path)
