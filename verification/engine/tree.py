"""The submitted files, found by any spelling of their paths, however many there are."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from types import MappingProxyType
from typing import Any

from processes.definition.globs import compile_glob, has_wildcards
from verification.engine.evidence import SubmittedFile
from verification.engine.paths import anchored, relative, spelled
from verification.engine.shared import shared_folder

MAX_WILDCARD_TESTS = 500_000
"""Files times wildcards: a second of work."""
_MAX_DEPTHS = 20
_AFTER_SLASH = chr(ord("/") + 1)


@dataclass(frozen=True, slots=True)
class Meant:
    """The files that a declaration means.

    `is_same` is False where case tells them apart, or a folder that stands before every path.
    """

    files: Sequence[SubmittedFile] = ()
    is_same: bool = True


class Tree:
    def __init__(self, files: Iterable[SubmittedFile]) -> None:
        self._files = {_composed(file.path): file for file in files}
        self._sorted = sorted(self._files)
        self._folded: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._depths: defaultdict[str, set[int]] = defaultdict(set)
        for path in self._sorted:
            folded = path.casefold()
            self._folded.setdefault(folded, path)
            name = folded.rsplit("/", 1)[-1]
            self._names.setdefault(name, path)
            self._depths[name].add(path.count("/") + 1)
        self._sorted_folded = sorted(self._folded)
        # Of one file nobody knows which folder is its own.
        self._shared = shared_folder(self._sorted) if len(self._sorted) > 1 else ""
        self._lines: bytes | None = None
        self._starts: list[int] = []

    def at(self, path: str) -> SubmittedFile | None:
        """The file under this path, as stored or in other case."""
        for one in (_composed(path), spelled(path)):
            if one in self._files or one.casefold() in self._folded:
                return self._files[one if one in self._files else self._folded[one.casefold()]]
        return None

    def ending(self, parts: Sequence[str]) -> SubmittedFile | None:
        """The submitted file in whose path these parts end: the longest, where several would do."""
        depths = sorted(self._depths.get(parts[-1].casefold(), ()) if parts else (), reverse=True)
        for depth in depths[:_MAX_DEPTHS]:
            if depth <= len(parts) and (file := self.at("/".join(parts[-depth:]))):
                return file
        return None

    def called(self, path: str) -> str:
        """Where a file of the same name lies; '' if there is none."""
        return self._names.get(spelled(path).rsplit("/", 1)[-1].casefold(), "")

    def under(self, folder: str) -> Sequence[SubmittedFile]:
        """Everything below a folder; '' is the workspace."""
        if not folder:
            return tuple(self._files.values())
        return tuple(self._files[path] for path in _below(folder, self._sorted))

    def holds(self, folder: str) -> bool:
        return not folder or bool(_below(folder, self._sorted))

    def meant(self, declared: str) -> Meant:
        """What a declared path means: a file, a folder's files, or a wildcard's."""
        if file := self._files.get(_composed(declared)):
            return Meant((file,))
        path = relative(declared)
        if path is not None:
            return Meant(found) if (found := self._named(path)) else self._nearly(path)
        start = anchored(declared)
        parts = start.parts[-_MAX_DEPTHS:] if start else ()
        tails = ("/".join(parts[position:]) for position in range(len(parts)))
        return Meant(next(filter(None, map(self._named, tails)), ()))

    def _named(self, path: str) -> Sequence[SubmittedFile]:
        if path in self._files:
            return (self._files[path],)
        if files := self.under(path):
            return files
        pattern = compile_glob(path)
        return self._matching(pattern) if pattern else ()

    def _matching(self, pattern: Any) -> Sequence[SubmittedFile]:
        """Search all paths at once, one in each line: a call for each would cost ten times as much."""
        if self._lines is None:
            encoded = [path.replace("\n", " ").encode(errors="replace") for path in self._sorted]
            self._lines = b"\n".join(encoded)
            self._starts = list(accumulate((len(one) + 1 for one in encoded), initial=0))
        found = (
            (bisect_left(self._starts, one.start()), one.end())
            for one in pattern.finditer(self._lines)
        )
        # A class may take the end of a line too, and nothing at all is a line where no file is.
        return tuple(
            self._files[path]
            for number, end in found
            for path in self._sorted[number : number + 1]
            if end < self._starts[number + 1]
        )

    def _nearly(self, path: str) -> Meant:
        """In other case, else below the folder that stands before every path."""
        found = self._in_other_case(path)
        if found.files or not self._shared:
            return found
        return Meant(self._named(f"{self._shared}/{path}"), is_same=False)

    def _in_other_case(self, path: str) -> Meant:
        if file := self.at(path):
            return Meant((file,), is_same=False)
        below = _below(path.casefold(), self._sorted_folded)
        return Meant(tuple(self._files[self._folded[one]] for one in below), is_same=False)


def _composed(path: str) -> str:
    return unicodedata.normalize("NFC", path)


def _below(folder: str, ordered: Sequence[str]) -> Sequence[str]:
    start = bisect_left(ordered, f"{folder}/")
    return ordered[start : bisect_left(ordered, f"{folder}{_AFTER_SLASH}", start)]


@lru_cache(maxsize=2)
def tree_of(files: tuple[SubmittedFile, ...]) -> Tree:
    """Every check asks for the same one."""
    return Tree(files)


@lru_cache(maxsize=4)
def meant_by(
    declared: tuple[str, ...], files: tuple[SubmittedFile, ...]
) -> Mapping[str, Meant | None]:
    """What each declared path means; None: there are too many wildcards to try this one too."""
    tree = tree_of(files)
    tests_left = MAX_WILDCARD_TESTS
    found: dict[str, Meant | None] = {}
    for path in declared:
        if not has_wildcards(path) or tree.at(path):
            found[path] = tree.meant(path)
            continue
        tests_left -= len(files)
        found[path] = tree.meant(path) if tests_left >= 0 else None
    return MappingProxyType(found)
