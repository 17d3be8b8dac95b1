"""Versions in the order of their ecosystem, as keys that compare. What is no version has none.

Strict on purpose: a version that is guessed at would turn doubt into an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cmp_to_key
from itertools import zip_longest
from typing import Any

import re2
from packaging.version import InvalidVersion, Version

from verification.engine.advisories.model import MAX_VERSION_CHARS, Ecosystem

Key = tuple[Any, ...]
"""Keys of one ecosystem compare with each other."""
Part = tuple[int, int, str]
_ZERO: Part = (1, 0, "")

_SEMVER = re2.compile(
    r"^[vV=]?(\d+)(?:\.(\d+)(?:\.(\d+))?)?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$"
)
_PARTS = re2.compile(r"^[vV]?(\d+(?:\.\d+){0,3})(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$")
_GEM = re2.compile(r"^\d+(?:\.[0-9A-Za-z]+)*(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$")
_GEM_SEGMENT = re2.compile(r"\d+|[A-Za-z]+")
_COMPOSER = re2.compile(
    r"(?i)^v?(\d+(?:\.\d+){0,3})"
    r"(?:[._-]?(stable|beta|b|rc|alpha|a|patch|pl|p)(?:[.-]?(\d+(?:[.-]\d+)*))?)?(?:\+[\w.-]+)?$"
)
_STABILITY = {"alpha": -3, "a": -3, "beta": -2, "b": -2, "rc": -1, "stable": 0}
_MAVEN = re2.compile(r"^[A-Za-z]*\d[\w.+-]*$")
_MAVEN_PART = re2.compile(r"[.-]|\d+|[^\d.-]+")
_MAVEN_WORDS = {"alpha": 0, "beta": 1, "milestone": 2, "rc": 3, "snapshot": 4, "": 5, "sp": 6}
_MAVEN_NAMES = {"cr": "rc", "ga": "", "final": "", "release": ""}
_MAVEN_SHORT = {"a": "alpha", "b": "beta", "m": "milestone"}
"""As they are written before a number."""
_UNKNOWN_WORD = 7
_RELEASE = _MAVEN_WORDS[""]
_NOTHING = ((1, 0, ""), (2, 0, ""), (0, _RELEASE, ""))


class NoVersion(ValueError):
    """It cannot be compared."""


def key_of(ecosystem: Ecosystem, version: str) -> Key:
    """A value that compares as the ecosystem's own tools do.

    Raises:
        NoVersion: it is none, or not one of this ecosystem.
    """
    if not 0 < len(version) <= MAX_VERSION_CHARS or not version.isascii():
        raise NoVersion(version[:MAX_VERSION_CHARS])
    return _KEYS[ecosystem](version)


def key_of_semver(version: str) -> Key:
    """Source: semver.org 2.0.0, section 11. What stands after + does not count."""
    found = _SEMVER.match(version)
    if not found:
        raise NoVersion(version)
    return int(found[1]), int(found[2] or 0), int(found[3] or 0), _prerelease(found[4])


def _prerelease(said: str | None) -> Key:
    """A release comes after all that goes before it."""
    if said is None:
        return (1,)
    parts = ((0, int(one), "") if one.isdigit() else (1, 0, one) for one in said.split("."))
    return 0, tuple(parts)


def _of_pypi(version: str) -> Key:
    """What stands after + is the same release, built otherwise: 2.0+cpu is touched as 2.0 is."""
    try:
        return (Version(version.partition("+")[0]),)
    except InvalidVersion:
        raise NoVersion(version) from None


def _of_nuget(version: str) -> Key:
    """Up to four numbers; letters count without case."""
    found = _PARTS.match(version.lower())
    if not found:
        raise NoVersion(version)
    return _numbers(found[1]), _prerelease(found[2])


def _numbers(said: str) -> Key:
    numbers = [int(one) for one in said.split(".")]
    return tuple(numbers + [0] * (4 - len(numbers)))


def _of_rubygems(version: str) -> Key:
    """Source: Gem::Version. A letter anywhere is a prerelease; zeros at the end do not count."""
    if not _GEM.match(version):
        raise NoVersion(version)
    found = _GEM_SEGMENT.findall(version.replace("-", ".pre."))
    segments = [(1, int(one), "") if one.isdigit() else (-1, 0, one) for one in found]
    first_word = next((at for at, one in enumerate(segments) if one[0] < 0), len(segments))
    numbers = segments[:first_word]
    while numbers and numbers[-1] == _ZERO:
        numbers.pop()
    return (_GemOrder(numbers + segments[first_word:]),)


def _of_packagist(version: str) -> Key:
    """Source: Composer's VersionParser, for releases; branches have no place in the order."""
    found = _COMPOSER.match(version)
    if not found:
        raise NoVersion(version)
    word = (found[2] or "stable").lower()
    numbers = tuple(int(one) for one in (found[3] or "0").replace("-", ".").split("."))
    return _numbers(found[1]), _STABILITY.get(word, 1), numbers


