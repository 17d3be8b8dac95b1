"""The values that lock files are read into, and the bounds that hold for all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from verification.engine.finding import cleaned
from verification.engine.reports.model import Unreadable, text

MAX_LOCK_BYTES = 5_000_000
MAX_LOCKED = 20_000
MAX_NAME_CHARS = 300
MAX_VERSION_CHARS = 100
NO_VERSION = "?"
_DASHES = re.compile(r"[-_.]+")


class BeyondBounds(Unreadable):
    """It may be well formed, and is more than is read: nothing is known, and nobody is blamed."""


class Ecosystem(StrEnum):
    """Where packages come from, in OSV's words."""

    PYPI = "PyPI"
    NPM = "npm"
    GO = "Go"
    CRATES = "crates.io"
    RUBYGEMS = "RubyGems"
    PACKAGIST = "Packagist"
    NUGET = "NuGet"
    MAVEN = "Maven"


@dataclass(frozen=True, slots=True)
class Locked:
    """One version of a package that a lock file names; `line` counts from 1, None is unknown."""

    ecosystem: Ecosystem
    name: str
    version: str
    path: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Pin:
    """A name and a version as a lock file writes them."""

    name: str
    version: str
    line: int | None = None


def same_name(ecosystem: Ecosystem, name: str) -> str:
    """The one way to write it, where the registry knows several.

    >>> same_name(Ecosystem.PYPI, "Ruamel_Yaml"), same_name(Ecosystem.NPM, "JSONStream")
    ('ruamel-yaml', 'JSONStream')
    """
    if ecosystem is Ecosystem.PYPI:
        return _DASHES.sub("-", name).lower()
    if ecosystem is Ecosystem.CRATES:
        return name.replace("_", "-").lower()
    return name.lower() if ecosystem in (Ecosystem.NUGET, Ecosystem.PACKAGIST) else name


def locked(ecosystem: Ecosystem, path: str, pins: Iterable[Pin]) -> tuple[Locked, ...]:
    """Each package and version once, where it stands first.

    One odd entry hides no others: what is no version stays, and cannot be compared.

    Raises:
        BeyondBounds: there are more than are compared.
    """
    found: dict[tuple[str, str], Locked] = {}
    for pin in _bounded(pins):
        if not 0 < len(pin.name) <= MAX_NAME_CHARS:
            continue  # no registry has such a package
        name = same_name(ecosystem, cleaned(pin.name))
        version = text(pin.version, MAX_VERSION_CHARS) or NO_VERSION
        found.setdefault((name, version), Locked(ecosystem, name, version, path, pin.line))
    return tuple(found.values())


def _bounded(pins: Iterable[Pin]) -> Iterator[Pin]:
    for number, pin in enumerate(pins):
        if number >= MAX_LOCKED:
            raise BeyondBounds(f"It names more than {MAX_LOCKED:,} packages.")
        yield pin
