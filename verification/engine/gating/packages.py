"""Packages of a workspace of npm or pnpm that are tried on their own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from verification.engine.gating.components import Component, Language, Read, declaring
from verification.engine.gating.manifests import inner_table, json_table
from verification.engine.gating.members import is_npm_member, is_pnpm_member
from verification.engine.gating.recipe_node import node
from verification.engine.gating.stages import PROGRAMS, Install, Part, Stage, deps_of

BY_PNPM = "The package needs others of its workspace, which pnpm installs and npm cannot."
_ON_PATH = re.compile(r"[\w./@+-]+")


def with_workspace(
    part: Part, components: Sequence[Component], paths: Sequence[str], read: Read
) -> Part:
    """A package is installed with its workspace: alone it would not find the others.

    `components` are all that are tried.
    """
    component = part.component
    if component.language is not Language.NODE or not component.folder or not part.is_run:
        return part
    for upper in components:
        if upper.language is not Language.NODE or not component.path("").startswith(upper.path("")):
            continue
        inner, contents = component.folder.removeprefix(upper.path("")), declaring(upper, read)
        if upper != component and is_npm_member(contents)(inner):
            return _installed_with(part, node(upper, paths, read), inner)
        if upper != component and is_pnpm_member(contents)(inner) and _needs_others(part, read):
            stages = (_unreadable(one) for one in part.stages)
            return replace(part, stages=tuple(stages), install=Install())
    return part


def _installed_with(part: Part, upper: Part, inner: str) -> Part:
    """What is not shared by all packages is installed below the package's own folder."""
    if not any(stage.command for stage in part.stages):
        return replace(part, install=Install(), linked={})
    deps, up = deps_of(upper.component), "../" * (inner.count("/") + 1)
    own = f"{deps}/{inner}/node_modules"
    path = upper.environment["PATH"]
    rest = path.removeprefix(PROGRAMS)
    return replace(
        part,
        install=replace(upper.install, owner=upper.component),
        linked={
            **{f"{up}{name}": to for name, to in upper.linked.items() if to != own},
            "node_modules": own,
        },
        environment={
            **part.environment,
            "PATH": f"{PROGRAMS}:{own}/.bin{rest}" if _ON_PATH.fullmatch(own) else path,
        },
    )


def _needs_others(part: Part, read: Read) -> bool:
    package = json_table(read(part.component.path("package.json")))
    known = (inner_table(package, name) for name in ("dependencies", "devDependencies"))
    return any(str(one).startswith("workspace:") for table in known for one in table.values())


def _unreadable(stage: Stage) -> Stage:
    return Stage(stage.gate, unreadable=BY_PNPM) if stage.command else stage
