"""The versions that a lock file of uv, Poetry, PDM or Pipenv holds. Hostile input."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from verification.engine.gating.components import Component, Read
from verification.engine.gating.manifests import inner_table, json_table, toml_table
from verification.engine.gating.poetry import NAME

MAX_LOCKED = 1_000
MAX_LOCK_BYTES = 10_000_000
LOCKS = ("uv.lock", "poetry.lock", "pdm.lock")
_VERSION = re.compile(r"[0-9][A-Za-z0-9.!+]{0,40}")


def locked(component: Component, read: Read) -> tuple[str, ...]:
    """As pip's constraints, sorted. What is locked in several versions, or from elsewhere, is free."""
    for name in LOCKS:
        table = toml_table(read(component.path(name)), MAX_LOCK_BYTES)
        if table:
            return _constraints(_packages(table.get("package")))
    table = json_table(read(component.path("Pipfile.lock")), MAX_LOCK_BYTES)
    return _constraints(_of_pipenv(table))


def _packages(value: object) -> Iterator[tuple[object, object]]:
    for one in value if isinstance(value, list) else ():
        if isinstance(one, dict) and _is_from_index(one.get("source")):
            yield one.get("name"), one.get("version")


def _is_from_index(source: object) -> bool:
    """Uv names the registry; Poetry and PDM name nothing, or what else it is from."""
    return source is None or (isinstance(source, dict) and "registry" in source)


def _of_pipenv(table: Mapping[str, Any]) -> Iterator[tuple[object, object]]:
    for group in ("default", "develop"):
        for name, said in inner_table(table, group).items():
            version = said.get("version") if isinstance(said, dict) else None
            if isinstance(version, str):
                yield name, version.removeprefix("==")


def _constraints(found: Iterator[tuple[object, object]]) -> tuple[str, ...]:
    versions: dict[str, set[str]] = {}
    for name, version in islice(found, MAX_LOCKED):
        if isinstance(name, str) and isinstance(version, str):
            versions.setdefault(name, set()).add(version)
    return tuple(
        f"{name}=={version}"
        for name, (version, *others) in sorted(versions.items())
        if not others and NAME.fullmatch(name) and _VERSION.fullmatch(version)
    )
