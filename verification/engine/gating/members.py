"""Folders that a component's own commands try for certain: workspaces, modules. Hostile input.

What is in doubt is a component of its own: it is tried once too often, and never left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import re2

from verification.engine.gating.inner import tidy
from verification.engine.gating.manifests import inner_table, texts_of, toml_table
from verification.engine.gating.members_dotnet import built_projects
from verification.engine.gating.members_java import MAVEN_CONFIG, gradle_projects, maven_modules
from verification.engine.gating.members_node import (
    NPM,
    PNPM,
    PNPM_WORKSPACE,
    npm_members,
    pnpm_members,
    runs_all_of,
)

MAX_DECLARED = 200
MAX_CHARS = 300
MAX_STARS = 8
_PATTERN = re2.compile(r"[\w.@+*/-]+")
_PIECE = re2.compile(r"\*\*/|\*\*|\*|[^*]+")
_PIECES = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*"}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A folder below a component, relative to that one's: its marker files, and what lies in it."""

    folder: str
    markers: Collection[str]
    read: Callable[[str], bytes | None]


Declared = Callable[[Candidate], bool]
"""Whether what a component runs at its top tries that folder, too."""


def tries_nothing(_candidate: Candidate) -> bool:
    return False


def declared_by(language: str, contents: Mapping[str, bytes]) -> Declared:
    """`contents` are those of a component's marker files, by name; what is odd declares nothing.

    Go's `./...` ends where another module begins, whatever a workspace says.
    """
    readers = {"node": _node, "rust": _rust, "java": _java, "dotnet": _dotnet}
    reader = readers.get(language)
    return reader(contents) if reader else tries_nothing


def _node(contents: Mapping[str, bytes]) -> Declared:
    manifest, config = contents.get("package.json", b""), contents.get(".npmrc", b"")
    by_npm, by_pnpm = is_npm_member(contents), is_pnpm_member(contents)
    npm, pnpm = (runs_all_of(manifest, scripts, config) for scripts in (NPM, PNPM))

    def declares(one: Candidate) -> bool:
        is_run = by_npm(one.folder) and npm(one.read)
        return is_run or (by_pnpm(one.folder) and pnpm(one.read))

    return declares


def is_npm_member(contents: Mapping[str, bytes]) -> Callable[[str], bool]:
    """Whether npm installs a folder with the one that these are the manifests of."""
    return _listed(npm_members(contents.get("package.json")))


def is_pnpm_member(contents: Mapping[str, bytes]) -> Callable[[str], bool]:
    return _listed(pnpm_members(contents.get(PNPM_WORKSPACE)))


def _rust(contents: Mapping[str, bytes]) -> Declared:
    """What is left out is left out with all below it."""
    workspace = inner_table(toml_table(contents.get("Cargo.toml")), "workspace")
    is_listed = _listed(texts_of(workspace.get("members")))
    excluded = [tidy(one.strip()) for one in texts_of(workspace.get("exclude"))]
    is_odd = any(not one or ".." in one.split("/") for one in excluded)

    def declares(one: Candidate) -> bool:
        is_out = any(f"{one.folder}/".startswith(f"{other}/") for other in excluded)
        return is_listed(one.folder) and not is_out and not is_odd

    return declares


def _java(contents: Mapping[str, bytes]) -> Declared:
    """Where there is a pom.xml Maven is run, and a module without one is none of its."""
    if "pom.xml" in contents:
        named = maven_modules(contents["pom.xml"], contents.get(MAVEN_CONFIG, b""))
        modules = {tidy(one.strip()).removesuffix("/pom.xml") for one in named}
        return lambda one: one.folder in modules and "pom.xml" in one.markers
    settings = ("settings.gradle", "settings.gradle.kts")
    content = next((contents[name] for name in settings if name in contents), b"")
    projects = frozenset(gradle_projects(content))
    builds = frozenset({"build.gradle", "build.gradle.kts"})
    return lambda one: one.folder in projects and builds.issuperset(one.markers)


def _dotnet(contents: Mapping[str, bytes]) -> Declared:
    solutions = (content for name, content in contents.items() if name.endswith(".sln"))
    projects = frozenset(path for content in solutions for path in built_projects(content))
    return lambda one: all(f"{one.folder}/{name}" in projects for name in one.markers)


def _listed(declared: Iterable[str]) -> Callable[[str], bool]:
    """By paths and globs; what begins with `!` is none of them."""
    named = list(islice(declared, MAX_DECLARED + 1))
    is_odd = len(named) > MAX_DECLARED
    globs = [None if is_odd else _glob(one.removeprefix("!")) for one in named]
    wanted = [glob for one, glob in zip(named, globs, strict=True) if not one.startswith("!")]
    never = [glob for one, glob in zip(named, globs, strict=True) if one.startswith("!")]
    is_odd = is_odd or None in never

    def is_listed(folder: str) -> bool:
        if is_odd or any(step.startswith(".") for step in folder.split("/")):
            return False
        fits = [any(one and one.fullmatch(folder) for one in some) for some in (wanted, never)]
        return fits == [True, False]

    return is_listed


def _glob(text: str) -> Any | None:
    """None: nobody is certain what it means."""
    text = tidy(text.strip())
    is_long = len(text) > MAX_CHARS or text.count("*") > MAX_STARS
    if is_long or not _PATTERN.fullmatch(text):
        return None
    pieces = (match.group() for match in _PIECE.finditer(text))
    return re2.compile("".join(_PIECES.get(one) or re2.escape(one) for one in pieces))
