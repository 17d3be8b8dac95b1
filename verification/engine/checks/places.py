"""Where a path that a tool names lies: inside the workspace for certain, outside, or untold."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from verification.engine.paths import Anchored, anchored, is_home_or_above, relative, spelled
from verification.engine.tree import Tree

_RENAMED = re.compile(r".*\S (?:->|=>|→) (?P<new>\S.*)", re.DOTALL)


class Place(StrEnum):
    INSIDE = "inside"
    OUTSIDE = "outside"
    TEMPORARY = "temporary"
    """Outside, where things lie that nobody keeps."""
    UNTOLD = "untold"
    """Nothing says where the workspace itself lies."""
    NOWHERE = "nowhere"


@dataclass(frozen=True, slots=True)
class Placed:
    """`path` is the normal form, inside of the workspace without what leads to it."""

    place: Place
    path: str
    is_folder: bool = False


class Places:
    """Learns from absolute paths of submitted files where the workspace lay."""

    def __init__(self, tree: Tree, paths: Iterable[str]) -> None:
        self._tree = tree
        self._known: dict[str, Placed] = {}
        self._roots: set[str] = set()
        for path in dict.fromkeys(paths):
            if (start := anchored(path)) and (root := self._root(start)):
                self._roots.add(root)

    def of(self, path: str) -> Placed:
        if path not in self._known:
            self._known[path] = self._placed(path)
        return self._known[path]

    def _placed(self, path: str) -> Placed:
        if file := self._tree.at(path):
            return Placed(Place.INSIDE, file.path)
        if renamed := _RENAMED.fullmatch(path):
            return self._placed(renamed["new"])
        is_folder = spelled(path).endswith("/")
        inside = relative(path)
        if inside is not None:
            return Placed(Place.INSIDE, inside, is_folder or not inside)
        start = anchored(path)
        if start is None:
            return Placed(Place.OUTSIDE, path)
        if found := self._found(start):
            return Placed(Place.INSIDE, found)
        below = self._below_a_root(start)
        if below is not None:
            return Placed(Place.INSIDE, below, is_folder or not below)
        return Placed(self._elsewhere(start), start.text, is_folder)

    def _found(self, start: Anchored) -> str:
        """The path of the submitted file that this one must be; '' if there is none."""
        whole = self._tree.at("/".join(start.parts)) if start.is_absolute else None
        file = whole or (None if start.is_of_the_system else self._tree.ending(start.parts))
        return file.path if file else ""

    def _root(self, start: Anchored) -> str:
        """The folder that would be the workspace; '' where too little speaks for it."""
        if not start.is_absolute or start.is_of_the_system:
            return ""
        file = self._tree.ending(start.parts)
        if file is None:
            return ""
        root = Anchored(start.anchor, start.parts[: -1 - file.path.count("/")])
        return "" if is_home_or_above(root.text) else root.text

    def _below_a_root(self, start: Anchored) -> str | None:
        if not self._roots or start.is_of_the_system:
            return None
        parts = (start.anchor, *start.parts)
        text = start.text
        length = len(text)
        for depth in range(len(parts), 0, -1):
            if text[:length] in self._roots:
                return text[length + 1 :]
            length -= len(parts[depth - 1]) + 1
        return None

    def _elsewhere(self, start: Anchored) -> Place:
        if start.leads_nowhere:
            return Place.NOWHERE
        if start.is_temporary:
            return Place.TEMPORARY
        if start.is_of_the_system or start.is_hidden_at_home:
            return Place.OUTSIDE
        return Place.OUTSIDE if self._roots and start.is_absolute else Place.UNTOLD
