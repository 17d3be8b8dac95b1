"""Which file of the work a report means, by what files there are."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from verification.engine.reports.model import Unreadable, inner_path

MAX_FILES = 100_000
MAX_SAME_NAMES = 100
"""With more files of one name, none of them is looked for by its end."""
MAX_PARTS = 20


class Places:
    """`folder` is where the tool ran; `known` are the files there are, none where that is unknown."""

    def __init__(self, folder: str = "", known: AbstractSet[str] = frozenset()) -> None:
        self._folder, self._known = folder, known
        self._by_name: dict[str, list[str]] | None = None
        self._files = 0

    def path_of(self, name: str, sources: Sequence[str] = ()) -> str:
        """'' for a file that lies elsewhere.

        Among several sources, the one that holds a file of this name is its; where none is known
        to, the name stays as it is. What lies elsewhere, as on the machine that wrote the report,
        is the longest known path that it ends in.
        """
        self._count()
        if not name:
            return ""
        places = [inner_path(posixpath.join(one, name), self._folder) for one in sources]
        itself = inner_path(name, self._folder)
        inner = [path for path in (*places, itself) if path]
        if exact := next((path for path in inner if path in self._known), ""):
            return exact
        held = (self._find_longest_end(posixpath.join(one, name)) for one in (*sources, ""))
        if longest := max(held, key=len):
            return longest
        return itself if len(sources) > 1 or not inner else inner[0]

    def path_in_package(self, name: str) -> str:
        """Of a file that is named by its package: the one known file whose path ends so."""
        self._count()
        ending = [path for path in self._same_named(name) if f"/{path}".endswith(f"/{name}")]
        own = [path for path in ending if path.startswith(f"{self._folder}/")]
        for found in (ending, own):
            if len(found) == 1:
                return found[0]
        return inner_path(name, self._folder)

    def _count(self) -> None:
        self._files += 1
        if self._files > MAX_FILES:
            raise Unreadable("The report names too many files.")

    def _find_longest_end(self, path: str) -> str:
        """Of a whole path that leads out of the work, the longest known one that it ends in."""
        path = path.replace("\\", "/").removeprefix("file://")
        is_whole = path.startswith("/") or path[1:3] == ":/"
        if not is_whole or inner_path(path):
            return ""
        parts = list(filter(None, path.split("/")))[-MAX_PARTS:]
        ends = ("/".join(parts[first:]) for first in range(1, len(parts)))
        return next((end for end in ends if end in self._known), "")

    def _same_named(self, name: str) -> Sequence[str]:
        if self._by_name is None:
            self._by_name = {}
            for path in sorted(self._known):
                self._by_name.setdefault(posixpath.basename(path), []).append(path)
        same = self._by_name.get(posixpath.basename(name), [])
        return same if len(same) <= MAX_SAME_NAMES else ()
