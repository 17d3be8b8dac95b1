"""Files that the work took away on purpose: nobody misses them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from verification.engine.evidence import Json, ToolCall
from verification.engine.paths import spelled

MAX_READ_CHARS = 1_000_000
_TAKES_AWAY = re.compile(
    r"delet|remov|unlink|move|renam|trash|discard|clean|(?<![a-z])(?:rm|mv)(?![a-z])",
    re.IGNORECASE,
)
_COMMANDS = re.compile(
    r"(?<![\w./-])(?:rm|rmdir|unlink|mv|del|erase|rd|move|ren|rename|trash|shred"
    r"|(?:remove|move|rename)-item)(?![\w-])"
    # Bounded, because what is submitted may hold a name of a million letters.
    r"|(?<![\w./-])(?:os|shutil|fs)\.\w{0,20}(?:remove|unlink|rename|move|rm)"
    r"|\.unlink\(",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[^\s\"'`;|&<>(){},=]+")


def takes_away(tool: str) -> bool:
    return bool(_TAKES_AWAY.search(tool))


class Removals:
    """What calls took away that did not fail, read when it is first asked for."""

    def __init__(self, calls: Sequence[ToolCall]) -> None:
        self._calls = calls
        self._names: frozenset[str] | None = None

    def cover(self, path: str) -> bool:
        """Whether this file, or a folder above it, is named by something that takes away."""
        if self._names is None:
            self._names = frozenset(_names(self._calls))
        return not self._names.isdisjoint(path.split("/"))


def _names(calls: Sequence[ToolCall]) -> Iterator[str]:
    """The last parts of all paths named. Reading stops at a bound: what follows may be missed."""
    left = MAX_READ_CHARS
    for call in calls:
        if call.success is False:
            continue
        is_mover = takes_away(call.tool)
        for text in _texts([call.args, call.files_changed] if is_mover else call.args):
            left -= len(text)
            if left < 0:
                return
            if is_mover:
                yield _last_part(text)
            if is_mover or _COMMANDS.search(text):
                yield from map(_last_part, _WORDS.findall(text))


def _texts(value: Json) -> Iterator[str]:
    pending = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, str):
            yield node
        elif isinstance(node, dict):
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)


def _last_part(path: str) -> str:
    return spelled(path).rstrip("/").rsplit("/", 1)[-1]
