"""Paths as submitted, brought to the form in which files are stored."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from fnmatch import fnmatchcase

from verification.engine.evidence import SubmittedFile

_DRIVE = re.compile(r"[A-Za-z]:")
_WILDCARDS = frozenset("*?[")
EMPTY_BY_NATURE = frozenset(
    {"__init__.py", "__init__.pyi", "py.typed", ".gitkeep", ".keep", ".nojekyll"}
)


def relative(path: str) -> str | None:
    """Bring a path to `a/b.txt`; None: it leads outside the workspace, or cannot lead inside."""
    path = path.strip().replace("\\", "/")
    if path.startswith(("/", "~")) or _DRIVE.match(path) or "\0" in path:
        return None
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def located(path: str, submitted: Container[str]) -> str | None:
    """Like `relative`; an absolute path that ends in a submitted file's means that file."""
    inside = relative(path)
    if inside is not None:
        return inside
    parts = path.strip().replace("\\", "/").split("/")
    if ".." in parts:
        return None
    tails = ("/".join(parts[start:]) for start in range(1, len(parts)))
    return next((tail for tail in tails if tail and tail in submitted), None)


def files_under(declared: str, files: Sequence[SubmittedFile]) -> tuple[SubmittedFile, ...]:
    """The files a declared deliverable means: one file, a folder's, or a wildcard's."""
    path = relative(declared)
    if path is None:
        return ()
    exact = tuple(file for file in files if file.path == path)
    if exact:
        return exact
    if _WILDCARDS & set(path):
        return tuple(file for file in files if fnmatchcase(file.path, path))
    return tuple(file for file in files if file.path.startswith(f"{path}/"))


def is_empty(file: SubmittedFile) -> bool:
    return file.size == 0 and file.path.rsplit("/", 1)[-1] not in EMPTY_BY_NATURE


def declared_paths(deliverables: Iterable[str], expected: Iterable[str]) -> tuple[str, ...]:
    """Each declared path once, by its normal form."""
    return tuple({relative(path) or path: path for path in (*deliverables, *expected)}.values())