def _of_maven(version: str) -> Key:
    """Source: Maven's "Version Order Specification"."""
    if not _MAVEN.match(version):
        raise NoVersion(version)
    return (_MavenOrder(_maven_parts(version.lower())),)


def _maven_parts(version: str) -> list[Part]:
    """Without what says nothing: zeros and the like before a dash, and at the end."""
    parts: list[Part] = []
    is_nothing = True
    for mark, said in reversed(_maven_tokens(version)):
        part = _maven_part(mark, said)
        if is_nothing and part in _NOTHING:
            continue
        parts.append(part)
        is_nothing = mark == "-"
    return parts[::-1]


def _maven_tokens(version: str) -> list[tuple[str, str]]:
    """(what stands before, part); between a digit and a letter stands a dash."""
    found: list[tuple[str, str]] = []
    mark, is_begun = ".", False
    for said in [*_MAVEN_PART.findall(version), "."]:
        if said not in ".-":
            found.append(("-" if is_begun else mark, _MAVEN_NAMES.get(said, said)))
            if said.isdigit() and is_begun and found[-2][1] in _MAVEN_SHORT:
                found[-2] = (found[-2][0], _MAVEN_SHORT[found[-2][1]])
            is_begun = True
            continue
        if not is_begun:
            found.append((mark, "0"))
        mark, is_begun = said, False
    return found


def _maven_part(mark: str, said: str) -> Part:
    """Words come before what stands after a dash, and that before what stands after a dot."""
    if said.isdigit():
        return 1 if mark == "-" else 2, int(said), ""
    rank = _MAVEN_WORDS.get(said, _UNKNOWN_WORD)
    return 0, rank, said if rank == _UNKNOWN_WORD else ""


def _compared_by_maven(one: list[Part], other: list[Part]) -> int:
    for left, right in zip_longest(one, other):
        mine, yours = left or _missing(right), right or _missing(left)
        if mine != yours:
            return -1 if mine < yours else 1
    return 0


def _missing(beside: Part) -> Part:
    """What stands for a part that is not there: a zero beside a number after a dot."""
    return (2, 0, "") if beside[0] == 2 else (0, _RELEASE, "")


def _compared_by_rubygems(one: list[Part], other: list[Part]) -> int:
    for left, right in zip_longest(one, other, fillvalue=_ZERO):
        if left != right:
            return -1 if left < right else 1
    return 0


_MavenOrder = cmp_to_key(_compared_by_maven)
_GemOrder = cmp_to_key(_compared_by_rubygems)
_KEYS: Mapping[Ecosystem, Callable[[str], Key]] = {
    Ecosystem.PYPI: _of_pypi,
    Ecosystem.NPM: key_of_semver,
    Ecosystem.GO: key_of_semver,
    Ecosystem.CRATES: key_of_semver,
    Ecosystem.RUBYGEMS: _of_rubygems,
    Ecosystem.PACKAGIST: _of_packagist,
    Ecosystem.NUGET: _of_nuget,
    Ecosystem.MAVEN: _of_maven,
}
