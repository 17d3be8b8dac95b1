"""Commands that somebody names in place of the table's. They may not name who judges."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

from verification.engine.gating.stages import BUILD, INSTALL, RUN, TEST, TYPES, Install, Part, Stage

REPLACED = (BUILD, TYPES, TEST, RUN)
"""Lint and security are always the table's: they look at the work on nobody's behalf."""
_PYTEST = re.compile(r"(?:python3?\s+-m\s+)?pytest(?=\s|$)(?P<rest>[^;&|<>`$\n]*)")
_GO_TEST = re.compile(r"go\s+test(?=\s|$)(?P<rest>[^;&|<>`$\n]*)")
_OWN_OPTIONS = (
    "--junit",
    "-p",
    "-c",
    "--rootdir",
    "--override-ini",
    "-o",
    "--collect-only",
    "--co",
)
_RUNNERS = (
    (_PYTEST, "run_pytest.py", " -p no:cacheprovider"),
    (_GO_TEST, "go test -json", " ./..."),
)


def with_given(
    parts: Sequence[Part], commands: Mapping[str, Sequence[str]], paths: Sequence[str]
) -> list[Part]:
    """A plan speaks of the work's first component, which is the nearest to its root."""
    if not parts or not commands:
        return list(parts)
    first = parts[0]
    stages = tuple(_replaced(stage, commands.get(stage.gate, ())) for stage in first.stages)
    install = _install(first, commands.get(INSTALL, ()), paths)
    return [replace(first, stages=stages, install=install), *parts[1:]]


def _install(part: Part, commands: Sequence[str], paths: Sequence[str]) -> Install:
    """Somebody's own commands may read all of the component, so that they hang on all of it."""
    if not commands:
        return part.install
    prefix = f"{part.component.folder}/" if part.component.folder else ""
    inputs = tuple(path for path in paths if path.startswith(prefix))
    command = "\n".join(filter(None, (part.install.prepare, *commands)))
    return replace(part.install, command=command, inputs=inputs, is_given=True)


def _replaced(stage: Stage, commands: Sequence[str]) -> Stage:
    if not commands or stage.gate not in REPLACED:
        return stage
    if len(commands) == 1 and stage.expected and stage.gate == TEST:
        asked = _with_report(stage, commands[0])
        if asked:
            return asked
    return Stage(stage.gate, "\n".join(commands), seconds=stage.seconds, is_given=True)


def _with_report(stage: Stage, command: str) -> Stage | None:
    """The table's runner with the plan's arguments, where it is the same runner."""
    for pattern, runner, at in _RUNNERS:
        match = pattern.fullmatch(command.strip())
        if match is None or runner not in stage.command:
            continue
        try:
            arguments = shlex.split(match["rest"])
        except ValueError:
            return None
        if any(one.startswith(_OWN_OPTIONS) for one in arguments):
            return None
        told = " ".join(map(shlex.quote, arguments))
        if not told:
            return stage
        head, _, tail = stage.command.partition(at)
        is_go = runner.startswith("go")
        rest = tail if is_go else f"{at}{tail}"
        return replace(stage, command=f"{head} {told}{rest}", is_given=True)
    return None
