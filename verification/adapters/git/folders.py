"""Which folders git opens for a repository by a path, found without running git there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from verification.adapters.git.errors import LocationRefused

MAX_ALTERNATES: Final = 50
MAX_DEPTH: Final = 5
MAX_POINTER_BYTES: Final = 64 * 1024
MAX_ENTRIES: Final = 50_000

_NONE: Final = "There is no repository in this folder."


def path_of(location: str) -> Path:
    """Return the path that git reads: only in a URL are signs written as numbers."""
    scheme = "file://"
    if location.startswith(scheme):
        return Path(unquote(location.removeprefix(scheme)))
    return Path(location)


def folders_of(location: str) -> list[Path]:
    """Return the git directory, and after it whatever else of the machine git reads through it.

    Files that say where another folder is lead out of a folder as links do: `.git`, `commondir`
    and `objects/info/alternates`.

    Raises:
        LocationRefused: there is no repository, or one that leads to too many places.
    """
    try:
        folder = _git_folder(path_of(location))
        common = _common(folder)
        if not os.path.lexists(folder / "HEAD") or not (common / "refs").is_dir():
            raise LocationRefused(_NONE)
        objects = _with_alternates((common / "objects").resolve(strict=True))
        looked_in = [folder, common]
        looked_in += [one / name for one in objects for name in ("", "info", "pack")]
        links = [link for place in looked_in for link in _links(place)]
        return list(dict.fromkeys([folder, common, *objects, *links]))
    # No access, a loop of links, and names that no system has.
    except (OSError, RuntimeError, ValueError) as error:
        raise error if isinstance(error, LocationRefused) else LocationRefused(_NONE) from None


def _git_folder(place: Path) -> Path:
    inner = place / ".git"
    found = inner if os.path.lexists(inner) else place
    if found.is_file():
        told = _told(found)
        if not told.startswith("gitdir: "):
            raise LocationRefused(_NONE)
        found = found.parent / told.removeprefix("gitdir: ")
    found = found.resolve(strict=True)
    # git's receiving end would go on to these from `<folder>/.`, whatever it was told.
    if any(os.path.lexists(found / name) for name in (".git", "..git")):
        raise LocationRefused("The repository's own folder holds another.")
    return found


def _common(folder: Path) -> Path:
    """Return where a linked work tree has what it shares with the others."""
    pointer = folder / "commondir"
    return (folder / _told(pointer)).resolve(strict=True) if os.path.lexists(pointer) else folder


def _with_alternates(objects: Path) -> list[Path]:
    found, level = [objects], [objects]
    for _ in range(MAX_DEPTH + 1):
        level = [other for one in level for other in _alternates(one) if other not in found]
        found = list(dict.fromkeys([*found, *level]))
        if len(found) > MAX_ALTERNATES:
            break
        if not level:
            return found
    raise LocationRefused("The repository borrows from too many others.")


def _alternates(objects: Path) -> Iterator[Path]:
    pointer = objects / "info" / "alternates"
    if not os.path.lexists(pointer):
        return
    for line in _told(pointer).split("\n"):
        if line.startswith('"'):
            raise LocationRefused("The repository borrows from a folder that cannot be read.")
        if line and not line.startswith("#"):
            yield (objects / line).resolve()


def _links(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        for number, entry in enumerate(entries):
            if number >= MAX_ENTRIES:
                raise LocationRefused("The repository's folder holds too much.")
            if entry.is_symlink():
                yield Path(entry.path).resolve()


def _told(pointer: Path) -> str:
    descriptor = os.open(pointer, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise LocationRefused(_NONE)
        content = file.read(MAX_POINTER_BYTES + 1)
    if len(content) > MAX_POINTER_BYTES:
        raise LocationRefused("The repository borrows from too many others.")
    return os.fsdecode(content).rstrip("\r\n")
