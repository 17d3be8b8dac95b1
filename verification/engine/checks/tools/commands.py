"""Shell command lines: the programs they run, and which of these succeed when the line does.

This is no shell. A line that cannot be read for certain (a loop, a substitution, a here document)
is None, and its callers compare such lines as texts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

MAX_COMMAND_CHARS = 4_000
MAX_NESTED = 3


def split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TOKENS = re.compile(
    r"(?P<space>(?:[ \t\r]|\\\r?\n)+)"
    r"|(?P<comment>\#[^\n]*)"
    r"|(?P<redirect>\d*(?:<<<|<<-?|>>|>\||<>|>&|<&|>|<)|&>>?)"
    r"|(?P<operator>&&|\|\||\|&|;;|[;&|\n()])"
    r"|(?P<word>(?:[^\s'\"\\;&|()<>`$]|\\[^\n]|'[^']*'|\"(?:[^\"\\`$]|\\.|\$(?!\())*\"|\$(?!\())+)",
    re.DOTALL,
)
_QUOTED = re.compile(r"'([^']*)'|\"((?:[^\"\\]|\\.)*)\"|\\(.)", re.DOTALL)
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
_KEYWORDS = split_words(
    "if then else elif fi for while until do done case esac function select { } [["
)
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh"})
_ENDS = frozenset({";", "\n", "&"})
_WRAPPERS: dict[str, tuple[frozenset[str], int]] = {
    "timeout": (frozenset({"-s", "--signal", "-k", "--kill-after"}), 1),
    "gtimeout": (frozenset({"-s", "--signal", "-k", "--kill-after"}), 1),
    "nice": (frozenset({"-n"}), 0),
    "env": (frozenset({"-u", "-C"}), 0),
    "sudo": (frozenset({"-u", "-g"}), 0),
    "stdbuf": (frozenset({"-o", "-e", "-i"}), 0),
    "xargs": (frozenset({"-n", "-I", "-P", "-L", "-d"}), 0),
    **{name: (frozenset(), 0) for name in ("time", "nohup", "command", "exec", "xvfb-run", "npx", "bunx")},
}  # fmt: skip
"""Programs that run another: their options with a value, and how many words come before it."""
_RUNNING = frozenset(
    {
        ("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("pdm", "run"), ("hatch", "run"),
        ("rye", "run"), ("pnpm", "exec"), ("pnpm", "dlx"), ("yarn", "exec"), ("npm", "exec"),
        ("bundle", "exec"),
    }
)  # fmt: skip
_LOCAL_PROGRAMS = split_words("jest vitest mocha eslint tsc prettier playwright")
"""What `yarn` and `pnpm` run from the project's own packages."""
_WITH_COMMANDS = split_words(
    "git cargo go docker podman npm yarn pnpm pip dotnet kubectl ruff uv poetry conda apt apt-get"
    " brew gem bundle composer systemctl rails mix swift vitest playwright terraform"
)
"""Programs whose first argument says what they do."""
_ALIASES = {
    "py.test": "pytest",
    "npm t": "npm test",
    "npm tst": "npm test",
    "npm i": "npm install",
    "npm run-script": "npm run",
}


