"""What is built and tried of a run's work."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from processes.definition.model import LintCommands
from verification.engine.case import Case
from verification.engine.evidence import Workspace
from verification.engine.gating.components import MAX_COMPONENTS, Component, Language, components_of
from verification.engine.gating.given import REPLACED, Named, with_fewer, with_named
from verification.engine.gating.makefiles import made
from verification.engine.gating.manifests import READ, unread
from verification.engine.gating.overrides import (
    Overrides,
    Own,
    Placed,
    own_file,
    placed,
    read_overrides,
)
from verification.engine.gating.planned import planned_of
from verification.engine.gating.plans import commands_of
from verification.engine.gating.preparing import prepared
from verification.engine.gating.recipes import Files, part_of
from verification.engine.gating.stages import BUILD, LINT, RUN, TEST, Part
from verification.engine.gating.stepping import Steps
from verification.engine.gating.words import with_reports

SPOKEN = {
    word: language
    for language, words in {
        Language.PYTHON: "Python python",
        Language.NODE: "Node node Node.js JavaScript TypeScript",
        Language.GO: "Go go Golang",
        Language.RUST: "Rust rust",
        Language.JAVA: "Java java Kotlin",
        Language.RUBY: "Ruby ruby",
        Language.PHP: "PHP php",
        Language.DOTNET: ".NET C#",
    }.items()
    for word in words.split()
}
_TRIES = frozenset({BUILD, TEST})


@dataclass(frozen=True, slots=True)
class Plan:
    """`left_out` counts the components that are more than are tried."""

    parts: list[Part]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """The work's components, and what it says of them itself."""

    files: Files
    own: Placed
    left_out: int = 0


def plan_of(case: Case, workspace: Workspace) -> Plan:
    """Every component with its commands: those of the plan, else the work's own, else the table's."""
    found = found_of(case, workspace)
    named = planned_of(case.submission.task.plan)
    policy = case.definition.policy
    replaced = REPLACED | {LINT} if policy.lint_commands is LintCommands.PLAN else REPLACED
    parts = parts_of(found.files, found.own, named, replaced, policy.gate_seconds)
    return Plan(parts[:MAX_COMPONENTS], found.left_out + max(0, len(parts) - MAX_COMPONENTS))


def found_of(case: Case, workspace: Workspace) -> Found:
    task = case.submission.task
    files = Files([one.path for one in case.submission.files], _reader(case, workspace))
    path = own_file(files.paths)
    content = files.read(path)
    said = Overrides() if content is None else read_overrides(content, path)
    named = {own.folder for own in said.owns if not _TRIES.isdisjoint(own.commands)}
    words = f"{task.plan}\n{task.description}"
    found = components_of(files.paths, files.read, words, named)
    # What nothing marks, such as scripts of a shell, is tried as the plan says how.
    is_told = not (found.found or said.owns) and TEST in commands_of(task.plan)
    components = (Component("", Language.MAKE),) if is_told else found.found
    return Found(files, placed(said, components, files.paths), found.left_out)


def parts_of(
    files: Files,
    own: Placed,
    planned: Mapping[str | None, Named],
    replaced: Collection[str] = REPLACED,
    seconds: Mapping[str, int] | None = None,
) -> list[Part]:
    """`replaced` are the gates whose commands a plan may name, `seconds` the process's own limits."""
    parts = []
    paths = frozenset(files.paths)
    folders = tuple(dict.fromkeys(one.folder for one in own.components))
    named = _by_component(own.components, Steps(folders, sorted(files.paths)).taken(planned))
    for component in own.components:
        part = _doubted(part_of(component, files, own.components), files)
        module = next((one.cover.module for one in part.stages if one.cover), "")
        part = replace(part, seconds={**part.seconds, **(seconds or {})})
        said = own.owns.get(component, Own(component.folder))
        by_plan = named.get(component, Named())
        itself = Named(said.commands, said.starts).without(by_plan.gates)
        by_plan, by_make = made(component, by_plan, files)
        part = _named(part, itself, files, is_own=True)
        part = _named(part, by_make, files, replaced, is_own=True)
        part = _named(part, by_plan, files, replaced)
        part = replace(with_reports(part, said.reports, module), files=paths)
        parts.append(with_fewer(with_fewer(part, said.seconds), by_plan.seconds))
    return parts


def _named(
    part: Part,
    named: Named,
    files: Files,
    replaced: Collection[str] = REPLACED,
    *,
    is_own: bool = False,
) -> Part:
    part, tried = prepared(part, named, files)
    return with_named(part, tried, files.paths, is_own=is_own, replaced=replaced)


def _doubted(part: Part, files: Files) -> Part:
    """Where a manifest is not understood, nobody knows that there is nothing to run."""
    paths = map(part.component.path, READ)
    name = next(
        (path for path in paths if unread(posixpath.basename(path), files.read(path) or b"")), ""
    )
    if not name:
        return part
    why = f"{name} could not be read: nobody knows what is to be run."
    stages = (
        one if one.command or one.gate == RUN else replace(one, unreadable=why)
        for one in part.stages
    )
    return replace(part, stages=tuple(stages))


def _by_component(
    components: Sequence[Component], planned: Mapping[str | None, Named]
) -> Mapping[Component, Named]:
    """A folder means the first component in it; no folder, the first of all."""
    firsts = _firsts(components)
    found: dict[Component, Named] = {}
    for folder, one in planned.items():
        if folder is not None and folder in firsts:
            found[firsts[folder]] = _joined(found.get(firsts[folder], Named()), one)
    if not components:
        return found
    first = components[0]
    joined = _joined(found.get(first, Named()), planned.get(None, Named()))
    found[first] = replace(joined, unreadable=joined.unreadable or _nowhere(planned, firsts))
    return found


def _joined(first: Named, second: Named) -> Named:
    """Of two lists for one gate the first counts."""
    rest = second.without(first.gates)
    return Named(
        {**rest.commands, **first.commands},
        first.starts or rest.starts,
        first.unreadable or second.unreadable,
        {**second.seconds, **first.seconds},
    )


def _firsts(components: Sequence[Component]) -> Mapping[str, Component]:
    """By the folder, and by the language as a heading may call it, unless a folder is called so."""
    folders = {component.folder: component for component in reversed(components)}
    spoken = {component.language: component for component in reversed(components)}
    return {**{word: spoken[one] for word, one in SPOKEN.items() if one in spoken}, **folders}


def _nowhere(planned: Mapping[str | None, Named], known: Collection[str]) -> str:
    """Commands for an unknown folder may be prose; what is expected of a run is not."""
    for folder, named in planned.items():
        if folder is not None and folder not in known and (named.starts or named.unreadable):
            return f"The plan expects something of a run in {folder}, where no component was found."
    return ""


def _reader(case: Case, workspace: Workspace) -> Callable[[str], bytes | None]:
    known = {one.path for one in case.submission.files}

    def read(path: str) -> bytes | None:
        return workspace.read(path) if path in known else None

    return read
