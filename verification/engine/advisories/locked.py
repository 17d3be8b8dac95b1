"""Which files of a work are lock files, and what they name. Hostile input."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from verification.engine.advisories import go, node, others, python
from verification.engine.advisories.model import Ecosystem, Locked, Pin, locked
from verification.engine.gating.components import IGNORED
from verification.engine.reports.model import Unreadable


@dataclass(frozen=True, slots=True)
class Kind:
    """How lock files of one kind are read."""

    ecosystem: Ecosystem
    read: Callable[[bytes], Iterable[Pin]]


REQUIREMENTS = Kind(Ecosystem.PYPI, python.requirements)
KINDS: Mapping[str, Kind] = {
    "poetry.lock": Kind(Ecosystem.PYPI, python.poetry),
    "uv.lock": Kind(Ecosystem.PYPI, python.uv),
    "pdm.lock": Kind(Ecosystem.PYPI, python.pdm),
    "pylock.toml": Kind(Ecosystem.PYPI, python.pylock),
    "Pipfile.lock": Kind(Ecosystem.PYPI, python.pipenv),
    "package-lock.json": Kind(Ecosystem.NPM, node.npm),
    "npm-shrinkwrap.json": Kind(Ecosystem.NPM, node.npm),
    "bun.lock": Kind(Ecosystem.NPM, node.bun),
    "yarn.lock": Kind(Ecosystem.NPM, node.yarn),
    "pnpm-lock.yaml": Kind(Ecosystem.NPM, node.pnpm),
    "go.mod": Kind(Ecosystem.GO, go.mod),
    "go.sum": Kind(Ecosystem.GO, go.sums),
    "Cargo.lock": Kind(Ecosystem.CRATES, others.cargo),
    "Gemfile.lock": Kind(Ecosystem.RUBYGEMS, others.bundler),
    "gems.locked": Kind(Ecosystem.RUBYGEMS, others.bundler),
    "composer.lock": Kind(Ecosystem.PACKAGIST, others.composer),
    "packages.lock.json": Kind(Ecosystem.NUGET, others.nuget),
    "gradle.lockfile": Kind(Ecosystem.MAVEN, others.gradle),
    "buildscript-gradle.lockfile": Kind(Ecosystem.MAVEN, others.gradle),
}


NAMED: Sequence[tuple[re.Pattern[str], Kind]] = (
    (
        re.compile(
            r"(?:.*/)?(?:(?:[^/]*[-_.])?requirements[^/]*\.(?:txt|lock)|constraints[^/]*\.txt"
            r"|requirements/[^/]+\.txt)"
        ),
        REQUIREMENTS,
    ),
    (re.compile(r"(?:.*/)?pylock\.[^/.]+\.toml"), KINDS["pylock.toml"]),
    (re.compile(r"(?:.*/)?dependency-locks/[^/]+\.lockfile"), KINDS["gradle.lockfile"]),
)
"""Whose names, or folders, say what they are by a part."""


def kind_of(path: str) -> Kind | None:
    """None for what is no lock file, or lies where nothing is the work's own.

    >>> kind_of("api/requirements/dev.txt") is REQUIREMENTS, kind_of("vendor/a/go.sum")
    (True, None)
    """
    folder, name = posixpath.split(path)
    if IGNORED.intersection(folder.split("/")):
        return None
    named = (kind for pattern, kind in NAMED if pattern.fullmatch(path))
    return KINDS.get(name) or next(named, None)


def read_locked(path: str, content: bytes) -> tuple[Locked, ...]:
    """What a lock file names, each package and version once.

    Raises:
        Unreadable: nothing is known from it.
        BeyondBounds: it is larger than what is read.
    """
    kind = kind_of(path)
    if kind is None:
        raise Unreadable("It is no lock file.")
    return locked(kind.ecosystem, path, kind.read(content))


def adds_nothing(path: str, beside: Callable[[str], bytes | None]) -> bool:
    """Whether another lock file in the same folder says the same, and better."""
    folder, name = posixpath.split(path)
    if name != "go.sum":
        return False
    content = beside(posixpath.join(folder, "go.mod"))
    try:
        return content is not None and go.names_all(content)
    except Unreadable:
        return False
