"""Programs that tool calls ran: which failures only answered a question, or were put right later."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from verification.engine.checks.tools.commands import Command, CommandLine, read_command_line
from verification.engine.checks.tools.coverage import covers
from verification.engine.checks.tools.names import names_what_it_runs, runs_programs
from verification.engine.checks.tools.read_only_commands import is_neutral, only_asks
from verification.engine.checks.tools.result_errors import error_in_result
from verification.engine.evidence import Json, ToolCall

MAX_READ_CHARS = 1_000_000
"""Of all commands of a run: the rest is compared as text."""
MAX_DEPTH = 20
MAX_VALUES = 1_000
"""Of the arguments of a call without a command: what is deeper or larger is like no other."""
MAX_COMPARING = 1_000_000
"""About a second: what is not compared is not mended."""

_SPEAKS_OF_FAILURE = re.compile(
    r"\b[1-9]\d{0,6} (?:failed|failing|failures?)\b|passed, [1-9]\d{0,6} errors?\b|\bBUILD FAILED\b"
    r"|\bexit(?:ed)?(?: with)?(?: status| code)?[:= ]{1,3}[1-9]\d{0,2}\b",
    re.IGNORECASE,
)
"""Some tools report success whatever the program does."""
MAX_END_CHARS = 400
"""Characters at both ends of a result."""
_COMMANDS = ("command", "cmd", "shell_command", "bash_command", "script", "input")
_FOLDERS = ("cwd", "workdir", "working_directory", "working_dir", "workingDirectory")
_IN_BACKGROUND = ("run_in_background", "is_background", "background", "detach")
_EXIT_CODES = ("exit_code", "exitCode", "returncode", "return_code", "exit_status", "code")
_BESIDE_THE_RUN = frozenset(
    {
        "timeout", "timeout_ms", "timeoutMs", "yield_time_ms", "description", "explanation",
        "justification", "max_output_tokens", *_IN_BACKGROUND,
    }
)  # fmt: skip
_INSTALLING = frozenset(
    f"{program} {verb}"
    for program in ("npm", "pnpm", "yarn", "pip", "uv", "poetry", "bundle", "apt-get", "conda")
    for verb in ("install", "ci", "sync", "add")
)


@dataclass(frozen=True, slots=True)
class Run:
    """What a call ran. `line` None: no command line that can be read.

    `text` is the same for the same call, `whole` for the call of the same tool that runs everything.
    """

    text: str
    whole: str = ""
    line: CommandLine | None = None


@dataclass(slots=True)
class ProgramRuns:
    """The failures of programs by the number of their call, and what succeeded, and when last.

    The last calls are read first: where bounds are reached, they decide.
    """

    failed: dict[int, Run] = field(default_factory=dict)
    last_success: dict[str, int] = field(default_factory=dict)
    succeeded: defaultdict[str, dict[Command, int]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    work_left: int = MAX_COMPARING

    @classmethod
    def of(cls, calls: Sequence[ToolCall]) -> ProgramRuns:
        history = cls()
        chars_left = MAX_READ_CHARS
        for number, call in reversed(list(enumerate(calls))):
            if call.success is None or not runs_programs(call.tool):
                continue
            text, folder = _command_of(call.args)
            chars_left -= len(text)
            line = read_command_line(text, folder) if text and chars_left >= 0 else None
            if not call.success:
                history.failed[number] = Run(_identity(call, text, folder), _whole(call), line)
            elif _ended_well(call):
                history.last_success.setdefault(_identity(call, text, folder), number)
                for command in line.succeeded if line else ():
                    history.succeeded[command.program].setdefault(command, number)
        return history

    def is_no_fault(self, number: int) -> bool:
        """Return whether the failed call of this number only asked, or succeeded later."""
        run = self.failed.get(number)
        if run is None:
            return False
        if any(self.last_success.get(text, -1) > number for text in (run.text, run.whole) if text):
            return True
        if run.line is None:
            return False
        working = _working(run.line.commands)
        if working:
            return all(self._is_covered(command, number) for command in working)
        return not all(map(is_neutral, run.line.commands))

    def _is_covered(self, command: Command, number: int) -> bool:
        later = self.succeeded.get(command.program, {})
        if later.get(command, -1) > number:
            return True
        for other, at in later.items():
            self.work_left -= _work_of_comparing(other, command)
            if at < number or self.work_left < 0:
                return False
            if covers(other, command):
                return True
        return False


def _work_of_comparing(command: Command, other: Command) -> int:
    many, more = len(command.arguments), len(other.arguments)
    chars = sum(map(len, (*command.arguments, *other.arguments)))
    return 1 + many + more + many * more // 10 + chars // 20


def _working(commands: Sequence[Command]) -> list[Command]:
    """The commands that may have failed by more than an answer.

    What is installed for a command after it is part of that command's preparation.
    """
    working = [
        command for command in commands if not is_neutral(command) and not only_asks(command)
    ]
    return [command for command in working[:-1] if command.program not in _INSTALLING] + working[
        -1:
    ]


def _command_of(args: Json) -> tuple[str, str]:
    """The command line of a call and the folder that it names, each '' where there is none."""
    if isinstance(args, str):
        return args, ""
    if isinstance(args, list):
        return _joined(args), ""
    if not isinstance(args, dict):
        return "", ""
    folder = next((args[key] for key in _FOLDERS if isinstance(args.get(key), str)), "")
    for key in _COMMANDS:
        if text := _joined(args.get(key)):
            return text, folder.rstrip("/")
    return "", folder


def _joined(command: Any) -> str:
    if isinstance(command, str):
        return command
    if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
        return shlex.join(command)
    return ""


def _identity(call: ToolCall, command: str, folder: str) -> str:
    """A text that is the same for the same call; '' where the call does not say what it ran."""
    if command:
        return f"{folder}\n{' '.join(command.split())}"
    args = call.args
    if isinstance(args, dict):
        args = {key: value for key, value in args.items() if key not in _BESIDE_THE_RUN}
    if not args:
        return _whole(call)
    values = _flat(args)
    return "\n".join([call.tool, *sorted(values)]) if values else ""


def _flat(args: Json) -> list[str]:
    """Every value with its place; none where there are too many, or they lie too deep."""
    values: list[str] = []
    pending: list[tuple[tuple[str, ...], Any]] = [((), args)]
    while pending:
        place, value = pending.pop()
        if len(place) > MAX_DEPTH or len(values) + len(pending) > MAX_VALUES:
            return []
        if isinstance(value, dict):
            pending += [((*place, str(key)), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            pending += [((*place, str(number)), inner) for number, inner in enumerate(value)]
        else:
            values.append(f"{place} {value if isinstance(value, str) else repr(value)}")
    return values


def _whole(call: ToolCall) -> str:
    return f"{call.tool}\n" if names_what_it_runs(call.tool) else ""


def _ended_well(call: ToolCall) -> bool:
    """Whether a success proves that what was run has ended, and well."""
    if isinstance(call.args, dict) and any(call.args.get(key) for key in _IN_BACKGROUND):
        return False
    if isinstance(call.result, dict):
        codes: Iterable[Any] = (call.result.get(key) for key in _EXIT_CODES)
        if any(isinstance(code, int) and code for code in codes):
            return False
    if call.error.strip() or error_in_result(call.result):
        return False
    values = [] if call.result is None else _flat(call.result)
    return not any(
        _SPEAKS_OF_FAILURE.search(part)
        for text in values[:10]
        for part in (text[:MAX_END_CHARS], text[-MAX_END_CHARS:])
    )
