"""Lock files of Cargo, Bundler, Composer, NuGet and Gradle."""

from __future__ import annotations

from collections.abc import Iterator

import re2

from verification.engine.advisories.model import Pin
from verification.engine.advisories.reading import (
    entries,
    json_of,
    lines_of,
    optional,
    places,
    said,
    tables,
    toml_of,
)

_TOML_NAME = r"""^\s*name\s*=\s*["']([^"'\\]+)["']"""
_JSON_NAME = r"""^\s*"name"\s*:\s*"([^"\\]+)"""
_JSON_KEY = r"""^\s*"([^"\\]+)"\s*:\s*\{"""
_GEM = re2.compile(r"    ([\w.-]+) \((\d[^\s()-]*)(?:-[^\s()]*)?\)\s*$")
_SECTION = re2.compile(r"[A-Z][A-Z ]*\s*$")
_DEPENDENCY = re2.compile(r"([^:=#\s]+:[^:=#\s]+):([^:=#\s]+)(?:=|$)")


def cargo(content: bytes) -> Iterator[Pin]:
    """Without a source it is a part of the work; with another one it is from elsewhere."""
    whole = toml_of(content)
    lines = places(content, _TOML_NAME)
    for one in tables(whole, "package"):
        if optional(one, "source").startswith(("registry+", "sparse+")):
            name = said(one, "name")
            yield Pin(name, said(one, "version"), lines.get(name))


def bundler(content: bytes) -> Iterator[Pin]:
    section = ""
    for number, line in enumerate(lines_of(content), 1):
        if _SECTION.match(line):
            section = line.strip()
        elif section == "GEM" and (gem := _GEM.match(line)):
            yield Pin(gem[1], gem[2], number)


def composer(content: bytes) -> Iterator[Pin]:
    """A branch is no release."""
    whole = json_of(content)
    lines = places(content, _JSON_NAME)
    for section in ("packages", "packages-dev"):
        for one in tables(whole, section):
            name, version = said(one, "name"), said(one, "version")
            if not version.startswith("dev-") and not version.endswith("-dev"):
                yield Pin(name, version, lines.get(name))


def nuget(content: bytes) -> Iterator[Pin]:
    whole = json_of(content)
    lines = places(content, _JSON_KEY)
    for framework, _ in entries(whole, "dependencies"):
        for name, one in entries(whole["dependencies"], framework):
            if optional(one, "type") != "Project":
                yield Pin(name, said(one, "resolved"), lines.get(name))


def gradle(content: bytes) -> Iterator[Pin]:
    for number, line in enumerate(lines_of(content), 1):
        if found := _DEPENDENCY.match(line):
            yield Pin(found[1], found[2], number)
