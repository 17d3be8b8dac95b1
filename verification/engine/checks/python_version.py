"""The oldest Python that a project says it runs on: newer syntax is no problem above it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from verification.engine.evidence import SubmittedFile, Workspace

MAX_FILE_BYTES = 200_000
_LOWER_BOUND = re.compile(r"(?:>=?|~=|===?|\^|~)\s*(\d{1,2})\.(\d{1,3})")
_STATED_IN = {
    "pyproject.toml": re.compile(
        r"""^[ \t]*(?:requires-python|python)[ \t]*=[ \t]*["']([^"'\n]{1,100})["']""", re.MULTILINE
    ),
    "setup.cfg": re.compile(r"^[ \t]*python_requires[ \t]*=[ \t]*([^\n]{1,100})", re.MULTILINE),
    "setup.py": re.compile(r"""\bpython_requires[ \t]*=[ \t]*["']([^"'\n]{1,100})["']"""),
}
"""By file name, the text that holds the versions."""


class PythonVersions:
    """Reads a project's files when a file of it first needs to know."""

    def __init__(self, files: Iterable[SubmittedFile], workspace: Workspace) -> None:
        self._sizes = {file.path: file.size for file in files}
        self._workspace = workspace
        self._oldest: dict[str, tuple[int, int] | None] = {}

    def cover(self, path: str, since: str) -> bool:
        """Return whether the project of a file needs a Python that knows what came with `since`."""
        if not since:
            return False
        major, minor = map(int, since.split("."))
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            if (oldest := self._oldest_of(folder)) is not None:
                return oldest >= (major, minor)
        return False

    def _oldest_of(self, folder: str) -> tuple[int, int] | None:
        if folder not in self._oldest:
            stated = (self._read_oldest(folder, name) for name in _STATED_IN)
            self._oldest[folder] = next(filter(None, stated), None)
        return self._oldest[folder]

    def _read_oldest(self, folder: str, name: str) -> tuple[int, int] | None:
        path = f"{folder}/{name}".lstrip("/")
        if not 0 < self._sizes.get(path, 0) <= MAX_FILE_BYTES:
            return None
        text = self._workspace.read(path).decode("utf-8", "replace")
        stated = _STATED_IN[name].search(text)
        if stated is None or "|" in stated[1]:
            return None
        bounds = [(int(major), int(minor)) for major, minor in _LOWER_BOUND.findall(stated[1])]
        return max(bounds, default=None)
