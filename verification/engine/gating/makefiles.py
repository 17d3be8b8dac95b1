"""What `make` would run: a Makefile's recipes, where they are plain. Hostile input.

Images of languages have no make, and projects of every language say `make test`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from verification.engine.gating.components import MAKEFILES, Component, Language
from verification.engine.gating.given import Named
from verification.engine.gating.plans import MAX_COMMAND_CHARS, MAX_LINES, is_odd
from verification.engine.gating.recipes import Files

MAX_BYTES = 100_000
_DEPTH = 10
_CALLED = re.compile(
    r"make(?P<words>(?:\s+(?:-s|-j\d*|--silent|--no-print-directory|[A-Za-z][\w.-]*(?:=[\w./:,@+-]*)?))*)"
)
_ASSIGNED = re.compile(
    r"(?P<export>export\s+)?(?P<name>[A-Za-z_.][\w.-]*)\s*(?P<how>\?|\+|:{1,3}|!)?=\s*(?P<value>.*)"
)
_RULE = re.compile(r"(?P<targets>[^:=#\s][^:=#]*?)\s*::?(?P<needs>[^=:;]*)(?:;(?P<first>.*))?")
_INCLUDED = re.compile(r"(?P<must>-|s)?include\s+(?P<files>.*)")
_BEYOND = re.compile(
    r"(?:ifeq|ifneq|ifdef|ifndef|else|endif|define|endef|vpath|load|export|unexport|override|undefine)\b.*|"
    r"\.(?:ONESHELL|EXPORT_ALL_VARIABLES|SECONDEXPANSION|POSIX|SHELLFLAGS)\b.*"
)
"""What makes more of a file than rules and variables."""
_REFERENCE = re.compile(r"\$(?:(?P<dollar>\$)|[({](?P<name>[\w.-]+)[)}]|.?)", re.DOTALL)
_GIVEN = {"MAKE": "make", "RM": "rm -f"}
_UNKNOWN = re.compile(
    r"[A-Z]*(?:MAKE|DIR|PATH|HOME|PWD|USER|SHELL|HOST|VIRTUAL_ENV)[A-Z_]*|CC|CXX|AR|LD"
)
"""What has a value of its own, unless the file gives it one."""
_SAID = re.compile(r"(?:echo|printf)(?:\s+(?:\"[^\"`$]*\"|'[^']*'|[^\s;&|<>`$\"'()]+))*")
_BY_MAKE = re.compile(r"(?:^|[;&|(])\s*make\b")
_APART = re.compile(r"(?:^|[;&|(]\s*|\s)(?:cd|export|set|exit|exec|trap|unset|umask)\b")
"""What would change the shell that the next line is run in."""


class _Beyond(Exception):
    """More than is followed here."""


@dataclass(slots=True)
class _Rule:
    needs: list[str] = field(default_factory=list)
    recipe: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Makefile:
    rules: dict[str, _Rule] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    exported: list[str] = field(default_factory=list)
    phony: set[str] = field(default_factory=set)


def made(component: Component, named: Named, files: Files) -> tuple[Named, Named]:
    """The same, and apart from it what is said by way of make, whose recipes are the work's word."""
    said = (one for those in named.commands.values() for one in those)
    if component.language is Language.MAKE or not any(map(_BY_MAKE.search, said)):
        return named, Named()
    content = next(filter(None, map(files.read, map(component.path, MAKEFILES))), None)
    if content is None:
        return named, Named()
    known = frozenset(files.paths)

    def is_there(name: str) -> bool:
        return component.path(name) in known

    found = {
        gate: commands
        for gate, those in named.commands.items()
        if (commands := expanded(those, content, is_there)) is not None
    }
    rest = {gate: those for gate, those in named.commands.items() if gate not in found}
    return replace(named, commands=rest), Named(found)


def expanded(
    commands: Sequence[str], content: bytes, is_there: Callable[[str], bool]
) -> Sequence[str] | None:
    """The commands with make's recipes in its place; None: none calls it, or they are not plain.

    `is_there` says of a path below the file's folder whether the work has it.
    """
    parts = [one for command in commands for one in _parts(command)]
    if len(content) > MAX_BYTES or not any(map(_CALLED.fullmatch, parts)):
        return None
    try:
        file = _read(content.decode(errors="replace"), is_there)
        found: list[str] = []
        for one in parts:
            found += _by_make(file, one, is_there, 0) if _CALLED.fullmatch(one) else [one]
            if is_odd(found):
                return None
        values = {name: _told(file, file.values[name]) for name in file.exported}
    except _Beyond:
        return None
    exported = [f"export {name}={shlex.quote(value)}" for name, value in values.items()]
    told = [one for one in found if not _SAID.fullmatch(one)]
    apart = [f"({one})" if _APART.search(one) and len(told) > 1 else one for one in told]
    return [*exported, *apart] if told else []


