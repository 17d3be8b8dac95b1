"""Lock files of Python: pins of requirements, and what poetry, uv, pdm and pipenv write."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import re2

from verification.engine.advisories.model import Pin
from verification.engine.advisories.reading import (
    entries,
    json_of,
    lines_of,
    optional,
    places,
    said,
    table,
    tables,
    toml_of,
)

_NAME = r"""^\s*name\s*=\s*["']([^"'\\]+)["']"""
_KEY = r"""^\s*"([^"\\]+)"\s*:\s*\{"""
_NAMED = re2.compile(
    r"^\s*([A-Za-z0-9][\w.-]{0,300})\s*(?:\[[^\]]*\])?\s*([(=<>!~][^;#]*)",
)
_EXACTLY = re2.compile(r"(?:^|[\s,(])===?\s*([^\s,;)*]+)(\*?)")
Table = Mapping[str, Any]
_OTHER_SOURCES = ("path", "url", "git", "hg", "svn", "directory", "vcs", "archive")
_LOCAL_SOURCES = ("editable", "virtual", "directory", "git", "path", "url")


def requirements(content: bytes) -> Iterator[Pin]:
    """Exact pins alone: ranges say nothing of what is installed."""
    for number, line in _joined(lines_of(_in_utf8(content))):
        named = _NAMED.search(line)
        exactly = _EXACTLY.search(named[2].partition(" --")[0]) if named else None
        if named and exactly and not exactly[2]:
            yield Pin(named[1], exactly[1], number)


def _in_utf8(content: bytes) -> bytes:
    """PowerShell writes UTF-16, and pip reads it."""
    if not content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content
    return content.decode("utf-16", errors="replace").encode(errors="replace")


def _joined(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Each with the number of its first; one that ends in a backslash goes on in the next.

    A remark goes on nowhere, as pip reads it.
    """
    begun: list[str] = []
    for number, line in enumerate(lines, 1):
        begun.append(line.removesuffix("\\"))
        if not line.endswith("\\") or line.lstrip().startswith("#"):
            yield number - len(begun) + 1, " ".join(begun)
            begun = []
    if begun:
        yield len(lines) - len(begun) + 1, " ".join(begun)


def poetry(content: bytes) -> Iterator[Pin]:
    return _packages(content, "package", _is_of_poetry)


def uv(content: bytes) -> Iterator[Pin]:
    return _packages(content, "package", _is_of_uv)


def pdm(content: bytes) -> Iterator[Pin]:
    return _packages(content, "package", _is_of_index)


def pylock(content: bytes) -> Iterator[Pin]:
    return _packages(content, "packages", _is_of_index)


def pipenv(content: bytes) -> Iterator[Pin]:
    whole = json_of(content)
    lines = places(content, _KEY)
    for section in whole:
        if section == "_meta":
            continue
        for name, one in entries(whole, section):
            version = optional(one, "version")
            if version.startswith("==") and _is_of_index(one):
                yield Pin(name, version.lstrip("="), lines.get(name))


def _packages(content: bytes, key: str, is_wanted: Callable[[Table], bool]) -> Iterator[Pin]:
    whole = toml_of(content)
    lines = places(content, _NAME)
    for one in tables(whole, key):
        if is_wanted(one):
            name = said(one, "name")
            yield Pin(name, said(one, "version"), lines.get(name))


def _is_of_poetry(one: Table) -> bool:
    source = table(one.get("source") or {})
    return optional(source, "type") in ("", "legacy")


def _is_of_uv(one: Table) -> bool:
    source = table(one.get("source") or {})
    return not any(name in source for name in _LOCAL_SOURCES)


def _is_of_index(one: Table) -> bool:
    return "version" in one and not any(name in one for name in _OTHER_SOURCES)
