"""The files of a folder, and nothing that a link or a pipe among them leads to."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from loomverify.submitting.errors import UsageError
from loomverify.submitting.task_file import STATE_FOLDER

SKIPPED_NAMES = frozenset({".git", STATE_FOLDER})
"""`.git` is a file in worktrees and submodules."""
MAX_WALKED = 1_000_000
_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class EntryKind(StrEnum):
    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    SPECIAL = "special"
    MISSING = "missing"
    """There is nothing, or only behind a link."""


class Folder:
    """A folder whose entries are named by relative paths with `/`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._is_real: dict[str, bool] = {"": True}

    def kind(self, path: str) -> EntryKind:
        path = path.rstrip("/")
        if not self._is_real_folder(path.rpartition("/")[0]):
            return EntryKind.MISSING
        try:
            mode = (self.root / path).lstat().st_mode
        except OSError:
            return EntryKind.MISSING
        if stat.S_ISLNK(mode):
            return EntryKind.LINK
        if stat.S_ISDIR(mode):
            return EntryKind.FOLDER
        return EntryKind.FILE if stat.S_ISREG(mode) else EntryKind.SPECIAL

    def size(self, path: str) -> int:
        try:
            return (self.root / path).lstat().st_size
        except OSError:
            return 0

    def read(self, path: str, max_bytes: int) -> tuple[bytes, bool]:
        """Return the content, and whether its owner may execute it.

        Raises:
            UsageError: it cannot be read, or is no file any more.
        """
        place = self.root / path
        try:
            descriptor = os.open(place, _OPEN_FLAGS)
            with open(descriptor, "rb") as file:  # noqa: PTH123 - an open file has no path
                mode = os.fstat(descriptor).st_mode
                if not stat.S_ISREG(mode):
                    raise UsageError(f"{place} is not a regular file.")
                return file.read(max_bytes), bool(mode & stat.S_IXUSR)
        except OSError as error:
            raise UsageError(f"{place} cannot be read: {error.strerror}.") from error

    def walk(self, below: str = "") -> Iterator[str]:
        """Yield every path below a folder (`''`, or one that ends with `/`) that is no folder.

        Raises:
            UsageError: a folder cannot be read, or there are too many entries.
        """
        pending, count = [below], 0
        while pending:
            prefix = pending.pop()
            try:
                entries = sorted(os.scandir(self.root / prefix), key=lambda entry: entry.name)
            except OSError as error:
                raise UsageError(
                    f"{self.root / prefix} cannot be read: {error.strerror}."
                ) from error
            for entry in entries:
                if entry.name in SKIPPED_NAMES:
                    continue
                count += 1
                if count > MAX_WALKED:
                    raise UsageError(f"{self.root} holds more than {MAX_WALKED:,} files.")
                if entry.is_dir(follow_symlinks=False):
                    pending.append(f"{prefix}{entry.name}/")
                else:
                    yield f"{prefix}{entry.name}"

    def _is_real_folder(self, path: str) -> bool:
        """Whether this folder and all above it are folders themselves, and no links to some."""
        known = self._is_real.get(path)
        if known is None:
            known = self.kind(path) is EntryKind.FOLDER
            self._is_real[path] = known
        return known
