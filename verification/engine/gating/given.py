"""Commands that somebody names in place of the table's. They may not name who judges."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from verification.engine.gating.stages import (
    BUILD,
    INSTALL,
    RUN,
    TEST,
    TYPES,
    Install,
    Part,
    Stage,
    workdir,
)

REPLACED = (BUILD, TYPES, TEST, RUN)
"""Lint and security are always the table's: they look at the work on nobody's behalf."""
# What a shell would make something else of is left to a shell; a comment is none of it.
_REST = r"(?=\s|$)(?P<rest>[^;&|<>`$\n#*?~\[]*)(?:\s#.*)?"


@dataclass(frozen=True, slots=True)
class _Runner:
    """`called` in a plan, it is `command` in the table's, which goes on with `then`.

    `own` are arguments that would move the report, let nothing run, or bring in another judge.
    """

    called: re.Pattern[str]
    command: str
    then: str
    own: re.Pattern[str]


_PYTEST = _Runner(
    called=re.compile(rf"(?:python3?\s+-m\s+)?pytest{_REST}"),
    command="run_pytest.py",
    then=" -p no:cacheprovider",
    # Short options can be joined (-xp), and others be read from a file (@).
    own=re.compile(
        r"@|--$|-(?!-)\w*[pco]|--(?:(?:junit|cache|lf|ff|nf|sw|stepwise)[\w-]*|rootdir|co|"
        r"last-failed|failed-first|new-first|override-ini|collect-only|config-file|confcutdir|"
        r"setup-only|setup-plan)(?:=|$)"
    ),
)
_GO_TEST = _Runner(
    called=re.compile(rf"go\s+test{_REST}"),
    command="go test -json",
    then=" ./...",
    own=re.compile(r"--?(?:c|o|C|n|json|exec|toolexec|list)(?:=|$)"),
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
    command = "\n".join(filter(None, (part.install.prepare, *commands, *_moved(part))))
    return replace(part.install, command=command, inputs=inputs, is_given=True)


def _moved(part: Part) -> Iterator[str]:
    """What was installed into the work's folder is kept where it is linked from later on."""
    folder = workdir(part.component)
    for name, target in part.linked.items():
        source, place = shlex.quote(f"{folder}/{name}"), shlex.quote(target)
        yield f"[ ! -d {source} ] || {{ mkdir -p {part.deps} && mv {source} {place}; }}"


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
    for runner in (_PYTEST, _GO_TEST):
        match = runner.called.fullmatch(command.strip())
        if match is None or runner.command not in stage.command:
            continue
        try:
            arguments = shlex.split(match["rest"])
        except ValueError:
            return None
        if any(runner.own.match(one) for one in arguments):
            return None
        return _with_arguments(stage, runner, shlex.join(arguments))
    return None


def _with_arguments(stage: Stage, runner: _Runner, arguments: str) -> Stage:
    """A plan's arguments of go name packages, too, in place of the table's."""
    if not arguments:
        return stage
    head, _, tail = stage.command.partition(runner.then)
    rest = tail if runner is _GO_TEST else f"{runner.then}{tail}"
    return replace(stage, command=f"{head} {arguments}{rest}", is_given=True)
