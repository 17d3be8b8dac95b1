"""What Go's modules name: `go.mod` the chosen versions, `go.sum` those that were looked at."""

from __future__ import annotations

from collections.abc import Iterator

import re2

from verification.engine.advisories.model import Pin
from verification.engine.advisories.reading import lines_of
from verification.engine.advisories.versions import NoVersion, key_of_semver

WHOLE_SINCE = (1, 17)
"""From this version of Go on, `go.mod` names what is needed by way of others as well."""
_MODULE = re2.compile(r'\s*(?:require\s+)?"?([^\s"()]+)"?\s+(v\d\S*)')
_REPLACED = re2.compile(r"\s*(?:replace\s+)?(\S+)(?:\s+(v\S+))?\s+=>\s+(\S+)(?:\s+(v\S+))?\s*$")
_BLOCK = re2.compile(r"\s*(\w+)\s*\(\s*$")
_GO = re2.compile(r"\s*go\s+(\d{1,3})\.(\d{1,4})")


def mod(content: bytes) -> Iterator[Pin]:
    required: list[Pin] = []
    replaced: dict[tuple[str, str], tuple[str, str]] = {}
    for number, verb, line in _directives(content):
        if verb == "require" and (found := _MODULE.match(line)):
            required.append(Pin(found[1], found[2], number))
        elif verb == "replace" and (found := _REPLACED.match(line)):
            replaced[found[1], found[2] or ""] = (found[3], found[4] or "")
    for pin in required:
        other = replaced.get((pin.name, pin.version)) or replaced.get((pin.name, ""))
        name, version = other or (pin.name, pin.version)
        if version:  # else it is a folder
            yield Pin(name, version, pin.line)


def names_all(content: bytes) -> bool:
    """Whether `go.mod` names all modules, so that `go.sum` has nothing to add."""
    for line in lines_of(content):
        if found := _GO.match(line):
            return (int(found[1]), int(found[2])) >= WHOLE_SINCE
    return False


def sums(content: bytes) -> Iterator[Pin]:
    """Of each module the newest, which is the one that Go chooses."""
    newest: dict[str, tuple[tuple[object, ...], Pin]] = {}
    for number, line in enumerate(lines_of(content), 1):
        words = line.split()
        if len(words) != 3 or words[1].endswith("/go.mod"):
            continue
        try:
            key = key_of_semver(words[1])
        except NoVersion:
            continue
        if words[0] not in newest or newest[words[0]][0] < key:
            newest[words[0]] = key, Pin(words[0], words[1], number)
    return (pin for _, pin in newest.values())


def _directives(content: bytes) -> Iterator[tuple[int, str, str]]:
    """(line's number, verb, line without its remark) of each line, in a block or alone."""
    block = ""
    for number, line in enumerate(lines_of(content), 1):
        bare = line.partition("//")[0] if "=>" not in line else line.partition(" //")[0]
        if opened := _BLOCK.match(bare):
            block = opened[1]
        elif bare.strip() == ")":
            block = ""
        elif bare.strip():
            yield number, block or bare.split()[0], bare
