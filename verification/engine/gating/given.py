"""Commands that a plan or the work itself names in place of the table's: never who judges."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from verification.engine.gating.asking import asked
from verification.engine.gating.components import Language
from verification.engine.gating.recipe_go import with_compiler
from verification.engine.gating.runners import with_report
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

REPLACED = frozenset({BUILD, TYPES, TEST, RUN})
"""What looks at the work on nobody's behalf is the table's; a process may leave lint to a plan."""
_HERE = re.compile(r"\A\s*cd\s+\./?\s*&&\s*")
# Work that counts on the table's runner need not install one, wherever it says that its code lies.
WITH_PYTEST = """python3 -c "import pytest" 2> /dev/null || {
export LV_PYTEST=$(echo /opt/loomverify/python/lib/python3*/site-packages)
export PYTHONPATH="$LV_PYTEST"
python3() { PYTHONPATH="${PYTHONPATH:+$PYTHONPATH:}$LV_PYTEST" command python3 "$@"; }
python() { PYTHONPATH="${PYTHONPATH:+$PYTHONPATH:}$LV_PYTEST" command python "$@"; }
pytest() { python3 -m pytest "$@"; }
}"""
_BASH = re.compile(
    r"(?m)^\s*source\s|\bpipefail\b|\[\[\s|[<>]\(|<<<|\$\{\w+\[|^\s*function\s+\w|&>|^\s*(?:shopt|mapfile|pushd)\b"
)
"""What a plain shell does not understand, or takes for something else."""
_JUDGED_BY = (
    r"PATH|HOME|TMPDIR|IFS|ENV|BASH_ENV|SHELL|(?:LD|LV|PYTEST|NPM|npm|JAVA|MAVEN|GRADLE|BUNDLE|GEM|DOTNET|JEST|"
    r"COVERAGE)_\w+|PYTHON(?!PATH=|UNBUFFERED|WARNINGS|HASHSEED|DONTWRITE)\w*|NODE_(?!ENV=)\w+|"
    r"(?:GO|CARGO|RUST|RUBY|PHP|VITEST|VSTEST|MOCHA)\w*"
)
"""What a runner goes by, and who writes its report: nobody's to set."""
_VALUE = r"""(?:[\w./:,@+=-]|\$PWD|\$\(pwd\)|\$\{?PYTHONPATH\}?|'[^'\n]*'|"[^"`$\\\n]*")*"""
_SET = re.compile(
    rf"(?P<settings>(?:(?!(?:{_JUDGED_BY})=)[A-Za-z_]\w*={_VALUE}(?:\s+|$))*)(?P<command>.*)",
    re.DOTALL,
)
REPORTS = "The work names a command that reports nothing: the usual one was run."


@dataclass(frozen=True, slots=True)
class Named:
    """What somebody names for one component. `starts` stand before commands of the gate `run`.

    `seconds` are limits by gate; `unreadable`: why nobody knows what its starts were to be.
    """

    commands: Mapping[str, Sequence[str]] = field(default_factory=dict, hash=False)
    starts: tuple[Start, ...] = ()
    unreadable: str = ""
    seconds: Mapping[str, int] = field(default_factory=dict, hash=False)

    @property
    def gates(self) -> frozenset[str]:
        run = {RUN} if self.starts or self.unreadable else set()
        return frozenset(run | {gate for gate, one in self.commands.items() if one})

    def without(self, gates: Collection[str]) -> Named:
        rest = {gate: one for gate, one in self.commands.items() if gate not in gates}
        return Named(rest) if RUN in gates else replace(self, commands=rest)


def with_named(
    part: Part,
    named: Named,
    paths: Sequence[str],
    *,
    is_own: bool = False,
    replaced: Collection[str] = REPLACED,
) -> Part:
    """`is_own`: it is the work that names them. `replaced` are the gates that may be named at all."""
    language = part.component.language
    stages = tuple(
        _renamed(stage, language, named, is_own=is_own) if stage.gate in replaced else stage
        for stage in part.stages
    )
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


def _renamed(stage: Stage, language: Language, named: Named, *, is_own: bool) -> Stage:
    if stage.gate == RUN and named.unreadable:
        return Stage(RUN, unreadable=named.unreadable)
    if stage.gate == RUN and named.starts:
        command = "\n".join(start.command for start in named.starts)
        started = Stage(RUN, command, seconds=stage.seconds, is_given=True, starts=named.starts)
        return replace(started, is_own=is_own)
    changed = _replaced(stage, language, named.commands.get(stage.gate, ()))
    if language is Language.GO and changed is not stage:
        changed = replace(changed, command=with_compiler(changed.command))
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
    return replace(part.install, command=command, inputs=inputs, is_given=True, owner=None)


def _moved(part: Part) -> Iterator[str]:
    """What was installed into the work's folder is kept where it is linked from later on."""
    folder = workdir(part.component)
    for name, target in part.linked.items():
        source, place = shlex.quote(f"{folder}/{name}"), shlex.quote(target)
        above = shlex.quote(posixpath.dirname(target))
        yield f"[ ! -d {source} ] || {{ mkdir -p {above} && mv {source} {place}; }}"


def _replaced(stage: Stage, language: Language, commands: Sequence[str]) -> Stage:
    if not commands:
        return stage
    settings, command = _settings(commands)
    if command:
        told = with_report(stage, language, command) or asked(stage, language, command)
        if told:
            said = f"export {settings}\n{told.command}" if settings else told.command
            return stage.framed(replace(told, command=said, is_given=True) if settings else told)
    is_of_python = language is Language.PYTHON and stage.gate == TEST
    first = (WITH_PYTEST,) if is_of_python and "pytest" in " ".join(commands) else ()
    text = _by_shell("\n".join((*first, *commands)))
    return stage.framed(Stage(stage.gate, text, seconds=stage.seconds, is_given=True))


def _settings(commands: Sequence[str]) -> tuple[str, str]:
    """What is set for one command, and that; '' where there are several."""
    *firsts, last = (_HERE.sub("", one).strip() for one in commands)
    found = []
    for first in firsts:
        match = _SET.fullmatch(first.removeprefix("export "))
        if match is None or match["command"] or not first.startswith("export "):
            return "", ""
        found.append(match["settings"].strip())
    match = _SET.fullmatch(last)
    if match and match["settings"]:
        found.append(match["settings"].strip())
        last = match["command"]
    return " ".join(found), last


def _by_shell(text: str) -> str:
    """An image without a Bash that is asked for cannot run it, which blames nobody."""
    return f"bash -ec {shlex.quote(text)}" if _BASH.search(text) else text
