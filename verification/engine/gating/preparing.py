"""Commands that install, named among those that try the work: they need the network, which only an install has."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from verification.engine.gating.components import Language
from verification.engine.gating.given import Named
from verification.engine.gating.launchers import launched
from verification.engine.gating.manifests import toml_table
from verification.engine.gating.python_named import GROUPS, of_extras
from verification.engine.gating.recipes import Files
from verification.engine.gating.stages import INSTALL, Install, Part

_ARGUMENTS = r"""(?P<arguments>(?:(?!\s\d>)[^;&|<>`$\n()'"]|'[^'\n]*'|"[^"`$\\\n]*")*+)"""
_OPTIONS = r"(?:\s+--?[\w=./:,@-]+)*"
_QUIETLY = r"(?:\s*&?\d?>{1,2}\s*(?:/dev/null|&\d))*(?:\s*\|\|\s*true)?"
_THEN = r"\s*(?:(?:&&|;)\s*(?P<rest>\S.*))?"
_PIP = r"(?:python3?(?:\.\d+)?\s+-m\s+)?pip3?\s+install(?=\s)"
_BY_PIP = re.compile(rf"{_PIP}{_ARGUMENTS}{_QUIETLY}{_THEN}", re.DOTALL)
_VENV = (
    r"(?:python3?(?:\.\d+)?\s+-m\s+venv|virtualenv|uv\s+venv)(?:\s+[\w./=-]+)*|"
    r"(?:source|\.)\s+[\w./$-]*bin/activate"
)
_MANAGED = (
    rf"(?:uv\s+sync|poetry\s+install|pdm\s+(?:install|sync)|rye\s+sync){_ARGUMENTS}|"
    rf"pipenv\s+(?:install|sync){_OPTIONS}"
)
_WHOLE: Mapping[Language, str] = {
    Language.PYTHON: f"{_VENV}|{_MANAGED}",
    Language.NODE: rf"(?:npm\s+(?:ci|clean-install|i|install)|yarn(?:\s+install)?|pnpm\s+(?:i|install)){_OPTIONS}",
    Language.GO: r"go\s+mod\s+download",
    Language.RUST: rf"cargo\s+fetch{_OPTIONS}",
    Language.RUBY: rf"bundle(?:\s+install)?{_OPTIONS}",
    Language.PHP: rf"composer\s+install{_OPTIONS}",
    Language.DOTNET: rf"dotnet\s+restore{_OPTIONS}",
}  # fmt: skip
"""What installs all that the work's own files name, as the table does, or only gets ready for it."""
_WHOLES = {
    language: re.compile(rf"(?:{one}){_QUIETLY}{_THEN}", re.DOTALL)
    for language, one in _WHOLE.items()
}
_UNHAD = re.compile(rf"(?:^|&&|;)\s*(?:{_VENV}|{_MANAGED})")
"""What the image has not, or has of its own."""
_IS_MANAGED = re.compile(_MANAGED)
_EXTRAS = re.compile(r"(?:--extras?[ =]|-E\s+)(\"[\w\s,.-]*\"|'[\w\s,.-]*'|[\w,.-]+)")
_NO_MATTER = re.compile(
    r"pip|setuptools|wheel|build|virtualenv|uv|poetry(?:-core)?|pipenv|pdm|rye|hatch|pytest", re.I
)
_PLAIN = re.compile(r"-(?:q+|U|v+)|--(?:upgrade|quiet|no-cache-dir|no-input|user|disable-pip-version-check|"
                    r"root-user-action=ignore|break-system-packages|no-build-isolation|prefer-binary)")  # fmt: skip
_ITSELF = re.compile(r"\./?(?:\[([\w\s,.-]*)\])?")
_NAME = re.compile(r"([A-Za-z0-9][\w.-]*)(?:\[[\w,\s-]*\])?\s*(?:[=<>!~].*)?")


@dataclass(slots=True)
class _Split:
    """`more` is what must be installed besides what the table installs."""

    part: Part
    files: Files
    more: list[str] = field(default_factory=list)

    def tried(self, commands: Sequence[str]) -> tuple[str, ...]:
        """What is left of them."""
        return tuple(left for one in commands if (left := self._left(one)))

    def _left(self, command: str) -> str:
        language = self.part.component.language
        while command:
            match = _WHOLES[language].fullmatch(command) if language in _WHOLES else None
            if match is None and language is Language.PYTHON:
                match = _BY_PIP.fullmatch(command)
                if match and not self._is_known(match["arguments"]):
                    self.more.append(f"pip install {match['arguments'].strip()}")
            elif match and _IS_MANAGED.match(command):
                self._with_extras(match["arguments"] or "")
            if match is None:
                break
            command = match["rest"] or ""
        return command

    def _with_extras(self, arguments: str) -> None:
        """Those that a manager is told of, beyond the ones that the table installs."""
        named = [one for match in _EXTRAS.finditer(arguments) for one in _words(match[1])]
        extras = None if "--all-extras" in arguments else {*named} - {*GROUPS}
        path = self.part.component.path("pyproject.toml")
        found = [*of_extras(toml_table(self.files.read(path)), extras)]
        if found:
            self.more.append(f"pip install {shlex.join(found)}")

    def _is_known(self, arguments: str) -> bool:
        """Whether the table installs all of it."""
        try:
            words = iter(shlex.split(arguments))
        except ValueError:
            return False
        return all(self._is_known_one(one, words) for one in words)

    def _is_known_one(self, word: str, following: Iterator[str]) -> bool:
        install = self.part.install
        if word in ("-e", "--editable"):
            word = next(following, "")
        if word in ("-r", "--requirement"):
            path = posixpath.normpath(self.part.component.path(next(following, "")))
            return not install.is_given and path in install.inputs
        if itself := _ITSELF.fullmatch(word):
            groups = _words(itself[1] or "")
            return not install.is_given and " -e " in install.command and {*groups} <= {*GROUPS}
        name = _NAME.fullmatch(word)
        return bool(_PLAIN.fullmatch(word)) or bool(name and _NO_MATTER.fullmatch(name[1]))


def prepared(part: Part, named: Named, files: Files) -> tuple[Part, Named]:
    """The same, what installs being part of the install; what the table installs is left out."""
    if part.component.language is Language.PYTHON:
        named = _plainly(named)
    split = _Split(part, files)
    commands = {gate: split.tried(one) for gate, one in named.commands.items() if gate != INSTALL}
    starts = tuple(
        replace(one, command="".join(split.tried([one.command]))) for one in named.starts
    )
    own = named.commands.get(INSTALL, ())
    if part.component.language is Language.PYTHON and any(map(_UNHAD.search, own)):
        own = split.tried(own)
        split.more += own
    elif own:
        commands[INSTALL] = (*own, *split.more)
        split.more.clear()
    if split.more:
        part = replace(part, install=_further(part, split.more, files.paths))
    return part, replace(named, commands=commands, starts=starts)


def _words(text: str) -> Iterator[str]:
    yield from filter(None, re.split(r"[\s,]+", text.strip("'\"")))


def _plainly(named: Named) -> Named:
    commands = {gate: tuple(map(launched, those)) for gate, those in named.commands.items()}
    starts = (replace(one, command=launched(one.command)) for one in named.starts)
    return replace(named, commands=commands, starts=tuple(starts))


def _further(part: Part, more: Sequence[str], paths: Sequence[str]) -> Install:
    """Names of packages alone hang on no file of the work."""
    install = part.install
    inputs = install.inputs if all(map(_is_of_names, more)) else part.component.all_of(paths)
    first = install.command or install.prepare
    command = "\n".join((*([f"{first} || exit"] if first else ()), *more))
    return replace(install, command=command, inputs=inputs, is_given=True)


def _is_of_names(command: str) -> bool:
    words = command.removeprefix("pip install").replace("'", "").replace('"', "").split()
    return command.startswith("pip install") and all(
        _PLAIN.fullmatch(one) or _NAME.fullmatch(one) for one in words
    )
