"""Poetry's table of dependencies, in the words of pip. Hostile input: what is odd says less."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from verification.engine.gating.manifests import inner_table, texts_of

ELSEWHERE = frozenset({"git", "path", "url", "file"})
"""Taken from there by the project's own build backend, or not at all."""
MAX_PARTS = 10
NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,100}", re.ASCII)
_PART = re.compile(
    r"(?P<sign>\^|~=|~|>=|<=|==|!=|=|>|<)?\s*"
    r"(?P<version>(?P<release>\d{1,9}(?:\.\d{1,9}){0,4})(?:\.\*|[A-Za-z][A-Za-z0-9.]{0,30})?)",
    re.ASCII,
)


def poetry_requirements(project: Mapping[str, Any], groups: Collection[str]) -> Iterator[str]:
    """What every installation needs, and what the groups of these names do."""
    table = inner_table(inner_table(project, "tool"), "poetry")
    yield from listed(inner_table(table, "dependencies"))
    yield from listed(inner_table(table, "dev-dependencies"))
    named = inner_table(table, "group")
    for group in groups:
        yield from listed(inner_table(inner_table(named, group), "dependencies"))


def poetry_python(project: Mapping[str, Any]) -> str:
    """As specifiers; '' where it does not say."""
    table = inner_table(inner_table(project, "tool"), "poetry")
    return _joined(inner_table(table, "dependencies").get("python"))


def listed(table: Mapping[str, Any]) -> Iterator[str]:
    """What a table of names and versions lists, Pipenv's too."""
    for name, said in table.items():
        if name.lower() == "python" or not NAME.fullmatch(name):
            continue
        if isinstance(said, str):
            yield f"{name}{_joined(said)}"
        elif isinstance(said, dict) and not said.get("optional") and not ELSEWHERE & said.keys():
            yield f"{name}{_extras(said)}{_joined(said.get('version'))}{_markers(said)}"
        elif isinstance(said, list):
            yield name  # one of several versions, which its backend chooses


def _extras(said: Mapping[str, Any]) -> str:
    names = texts_of(said.get("extras"))
    return f"[{','.join(names)}]" if names and all(map(NAME.fullmatch, names)) else ""


def _markers(said: Mapping[str, Any]) -> str:
    found = [f"python_full_version {sign} '{of}'" for sign, of in _bounds(said.get("python"))]
    if isinstance(said.get("markers"), str):
        found.append(f"({said['markers']})")
    return f" ; {' and '.join(found)}" if found else ""


def _joined(constraint: object) -> str:
    return ",".join(f"{sign}{version}" for sign, version in _bounds(constraint))


def _bounds(constraint: object) -> Sequence[tuple[str, str]]:
    """As signs and versions that all hold; none where it is something else."""
    if not isinstance(constraint, str) or constraint.strip() in ("", "*"):
        return ()
    found: list[tuple[str, str]] = []
    for text in constraint.split(",")[:MAX_PARTS]:
        part = _PART.fullmatch(text.strip())
        if part is None:
            return ()
        found += _bound(part["sign"] or "", part["version"], part["release"])
    return found


def _bound(sign: str, version: str, release: str) -> Sequence[tuple[str, str]]:
    if sign not in ("^", "~"):
        return ((sign if sign not in ("", "=") else "==", version),)
    numbers = [int(one) for one in release.split(".")]
    if sign == "~":
        last = min(1, len(numbers) - 1)
    else:
        last = next((at for at, one in enumerate(numbers) if one), len(numbers) - 1)
    above = [*numbers[:last], numbers[last] + 1]
    return ((">=", version.removesuffix(".*")), ("<", ".".join(map(str, above))))
