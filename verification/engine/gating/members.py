"""Folders that a component declares to be parts of itself: workspaces, modules. Hostile input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import re2

from verification.engine.gating.manifests import inner_table, json_table, toml_table
from verification.engine.tree import wildcard

MAX_DECLARED = 200
MAX_CHARS = 300
_MODULE = re2.compile(r"<module>\s*([^<]*?)\s*</module>")
_GRADLE = re2.compile(r"""["']:?([\w.:/-]+)["']""")
_GO_USE = re2.compile(r"(?m)^\s*(?:use\s+)?(\.{0,2}/?[\w./-]+)\s*(?://.*)?$")
_SOLUTION = re2.compile(r'(?m)^Project\([^)\n]*\) = "[^"\n]*", "(?:([^"\n]*)[\\/])?[^"\n\\/]*proj"')
_YAML_ENTRY = re2.compile(r"""(?m)^\s*-\s+["']?([^"'#\n]+)""")


def is_member(folder: str, language: str, contents: Mapping[str, bytes]) -> bool:
    """Whether a component declares this folder, relative to its own; what is odd declares none.

    `contents` are those of its marker files, by name.
    """
    readers = {"node": _node, "rust": _rust, "java": _java, "go": _go, "dotnet": _dotnet}
    reader = readers.get(language)
    for text in islice(reader(contents) if reader else (), MAX_DECLARED):
        declared = "/".join(step for step in text.strip().split("/") if step not in ("", "."))
        if declared == folder or (len(declared) <= MAX_CHARS and _fits(declared, folder)):
            return True
    return False


def _fits(declared: str, folder: str) -> bool:
    pattern = wildcard(declared)
    return bool(pattern and pattern.search(folder.encode(errors="replace")))


def _node(contents: Mapping[str, bytes]) -> Iterator[str]:
    declared = json_table(contents.get("package.json")).get("workspaces")
    if isinstance(declared, dict):
        declared = declared.get("packages")
    yield from _texts(declared)
    yield from _found(_YAML_ENTRY, contents.get("pnpm-workspace.yaml", b""))


def _rust(contents: Mapping[str, bytes]) -> Iterator[str]:
    workspace = inner_table(toml_table(contents.get("Cargo.toml")), "workspace")
    yield from _texts(workspace.get("members"))


def _java(contents: Mapping[str, bytes]) -> Iterator[str]:
    yield from _found(_MODULE, contents.get("pom.xml", b""))
    for name in ("settings.gradle", "settings.gradle.kts"):
        for project in _found(_GRADLE, contents.get(name, b"")):
            yield project.replace(":", "/")


def _go(contents: Mapping[str, bytes]) -> Iterator[str]:
    yield from _found(_GO_USE, contents.get("go.work", b""))


def _dotnet(contents: Mapping[str, bytes]) -> Iterator[str]:
    for name, content in contents.items():
        for folder in _found(_SOLUTION, content) if name.endswith(".sln") else ():
            yield folder.replace("\\", "/")


def _found(pattern: Any, content: bytes) -> Iterator[str]:
    for match in pattern.finditer(content):
        yield (match.group(1) or b"").decode(errors="replace")


def _texts(value: Any) -> Iterator[str]:
    yield from (one for one in value if isinstance(one, str)) if isinstance(value, list) else ()