@dataclass(frozen=True, slots=True)
class Command:
    """One program, under one name however it was started. `folder` is '' where it is unknown."""

    program: str
    arguments: tuple[str, ...] = ()
    folder: str = ""
    writes: bool = False
    """Its output goes to a file."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """`succeeded`: the commands that ended well if the whole line did."""

    commands: tuple[Command, ...]
    succeeded: tuple[Command, ...]


def read_command_line(text: str, folder: str = "") -> CommandLine | None:
    """Read what a shell would run; None: the text is no plain list of commands."""
    for _ in range(MAX_NESTED):
        tokens = _tokens(text)
        lists = None if tokens is None else _lists(tokens)
        if lists is None:
            return None
        nested = _nested(lists)
        if nested is None:
            return _line(lists, folder)
        text = nested
    return None


@dataclass(frozen=True, slots=True)
class _Simple:
    """Words between two operators, and the operator that follows."""

    words: tuple[str, ...]
    writes: bool
    operator: str


def _tokens(text: str) -> list[tuple[str, str]] | None:
    if len(text) > MAX_COMMAND_CHARS:
        return None
    tokens, at = [], 0
    while at < len(text):
        token = _TOKENS.match(text, at)
        if token is None:
            return None
        kind = str(token.lastgroup)
        if kind not in ("space", "comment"):
            tokens.append((kind, token[0]))
        at = token.end()
    return tokens


def _lists(tokens: Sequence[tuple[str, str]]) -> list[_Simple] | None:
    """Split at operators; None: there is more to it than a list of commands."""
    commands: list[_Simple] = []
    words: list[str] = []
    writes = False
    pending = ""
    for kind, token in [*tokens, ("operator", ";")]:
        if pending:
            if kind != "word":
                return None
            target = _unquoted(token)
            is_lost = target in ("/dev/null", "/dev/stderr", "/dev/stdout")
            writes |= ">" in pending and not pending.endswith("&") and not is_lost
            pending = ""
        elif kind == "word":
            words.append(_unquoted(token))
        elif kind == "redirect":
            if "<<" in token:
                return None
            pending = token
        elif token in ("(", ")", ";;"):
            return None
        else:
            if words and words[0] in _KEYWORDS:
                return None
            if words:
                operator = token.removesuffix("&") if token == "|&" else token  # noqa: S105
                commands.append(_Simple(tuple(words), writes, operator))
            elif token in ("&&", "||", "|", "|&"):
                return None
            words, writes = [], False
    return commands


def _unquoted(word: str) -> str:
    def inner(quoted: re.Match[str]) -> str:
        if quoted[1] is not None:
            return quoted[1]
        if quoted[2] is not None:
            return re.sub(r"\\([\"\\$`])", r"\1", quoted[2])
        return quoted[3]

    return _QUOTED.sub(inner, word)


def _nested(lists: Sequence[_Simple]) -> str | None:
    """The line that a shell is given, where the whole line is `bash -lc '…'`."""
    if len(lists) != 1:
        return None
    words, _ = _unwrapped(lists[0].words)
    if len(words) != 3 or _base(words[0]) not in _SHELLS:
        return None
    return words[2] if re.fullmatch(r"-[a-z]*c", words[1]) else None


def _line(lists: Sequence[_Simple], folder: str) -> CommandLine:
    commands: list[Command] = []
    succeeded: list[Command] = []
    operators = [simple.operator for simple in lists]
    stops_at_errors = fails_with_pipes = False
    for number, simple in enumerate(lists):
        words, is_negated = _unwrapped(simple.words)
        name, options = words[:1], " ".join(words[1:])
        if name == ("set",):
            stops_at_errors |= bool(re.search(r"(?:^|\s)-[a-z]*e|errexit", options))
            fails_with_pipes |= "pipefail" in options
        if name in (("cd",), ("pushd",)):
            folder = _entered(folder, words[1:])
        command = replace(_command(words, folder), writes=simple.writes)
        commands.append(command)
        if not is_negated and _must_succeed(operators, number, stops_at_errors, fails_with_pipes):
            succeeded.append(command)
    return CommandLine(tuple(commands), tuple(succeeded))


def _must_succeed(
    operators: Sequence[str], number: int, stops_at_errors: bool, fails_with_pipes: bool
) -> bool:
    """Whether a line can end well only if this command does."""
    is_condition = False
    for position in range(number, len(operators)):
        operator = operators[position]
        hides_failure = operator == "|" and not fails_with_pipes and not is_condition
        if operator in ("||", "&") or hides_failure:
            return False
        is_condition |= operator == "&&"
        if operator in _ENDS:
            # `set -e` stops at no failure before `&&`.
            is_last = position == len(operators) - 1 or (stops_at_errors and not is_condition)
            return is_last and not _is_alternative(operators, number)
    return False


def _is_alternative(operators: Sequence[str], number: int) -> bool:
    """Whether a command before it may have made it superfluous: `a || b`."""
    for operator in reversed(operators[:number]):
        if operator == "||":
            return True
        if operator != "|":
            return False
    return False


def _unwrapped(words: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """The words without assignments and the programs that only run another; whether `!` is before."""
    left = list(words)
    is_negated = False
    while left:
        name = _base(left[0])
        if left[0] == "!":
            is_negated = not is_negated
            left = left[1:]
        elif _ASSIGNED.match(left[0]):
            left = left[1:]
        elif name == "command" and left[1:2] and left[1] in ("-v", "-V"):
            break
        elif rest := list(_wrapped(name, left[1:])):
            left = rest
        elif name in ("yarn", "pnpm") and left[1:2] and left[1] in _LOCAL_PROGRAMS:
            left = left[1:]
        elif name == "python" and left[1:2] == ["-m"] and len(left) > 2:
            left = left[2:]
        else:
            break
    return tuple(left), is_negated


def _wrapped(name: str, words: Sequence[str]) -> Sequence[str]:
    """The words that a wrapper runs, without its own options; none: it is no wrapper."""
    if name in _WRAPPERS:
        with_value, before = _WRAPPERS[name]
    elif (name, *words[:1]) in _RUNNING:
        with_value, before = frozenset[str](), 0
        words = words[1:]
    else:
        return ()
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in with_value else 1
    return words[at + before :]


def _base(word: str) -> str:
    name = re.split(r"[/\\]", word)[-1].lower()
    name = re.sub(r"\.(?:exe|cmd|bat)$", "", name)
    name = "python" if re.fullmatch(r"py(?:thon[\d.]*)?", name) else name
    return "pip" if re.fullmatch(r"pip[\d.]+", name) else _ALIASES.get(name, name)


def _command(words: Sequence[str], folder: str) -> Command:
    if not words:
        return Command("")
    program, rest = _base(words[0]), list(words[1:])
    if program == "git":
        at = 0
        while at < len(rest) and rest[at].startswith("-"):
            at += 2 if rest[at] in ("-C", "-c", "--git-dir", "--work-tree") else 1
        rest = rest[at:] + rest[:at]
    if program in _WITH_COMMANDS and rest and not rest[0].startswith("-"):
        program = _ALIASES.get(f"{program} {rest[0]}", f"{program} {rest[0]}")
        rest = rest[1:]
        if program in ("npm run", "yarn run", "pnpm run", "bun run") and rest:
            program, rest = f"{program.split()[0]} {rest[0]}", rest[1:]
    return Command(program, tuple(rest), folder)


def _entered(folder: str, arguments: Sequence[str]) -> str:
    """The folder after `cd`; '' where nobody can tell."""
    folders = [argument for argument in arguments if not argument.startswith("-")]
    if len(folders) != 1 or "$" in folders[0] or folders[0].startswith("~") or ".." in folders[0]:
        return ""
    entered = folders[0].rstrip("/")
    if entered.startswith("/") or not folder:
        return entered
    return folder if entered in ("", ".") else f"{folder}/{entered.removeprefix('./')}"
