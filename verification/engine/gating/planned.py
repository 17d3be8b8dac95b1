"""What a task's plan names for the components of the work: commands, and what a start is to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import yaml

from processes.definition.phases import MAX_GATE_SECONDS
from processes.definition.reading import Log, Value
from processes.definition.stream import Unreadable, compose
from verification.engine.gating.given import Named
from verification.engine.gating.overrides import TIGHTENED
from verification.engine.gating.plans import LIMITS, blocks_of
from verification.engine.gating.stages import RUN
from verification.engine.gating.starts import read_starts

_KEYS = frozenset({"command", "expected_output", "expected_exit_code", "ready"})


def planned_of(plan: str) -> Mapping[str | None, Named]:
    """By the folder of the component; None: the plan names none, and means the first.

    Of two lists for one gate the first counts.
    """
    found: dict[str | None, Named] = {}
    for block in blocks_of(plan):
        named = found.get(block.folder, Named())
        if block.commands and block.gate not in (LIMITS, *named.commands):
            commands = {**named.commands, block.gate: block.commands}
            found[block.folder] = replace(named, commands=commands)
        has_starts = named.starts or named.unreadable
        if block.gate == LIMITS and block.yaml and not named.seconds:
            found[block.folder] = replace(named, seconds=_seconds(block.yaml))
        if block.gate == RUN and not has_starts and _names_a_start(block.yaml):
            found[block.folder] = _with_starts(named, block.yaml)
    return found


def _seconds(text: str) -> Mapping[str, int]:
    """Whole seconds by gate; what is none is none of these limits."""
    try:
        fields = Value(compose(text), LIMITS, Log()).mapping()
    except Unreadable:
        return {}
    named = ((gate, fields.get(gate) if fields else None) for gate in TIGHTENED)
    read = ((gate, value.integer(1, MAX_GATE_SECONDS) if value else None) for gate, value in named)
    return {gate: seconds for gate, seconds in read if seconds}


def _names_a_start(text: str) -> bool:
    """Other YAML below such a heading, a Compose file say, is not meant for this gate."""
    try:
        root = compose(text)
    except Unreadable:
        return "command" in text
    entries = root.value if isinstance(root, yaml.SequenceNode) else [root]
    keys = (key for one in entries if isinstance(one, yaml.MappingNode) for key, _ in one.value)
    return any(isinstance(key, yaml.ScalarNode) and key.value in _KEYS for key in keys)


def _with_starts(named: Named, text: str) -> Named:
    """What the plan asks for and nobody can read is in doubt: it is not left out."""
    log = Log()
    try:
        starts = read_starts(Value(compose(text), RUN, log))
        problem = next(iter(log.problems), None)
    except Unreadable as error:
        starts, problem = (), error.problem
    if problem:
        why = f"What the plan expects of a run cannot be read, line {problem.line} of its block: "
        return replace(named, unreadable=why + problem.message)
    return replace(named, starts=tuple(replace(start, line=None) for start in starts))
