"""Commands that a plan or the work itself names in place of the table's: never who judges."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from verification.engine.gating.stages import (
    BUILD,
    INSTALL,
    RUN,
    TEST,
    TYPES,
    Install,
    Part,
    Stage,
    Start,
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


REPORTS = "The work names a command that reports nothing: the usual one was run."


@dataclass(frozen=True, slots=True)
class Named:
    """What somebody names for one component. `starts` stand before commands of the gate `run`.

    `unreadable`: why nobody knows what they were to be.
    """

    commands: Mapping[str, Sequence[str]] = field(default_factory=dict, hash=False)
    starts: tuple[Start, ...] = ()
    unreadable: str = ""

    @property
    def gates(self) -> frozenset[str]:
        run = {RUN} if self.starts or self.unreadable else set()
        return frozenset(run | {gate for gate, one in self.commands.items() if one})

    def without(self, gates: Collection[str]) -> Named:
        rest = {gate: one for gate, one in self.commands.items() if gate not in gates}
        return Named(rest) if RUN in gates else replace(self, commands=rest)


def with_given(
    parts: Sequence[Part], commands: Mapping[str, Sequence[str]], paths: Sequence[str]
) -> list[Part]:
    """Who names no component speaks of the work's first one, the nearest to its root."""
    if not parts:
        return []
    return [with_named(parts[0], Named(commands), paths), *parts[1:]]


def with_named(part: Part, named: Named, paths: Sequence[str], *, is_own: bool = False) -> Part:
    """`is_own`: it is the work that names them."""
    stages = tuple(_renamed(stage, named, is_own=is_own) for stage in part.stages)
    install = _install(part, named.commands.get(INSTALL, ()), paths)
    return replace(part, stages=stages, install=install)


def with_fewer(part: Part, seconds: Mapping[str, int]) -> Part:
    """Lower the limits of gates; what is higher than a limit changes nothing."""
    stages = []
    for stage in part.stages:
        most = stage.seconds or part.seconds[stage.gate]
        fewer = seconds.get(stage.gate, 0)
        stages.append(replace(stage, seconds=fewer) if 0 < fewer < most else stage)
    return replace(part, stages=tuple(stages))


def _renamed(stage: Stage, named: Named, *, is_own: bool) -> Stage:
    if stage.gate == RUN and named.unreadable:
        return Stage(RUN, unreadable=named.unreadable)
    if stage.gate == RUN and named.starts:
        command = "\n".join(start.command for start in named.starts)
        started = Stage(RUN, command, seconds=stage.seconds, is_given=True, starts=named.starts)
        return replace(started, is_own=is_own)
    changed = _replaced(stage, named.commands.get(stage.gate, ()))
    if changed is stage:
        return stage
    if is_own and stage.expected and not changed.expected:
        return replace(stage, note=REPORTS)
    return replace(changed, is_own=is_own)


def _install(part: Part, commands: Sequence[str], paths: Sequence[str]) -> Install:
    """Somebody's own commands may read all of the component, so that they hang on all of it."""
    if not commands:
        return part.install
    inputs = part.component.all_of(paths)
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