def _parts(command: str) -> Sequence[str]:
    is_plain = not re.search(r"[\"'`$;|\n]", command) and _BY_MAKE.search(command)
    parts = [one.strip() for one in command.split("&&")] if is_plain else []
    return parts if parts and not any(map(_APART.search, parts)) else [command.strip()]


def _read(text: str, is_there: Callable[[str], bool]) -> _Makefile:
    file, rules = _Makefile(), list[_Rule]()
    for line in re.sub(r"\\\n[\t ]*", " ", text.replace("\r\n", "\n")).split("\n"):
        if line.startswith("\t"):
            for rule in rules:
                rule.recipe.append(line)
            continue
        said = re.sub(r"(?<!\\)#.*", "", line).strip()
        if said:
            rules = _said(file, said, is_there)
    return file


def _said(file: _Makefile, line: str, is_there: Callable[[str], bool]) -> list[_Rule]:
    """The rules that the recipe behind a line belongs to."""
    included = _INCLUDED.fullmatch(line)
    if included:
        if not included["must"] or any(map(is_there, included["files"].split())):
            raise _Beyond
        return []
    if assigned := _ASSIGNED.fullmatch(line):
        _assign(file, assigned)
        return []
    rule = _RULE.fullmatch(line)
    if rule is None or _BEYOND.fullmatch(line):
        raise _Beyond
    return _ruled(file, rule)


def _assign(file: _Makefile, match: re.Match[str]) -> None:
    name, how, value = match["name"], match["how"] or "", match["value"]
    if how == "!" or _BEYOND.fullmatch(name):
        raise _Beyond
    if how == "?" and name in file.values:
        return
    if how == "+":
        value = f"{file.values.get(name, '')} {value}".strip()
    file.values[name] = _told(file, value) if how.startswith(":") else value
    if match["export"]:
        file.exported.append(name)


def _ruled(file: _Makefile, match: re.Match[str]) -> list[_Rule]:
    targets, needs = _told(file, match["targets"]).split(), _told(file, match["needs"]).split()
    if targets == [".PHONY"]:
        file.phony.update(needs)
        return []
    found = []
    for target in targets:
        if "%" in target:
            continue
        rule = file.rules.setdefault(target, _Rule())
        rule.needs += [one for one in needs if one != "|"]
        rule.recipe = [match["first"]] if match["first"] else []
        found.append(rule)
    return found


def _told(file: _Makefile, text: str, depth: int = 0) -> str:
    """With the values of its variables; an unknown one has none."""
    if depth > _DEPTH or len(text) > MAX_COMMAND_CHARS:
        raise _Beyond

    def value(match: re.Match[str]) -> str:
        name = match["name"]
        if match["dollar"]:
            return "$"
        if not name or (
            name not in file.values and name not in _GIVEN and _UNKNOWN.fullmatch(name)
        ):
            raise _Beyond
        return _told(file, file.values.get(name, _GIVEN.get(name, "")), depth + 1)

    return _REFERENCE.sub(value, text)


def _by_make(
    file: _Makefile, command: str, is_there: Callable[[str], bool], depth: int
) -> list[str]:
    match = _CALLED.fullmatch(command)
    if match is None or depth > _DEPTH:
        raise _Beyond
    words = [one for one in match["words"].split() if not one.startswith("-")]
    values = dict(one.split("=", 1) for one in words if "=" in one)
    called = replace(file, values={**file.values, **values})
    targets = [one for one in words if "=" not in one] or [_first(file)]
    done: set[str] = set()
    return [one for target in targets for one in _run(called, target, is_there, done, depth)]


def _first(file: _Makefile) -> str:
    firsts = (one for one in file.rules if not one.startswith("."))
    return file.values.get(".DEFAULT_GOAL") or next(firsts, "")


def _run(
    file: _Makefile, target: str, is_there: Callable[[str], bool], done: set[str], depth: int
) -> Iterator[str]:
    """What its needs run, each once, and what it runs itself."""
    rule = file.rules.get(target)
    if rule is None:
        if not is_there(target):
            raise _Beyond
        return
    if target in done:
        return
    if len(done) > MAX_LINES or (target not in file.phony and is_there(target)):
        raise _Beyond
    done.add(target)
    for one in rule.needs:
        yield from _run(file, one, is_there, done, depth)
    for line in rule.recipe:
        yield from _line(file, line, is_there, depth)


def _line(file: _Makefile, line: str, is_there: Callable[[str], bool], depth: int) -> Iterator[str]:
    text = line.strip()
    marks = re.match(r"[@+\-\s]*", text)
    prefix = marks[0] if marks else ""
    command = _told(file, text[len(prefix) :]).strip()
    if not re.search("[\"'`]", command):
        command = " ".join(command.split())
    if not command or command.startswith("#"):
        return
    if _BY_MAKE.search(command):
        yield from _by_make(file, command, is_there, depth + 1)
    else:
        yield f"{command} || true" if "-" in prefix else command
