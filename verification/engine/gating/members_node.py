"""Workspaces of npm and pnpm: which folders are packages of one, and what its own scripts run in all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import re2

from processes.definition.reading import Log, Value
from processes.definition.stream import Unreadable, compose
from verification.engine.gating.manifests import inner_table, json_table, texts_of

PNPM_WORKSPACE = "pnpm-workspace.yaml"
MAX_SCRIPT_CHARS = 2_000
BUILD, TYPES, LINT, TEST = "build", "types", "lint", "test"
# Each `&&` ends where something failed; what else a shell makes something of is in doubt.
_FIRST = r"(?:p?npm (?:run )?[\w:-]+ && )*"
_REST = r"(?: && [\w ./:@=-]+)*"
_FLAGS = r"(?: --if-present| --silent| -s)*"
_ALL = r"(?: --workspaces| -ws| --ws)"


def _npm(verb: str) -> Any:
    said = rf"(?:(?:run|run-script) {verb}{_SHORT[verb]})"
    return _script_of(
        rf"npm {said}{_FLAGS}{_ALL}{_FLAGS}|npm{_ALL} {said}{_FLAGS}|yarn workspaces run {verb}"
    )


def _pnpm(verb: str) -> Any:
    said, each = rf"(?:run )?{verb}", "(?:-r|--recursive)"
    return _script_of(rf"pnpm {each} {said}|pnpm run {each} {verb}|pnpm {said} {each}")


def _script_of(command: str) -> Any:
    return re2.compile(f"{_FIRST}(?:{command}){_REST}")


_SHORT = {BUILD: "", TEST: "|test|t"}
NPM = {verb: _npm(verb) for verb in _SHORT}
PNPM = {verb: _pnpm(verb) for verb in _SHORT}
_NO_TEST = re2.compile(r"(?i)no test specified")


def npm_members(content: bytes | None) -> list[str]:
    declared = json_table(content).get("workspaces")
    return texts_of(declared.get("packages") if isinstance(declared, dict) else declared)


def pnpm_members(content: bytes | None) -> Iterator[str]:
    if not content:
        return
    try:
        fields = Value(compose(content), "", Log()).mapping()
    except Unreadable:
        return
    entries = fields.entries("packages", "a list") if fields else []
    yield from (one.text() or "" for one in entries)


def runs_all_of(
    content: bytes, scripts: Mapping[str, Any], config: bytes
) -> Callable[[Callable[[str], bytes | None]], bool]:
    """Whether all that a package has to try is run by the scripts of this manifest, too.

    `scripts` are those that run something in all packages; `config` is npm's, which can name some.
    """
    package = json_table(content)
    run = {verb for verb, known in scripts.items() if _matches(known, _script(package, verb))}
    run |= {LINT} if "eslint" in _known(package) else set()

    def covers(read: Callable[[str], bytes | None]) -> bool:
        is_certain = b"workspace" not in config.lower()
        return is_certain and _to_try(json_table(read("package.json")), read) <= run

    return covers


def _to_try(package: Mapping[str, Any], read: Callable[[str], bytes | None]) -> set[str]:
    """The gates that would have something to run in a package."""
    known = _known(package)
    found = {verb for verb in (BUILD, TEST) if _script(package, verb).strip()}
    if _NO_TEST.search(_script(package, TEST)):
        found.discard(TEST)
    if "typescript" in known and read("tsconfig.json") is not None:
        found.add(TYPES)
    return found | ({LINT} if "eslint" in known else set())


def _matches(pattern: Any, script: str) -> bool:
    return len(script) <= MAX_SCRIPT_CHARS and bool(pattern.fullmatch(script.strip()))


def _script(package: Mapping[str, Any], verb: str) -> str:
    script = inner_table(package, "scripts").get(verb)
    return script if isinstance(script, str) else ""


def _known(package: Mapping[str, Any]) -> set[str]:
    return {*inner_table(package, "dependencies"), *inner_table(package, "devDependencies")}
