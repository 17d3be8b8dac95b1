"""Which files an install by a requirements file reads. Hostile input."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from itertools import islice

import re2

from verification.engine.gating.components import Component, Read
from verification.engine.gating.manifests import MAX_MANIFEST_BYTES

MAX_FILES = 50
MAX_INCLUDES = 200
_INCLUDE = re2.compile(rb"(?m)^[ \t]*(?:-r|-c|--requirement|--constraint)[ \t=]*([^\s#]+)")
_FOR_TESTS = (
    *(f"requirements{sign}{name}.txt" for sign in "-_." for name in ("dev", "test", "tests", "ci")),
    *(f"{name}{sign}requirements.txt" for sign in "-_" for name in ("dev", "test", "tests")),
    *(
        f"requirements/{name}.txt"
        for name in ("dev", "development", "test", "tests", "testing", "ci")
    ),
    "tests/requirements.txt",
    "test/requirements.txt",
)
_MAIN = (
    "requirements.txt",
    "requirements/base.txt",
    "requirements/common.txt",
    "requirements/main.txt",
)
_LOCAL = re2.compile(rb"(?m)^[ \t]*(?:(?:-e|--editable)\b|\.{1,2}/|\.[ \t]*(?:\[|$)|file:)")
_ABOVE = re2.compile(
    rb"(?m)^[ \t]*(?:(?:-e|--editable)[ \t=]*|[\w.-]+[ \t]*@[ \t]*)?(?:file:)?(\.\.(?:/[^\s#\[;]*)?)"
)


def main_requirements(component: Component, paths: Sequence[str]) -> str:
    """Relative to the component's folder; '' where there is none."""
    return next((one for one in _MAIN if component.path(one) in paths), "")


def test_requirements(component: Component, paths: Sequence[str]) -> tuple[str, ...]:
    """What is needed besides, where the work is tried; relative to the component's folder."""
    return tuple(one for one in _FOR_TESTS if component.path(one) in paths)


def is_local(files: Sequence[str], read: Read) -> bool:
    """Whether they name packages that lie in the workspace."""
    return any(_LOCAL.search((read(one) or b"")[:MAX_MANIFEST_BYTES]) for one in files)


def local_folders(component: Component, files: Sequence[str], read: Read) -> Sequence[str]:
    """Folders outside of the component that they name, as pip finds them from its folder."""
    found: dict[str, None] = {}
    for one in files:
        for match in islice(_ABOVE.finditer((read(one) or b"")[:MAX_MANIFEST_BYTES]), MAX_INCLUDES):
            inner = match[1].decode(errors="replace")
            found[posixpath.normpath(posixpath.join(component.folder, inner))] = None
    return tuple(found)


def requirements_files(first: str, paths: Sequence[str], read: Read) -> tuple[str, ...]:
    """The file and all that it includes, of those that lie in the workspace."""
    known = frozenset(paths)
    found: dict[str, None] = {}
    waiting = [first]
    while waiting and len(found) < MAX_FILES:
        path = waiting.pop()
        if path in known and path not in found:
            found[path] = None
            waiting += islice(_included(path, read(path)), MAX_INCLUDES)
    return tuple(sorted(found))


def _included(path: str, content: bytes | None) -> Iterator[str]:
    for match in _INCLUDE.finditer((content or b"")[:MAX_MANIFEST_BYTES]):
        inner = match[1].decode(errors="replace")
        yield posixpath.normpath(posixpath.join(posixpath.dirname(path), inner))
