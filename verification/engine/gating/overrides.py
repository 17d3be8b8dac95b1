"""What the work says of its own gates, in `loomverify.yaml` at its root. Hostile input."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from processes.definition.model import Level, Problem
from processes.definition.reading import Fields, Log, Value
from processes.definition.stream import Unreadable, compose
from verification.engine.gating.components import MAX_COMPONENTS, Component, Language
from verification.engine.gating.inner import read_inner
from verification.engine.gating.stages import (
    BUILD,
    INSTALL,
    OWN_FILE,
    RUN,
    SECONDS,
    TEST,
    TYPES,
    Start,
)
from verification.engine.gating.starts import NO_COMMANDS, NO_STARTS, read_commands, read_starts
from verification.engine.gating.words import read_reports
from verification.engine.shared import shared_folder

MAX_BYTES = 64_000
NAMED = (INSTALL, BUILD, TYPES, TEST, RUN)
"""Gates whose commands the work may name; who looks at it, it may not."""
TIGHTENED = (BUILD, TYPES, TEST, RUN)
"""An install that takes long blames nobody: the work may not make it so."""
_WORDS = {
    "yaml.documents": "It holds more than one document.",
    "file.too_large": f"It holds more than {MAX_BYTES} bytes.",
}


@dataclass(frozen=True, slots=True)
class Own:
    """What the work says of one of its components. `language` None: of the only one there.

    `reports` are paths of what its own commands report, by gate.
    """

    folder: str
    language: Language | None = None
    commands: Mapping[str, Sequence[str]] = field(default_factory=dict, hash=False)
    seconds: Mapping[str, int] = field(default_factory=dict, hash=False)
    starts: tuple[Start, ...] = ()
    reports: Mapping[str, str] = field(default_factory=dict, hash=False)
    place: tuple[int, int] = (1, 1)


@dataclass(frozen=True, slots=True)
class Overrides:
    """`starts` are those of the first component. `problems` are what was left out, and why."""

    owns: tuple[Own, ...] = ()
    starts: tuple[Start, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Placed:
    """The components with those that the work adds, and what it says of each."""

    components: tuple[Component, ...]
    owns: Mapping[Component, Own] = field(default_factory=dict, hash=False)
    problems: tuple[Problem, ...] = ()


def own_file(paths: Sequence[str]) -> str:
    """Where the work names its own commands; '' where it does not."""
    below = f"{shared_folder(paths)}/{OWN_FILE}"
    return next((one for one in (OWN_FILE, below) if one in paths), "")


def read_overrides(content: bytes, path: str = OWN_FILE) -> Overrides:
    """Read the file. Never raises; what is odd is a problem, and the rest counts.

    The folders that it names are those below its own.
    """
    said = _read(content)
    above = path.removesuffix(OWN_FILE).rstrip("/")
    return _below(said, above, path) if above else said


def _below(said: Overrides, above: str, path: str) -> Overrides:
    def moved(starts: tuple[Start, ...]) -> tuple[Start, ...]:
        return tuple(replace(one, path=path) for one in starts)

    owns = (
        replace(one, folder=f"{above}/{one.folder}".rstrip("/"), starts=moved(one.starts))
        for one in said.owns
    )
    return replace(said, owns=tuple(owns), starts=moved(said.starts))


def _read(content: bytes) -> Overrides:
    log = Log()
    try:
        if len(content) > MAX_BYTES:
            raise Unreadable(Problem("file.too_large", ""))
        fields = Value(compose(content), "", log).mapping()
    except Unreadable as error:
        why = _WORDS.get(error.problem.code, error.problem.message)
        return Overrides(problems=(replace(error.problem, message=why),))
    if fields is None:
        return Overrides(problems=tuple(log.problems))
    starts = fields.read("run", read_starts, NO_STARTS)
    owns = [_own(entry) for entry in _entries(fields)]
    fields.close()
    return Overrides(tuple(one for one in owns if one), starts, tuple(log.problems))


def placed(overrides: Overrides, found: Sequence[Component], paths: Sequence[str]) -> Placed:
    """Find the component that each entry speaks of, or add it; of two entries the first counts."""
    components, owns, problems = list(found), dict[Component, Own](), list(overrides.problems)
    for own in overrides.owns:
        component = _component(own, components, paths)
        if isinstance(component, str) or component in owns:
            why = component if isinstance(component, str) else f"{component.name} is there twice."
            problems.append(Problem("component", why, "", *own.place, level=Level.WARNING))
            continue
        if component not in components:
            components.append(component)
        owns[component] = own
    if overrides.starts and components:
        first = owns.get(components[0], Own(components[0].folder))
        owns[components[0]] = replace(first, starts=first.starts or overrides.starts)
    return Placed(tuple(components), owns, tuple(problems))


def _component(own: Own, found: Sequence[Component], paths: Sequence[str]) -> Component | str:
    """The component, or why there is none."""
    shown = own.folder or "."
    same = [one for one in found if one.folder == own.folder]
    if own.language is None:
        if len(same) == 1:
            return same[0]
        why = "Several components are in" if same else "No component was found in"
        return f"{why} {shown}: name its language."
    for one in same:
        if one.language is own.language:
            return one
    added = Component(own.folder, own.language)
    return added if added.all_of(paths) else f"The work has no file in {shown}."


def _entries(fields: Fields) -> list[Value]:
    entries = fields.entries("components", "a list of components")
    if len(entries) > MAX_COMPONENTS:
        fields.complain("components", f"Only the first {MAX_COMPONENTS} count.", "components")
    return entries[:MAX_COMPONENTS]


def _own(entry: Value) -> Own | None:
    fields = entry.mapping()
    if fields is None:
        return None
    folder = fields.read("path", _folder, None)
    if not fields.has("path"):
        fields.complain("key.missing", f"{entry.path}.path is required.")
    language = fields.read("language", _language, None)
    own = Own(
        folder=folder or "",
        language=language,
        commands=_commands(fields.mapping("commands")),
        seconds=_seconds(fields.mapping("seconds")),
        starts=fields.read("run", read_starts, NO_STARTS),
        reports=read_reports(fields.mapping("reports")),
        place=(entry.line, int(entry.node.start_mark.column) + 1),
    )
    fields.close()
    if own.starts and RUN in own.commands:
        fields.complain("run", "commands.run has no effect beside run.", "run", Level.WARNING)
    is_known = folder is not None and (language is not None or not fields.has("language"))
    return own if is_known else None


def _folder(value: Value) -> str | None:
    """As components call it: '' for the root."""
    return read_inner(value, "a folder of the work", is_folder=True)


def _language(value: Value) -> Language | None:
    word = value.word(tuple(Language))
    return Language(word) if word else None


def _commands(fields: Fields) -> Mapping[str, Sequence[str]]:
    found = {gate: fields.read(gate, read_commands, NO_COMMANDS) for gate in NAMED}
    fields.close()
    return {gate: commands for gate, commands in found.items() if commands}


def _seconds(fields: Fields) -> Mapping[str, int]:
    """A limit may be lowered, and nothing else."""
    found = {gate: fields.read(gate, _fewer(gate), 0) for gate in TIGHTENED}
    fields.close()
    return {gate: seconds for gate, seconds in found.items() if seconds}


def _fewer(gate: str) -> Callable[[Value], int | None]:
    return lambda value: value.integer(1, SECONDS[gate])
