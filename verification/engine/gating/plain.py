"""Whether plain words are a command: prose begins like one, too (`make sure`, `go through`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

MAX_CHARS = 300
_ANY = r".*"
_VERBS = (
    "test|t|tests|check|run|build|ci|install|lint|clippy|vet|start|verify|package|exec|restore|fmt"
)
_SCRIPT = r"-[mcV]|-{1,2}\w[\w=-]*|[\w./-]+\.\w{1,4}"
FIRSTS: Mapping[str, str] = {
    "pytest": _ANY, "tox": _ANY, "nox": _ANY, "rspec": _ANY, "bats": _ANY, "phpunit": _ANY,
    "python": _SCRIPT, "python3": _SCRIPT, "node": _SCRIPT, "ruby": _SCRIPT, "php": _SCRIPT,
    "bash": _SCRIPT, "sh": _SCRIPT,
    "npm": _VERBS, "yarn": _VERBS, "pnpm": _VERBS, "go": _VERBS, "cargo": _VERBS, "make": _VERBS,
    "mvn": rf"-\w+|{_VERBS}", "gradle": _VERBS, "dotnet": _VERBS, "poetry": "run|install",
    "uv": "run|sync", "bundle": "exec|install", "npx": "jest|vitest|mocha|tsc|eslint|ava",
}  # fmt: skip
"""By its first word, what its second may be, where there is one."""
_ALONE = frozenset({"pytest", "tox", "nox", "rspec", "make", "phpunit"})
_PATH = re.compile(r"\./[\w./-]+|vendor/bin/[\w-]+|bin/[\w-]+")
_ARGUMENT = re.compile(r"-.*(?<![.,])|\./\.\.\.|.*[./:=_@].*(?<![.,])|\.|tests?|specs?|src")


def is_plain(text: str) -> bool:
    """Whether nothing but a command can be meant. In doubt it is none: the table's is run then."""
    if len(text) > MAX_CHARS or "`" in text:
        return False
    commands = [one.split() for one in text.split("&&")]
    return all(_is_one(words) for words in commands) and commands[-1][0] != "cd"


def _is_one(words: Sequence[str]) -> bool:
    if not words:
        return False
    first, rest = words[0], words[1:]
    if first == "cd":
        return len(rest) == 1
    if _PATH.fullmatch(first):
        return _are_arguments(rest)
    second = FIRSTS.get(first)
    if second is None or not rest:
        return second is not None and first in _ALONE
    if second == _ANY:
        return _are_arguments(rest)
    return bool(re.fullmatch(second, rest[0])) and _are_arguments(rest[1:], rest[0])


def _are_arguments(words: Sequence[str], before: str = "") -> bool:
    """Options, what stands behind one, and what only paths and the like look like."""
    for word in words:
        behind = before.startswith("-") or before in ("run", "exec")
        if not _ARGUMENT.fullmatch(word) and not (behind and re.fullmatch(r"[\w:-]+", word)):
            return False
        before = word
    return True
