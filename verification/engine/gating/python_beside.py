"""Packages of a Python project that lie in the workspace themselves. Hostile input."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from verification.engine.gating.components import IGNORED, Component, Read
from verification.engine.gating.manifests import inner_table, toml_table

MAX_MEMBERS = 200
MAX_BESIDE = 20
_PROJECT = "pyproject.toml"


def beside(
    component: Component, paths: Sequence[str], read: Read, project: Mapping[str, Any]
) -> Mapping[str, str]:
    """By normalized name, the folders from which uv takes what it does not take from an index.

    Those that such a package needs itself are among them.
    """
    found: dict[str, str] = {}
    waiting = [(component.folder, project)]
    while waiting and len(found) < MAX_BESIDE:
        folder, of_it = waiting.pop(0)
        for name, place in _sources(folder, of_it, paths, read):
            if name not in found and place != component.folder:
                found[name] = place
                waiting.append((place, toml_table(read(_project_in(place)))))
    return found


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _sources(
    folder: str, project: Mapping[str, Any], paths: Sequence[str], read: Read
) -> Iterator[tuple[str, str]]:
    sources = inner_table(inner_table(inner_table(project, "tool"), "uv"), "sources")
    for name, said in sources.items():
        if not isinstance(said, dict):
            continue
        if said.get("workspace") is True:
            place = _member(normal(name), paths, read)
        elif isinstance(said.get("path"), str):
            place = posixpath.normpath(posixpath.join(folder, said["path"]))
        else:
            continue
        if place and _project_in(place) in paths:
            yield normal(name), place


def _member(name: str, paths: Sequence[str], read: Read) -> str:
    manifests = (
        one
        for one in paths
        if posixpath.basename(one) == _PROJECT and IGNORED.isdisjoint(one.split("/"))
    )
    for path in islice(manifests, MAX_MEMBERS):
        said = inner_table(toml_table(read(path)), "project").get("name")
        if isinstance(said, str) and normal(said) == name:
            return posixpath.dirname(path)
    return ""


def _project_in(folder: str) -> str:
    return posixpath.join(folder, _PROJECT)
