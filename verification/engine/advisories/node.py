"""Lock files of npm, Yarn, pnpm and Bun."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import re2

from verification.engine.advisories.model import Pin
from verification.engine.advisories.reading import (
    MAX_DEPTH,
    entries,
    is_elsewhere,
    json_of,
    json_with_commas_of,
    lines_of,
    optional,
    places,
    table,
    text_of,
    yaml_scalars,
)
from verification.engine.reports.model import Unreadable

_KEY = r"""^\s*"([^"\\]+)"\s*:\s*\{"""
_LIST = r"""^\s*"([^"\\]+)"\s*:\s*\["""
_MODULES = "node_modules/"
_ALIAS = re2.compile(r"npm:((?:@[^/@\s]+/)?[^/@\s]+)(?:@(.+))?")
_FIRST = re2.compile(r'"?((?:@[^/@\s",]+/)?[^@\s",]+)@([^",]*)')
_FIELD = re2.compile(r'  (version|resolved) "?([^"\s]+)"?')
_BEFORE_SIX = re2.compile(r"/((?:@[^/]+/)?[^/@]+)/([^/_(]+)")
_SINCE_SIX = re2.compile(r"/?((?:@[^/@]+/)?[^/@]+)@([^(]+)")


def npm(content: bytes) -> Iterator[Pin]:
    """package-lock.json and npm-shrinkwrap.json, whichever npm wrote them."""
    whole = json_of(content)
    lines = places(content, _KEY)
    if "packages" not in whole:
        yield from _first_shape(whole, lines)
        return
    for key, one in entries(whole, "packages"):
        if _MODULES in key and one.get("link") is not True:
            name = optional(one, "name") or key.rpartition(_MODULES)[2]
            yield from _registered(name, one, lines.get(key))


def _first_shape(whole: Mapping[str, Any], lines: Mapping[str, int]) -> Iterator[Pin]:
    waiting = [(whole, 0)]
    while waiting:
        owner, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise Unreadable("It is too deep.")
        for name, one in entries(owner, "dependencies"):
            yield from _registered(name, one, lines.get(name))
            waiting.append((one, depth + 1))


def _registered(name: str, one: Mapping[str, Any], line: int | None) -> Iterator[Pin]:
    version = optional(one, "version")
    if alias := _ALIAS.fullmatch(version):
        name, version = alias[1], alias[2] or ""
    if version and not is_elsewhere(version) and not is_elsewhere(optional(one, "resolved")):
        yield Pin(name, _of_address(version), line)


def _of_address(version: str) -> str:
    """The version that an archive of the registry names; else as it is."""
    found = re2.search(r"-(\d[^/]*)\.tgz$", version[-200:]) if "://" in version else None
    return found[1] if found else version


def yarn(content: bytes) -> Iterator[Pin]:
    """Of either generation: the second is YAML."""
    return _berry(content) if "\n__metadata:" in f"\n{text_of(content)}" else _classic(content)


def _classic(content: bytes) -> Iterator[Pin]:
    name, line, fields = "", 0, dict[str, str]()
    for number, text in enumerate([*lines_of(content), "end:"], 1):
        if field := _FIELD.match(text):
            fields[field[1]] = field[2]
        elif text and not text[0].isspace() and not text.startswith("#"):
            if name and "version" in fields and not is_elsewhere(fields.get("resolved", "")):
                yield Pin(name, fields["version"], line)
            name, line, fields = _first_name(text), number, {}


def _first_name(header: str) -> str:
    """Of `"a@^1", a@^2:`; the package's own where it goes by another name; '' from elsewhere."""
    first = _FIRST.match(header)
    if not first:
        if header == "end:":
            return ""
        raise Unreadable("It has a line that is of no package.")
    alias = _ALIAS.match(first[2])
    return alias[1] if alias else "" if is_elsewhere(first[2]) else first[1]


def _berry(content: bytes) -> Iterator[Pin]:
    """A package that is patched stands there unpatched as well."""
    for keys, value, line in yaml_scalars(content):
        if len(keys) == 2 and keys[1] == "resolution" and value and "@npm:" in value[1:]:
            name, _, rest = value[1:].partition("@npm:")
            yield Pin(value[0] + name, rest.partition("::")[0], line)


def pnpm(content: bytes) -> Iterator[Pin]:
    shape = _SINCE_SIX
    for keys, value, line in yaml_scalars(content):
        if keys == ("lockfileVersion",):
            shape = _BEFORE_SIX if (value or "").startswith("5") else _SINCE_SIX
        elif len(keys) == 2 and keys[0] == "packages" and value is None:
            found = None if is_elsewhere(keys[1]) else shape.match(keys[1])
            if found and found[2][0].isdigit():
                yield Pin(found[1], found[2], line)


def bun(content: bytes) -> Iterator[Pin]:
    """A package's first word is its own name and what it was resolved to, whatever it is called."""
    whole = json_with_commas_of(content)
    lines = places(content, _LIST)
    for key, one in table(whole.get("packages") or {}).items():
        resolved = one[0] if isinstance(one, list) and one else None
        if not isinstance(resolved, str):
            raise Unreadable("A package of it does not say which one it is.")
        found = _SINCE_SIX.fullmatch(resolved)
        if found and found[2][0].isdigit():
            yield Pin(found[1], found[2], lines.get(key))
