"""mypy, where a Python project configures it."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from verification.engine.gating.components import IGNORED, Component, Read
from verification.engine.gating.manifests import ini_table, inner_table
from verification.engine.gating.stages import REPORT, TYPES, Expected, Stage
from verification.engine.reports.problems import ProblemFormat

MYPY = (
    "python3 -P /opt/loomverify/run_mypy.py --output json "
    '--python-executable "$(command -v python3)" --cache-dir /dev/null'
)
MAX_LEFT_OUT = 100
_NAMES_FILES = frozenset({"files", "packages", "modules"})


def types_of(
    component: Component, paths: Sequence[str], read: Read, project: Mapping[str, Any]
) -> Stage:
    own = _settings(component, paths, read, project)
    if own is None:
        return Stage(TYPES, skipped="No type checker is configured.")
    where = "" if _NAMES_FILES & {*own} else _everything(component, paths)
    return Stage(TYPES, f'{MYPY} {where} > "{REPORT}"', Expected(ProblemFormat.MYPY))


def _settings(
    component: Component, paths: Sequence[str], read: Read, project: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """In the order in which mypy looks for them; None where there are none."""
    for name in ("mypy.ini", ".mypy.ini"):
        if component.path(name) in paths:
            return ini_table(read(component.path(name))).get("mypy", {})
    tools = inner_table(project, "tool")
    if "mypy" in tools:
        return inner_table(tools, "mypy")
    return ini_table(read(component.path("setup.cfg"))).get("mypy")


def _everything(component: Component, paths: Sequence[str]) -> str:
    """But for files of a module's name that another one has: mypy checks none where two have it."""
    again = islice(_again(component, paths), MAX_LEFT_OUT)
    left_out = (f"--exclude {shlex.quote(f'^{re.escape(one)}$')}" for one in again)
    return " ".join((".", *left_out))


def _again(component: Component, paths: Sequence[str]) -> Iterator[str]:
    known, start = frozenset(paths), len(component.path(""))
    seen: set[str] = set()
    for path in sorted(component.all_of(paths), key=lambda one: (one.count("/"), one)):
        inner = path[start:]
        if not path.endswith(".py") or not IGNORED.isdisjoint(inner.split("/")):
            continue
        module = _module(path, known)
        if module in seen:
            yield inner
        seen.add(module)


def _module(path: str, known: Collection[str]) -> str:
    """The name under which mypy checks a file: as deep as there are packages above it."""
    folder, name = posixpath.split(path.removesuffix(".py"))
    parts = [] if name == "__init__" else [name]
    while folder and f"{folder}/__init__.py" in known:
        folder, name = posixpath.split(folder)
        parts.append(name)
    return ".".join(reversed(parts))
