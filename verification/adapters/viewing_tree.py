"""JSON as a tree that opens and closes: numbers and repeated keys as they are written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from verification.adapters.viewing_text import CannotShow, clipped, decoded

MAX_NODES: Final = 3_000
MAX_OPEN_NODES: Final = 60
MAX_DEPTH: Final = 40
MAX_CHARACTERS: Final = 1_000
MAX_KEY_CHARACTERS: Final = 200
MAX_MARKUP_CHARACTERS: Final = 1_500_000


class Written(str):
    """A number or a word of JSON, as it is written."""

    __slots__ = ()


class Pairs(list[tuple[str, Any]]):
    """An object's keys and values in their order, repeated ones too."""


def shown(content: bytes, asked: Mapping[str, Any]) -> tuple[dict[str, Any], Sequence[bytes]]:
    text, note = decoded(content)
    tree = Tree()
    value = parsed(text)
    markup = "".join(tree.markup(value))
    return {"html": markup, "left": tree.left, "repeated": tree.repeated, "note": note}, []


def parsed(text: str) -> Any:
    """The value, with objects as `Pairs`, and numbers as `Written`.

    Raises:
        CannotShow: it is no JSON, or nested deeper than this reads.
    """
    try:
        return json.loads(
            text,
            object_pairs_hook=Pairs,
            parse_int=Written,
            parse_float=Written,
            parse_constant=_refuse,
        )
    except RecursionError:
        raise CannotShow("It is nested too deeply to be shown as a tree.") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise CannotShow(f"It is no JSON: {error.msg} ({place}).") from error


def _refuse(word: str) -> Any:
    raise CannotShow(f"It is no JSON: {word} is no value of it.")


class Tree:
    """Yields the markup; what stands beyond its bounds is counted."""

    def __init__(self) -> None:
        self.nodes = 0
        self.characters = 0
        self.left = 0
        self.repeated = 0

    def markup(self, value: Any, key: str | int | None = None, depth: int = 0) -> Iterator[str]:
        self.nodes += 1
        if not isinstance(value, Pairs | list):
            yield self._counted(f"<li>{_named(key)}{_plain(value)}</li>")
            return
        count, brackets = len(value), "{}" if isinstance(value, Pairs) else "[]"
        size = f'<span class="faint">{brackets[0]}{count:,}{brackets[1]}</span>'
        if not value or depth >= MAX_DEPTH:
            self.left += count
            deeper = ' <i class="faint">deeper levels are not shown</i>' if value else ""
            yield self._counted(f"<li>{_named(key)}{size}{deeper}</li>")
            return
        is_open = depth == 0 or (count <= MAX_OPEN_NODES and self.nodes < MAX_OPEN_NODES)
        start = f"<li><details{' open' if is_open else ''}><summary>{_named(key)}{size}</summary>"
        yield self._counted(f"{start}<ul>")
        yield from self._members(value, depth)
        yield "</ul></details></li>"

    def _members(self, value: Pairs | list[Any], depth: int) -> Iterator[str]:
        if isinstance(value, Pairs):
            keys = [name for name, _ in value]
            self.repeated += len(keys) - len(set(keys))
        for at, member in enumerate(value):
            if self.nodes >= MAX_NODES or self.characters > MAX_MARKUP_CHARACTERS:
                self.left += len(value) - at
                yield f'<li class="faint">{len(value) - at:,} more</li>'
                return
            name, inner = member if isinstance(value, Pairs) else (at, member)
            yield from self.markup(inner, name, depth + 1)

    def _counted(self, markup: str) -> str:
        self.characters += len(markup)
        return markup


def _named(key: str | int | None) -> str:
    if key is None:
        return ""
    if isinstance(key, int):
        return f'<span class="tree-at">{key}</span> '
    return f'<span class="tree-key">{clipped(key, MAX_KEY_CHARACTERS)}</span> '


def _plain(value: Any) -> str:
    if isinstance(value, Written):
        return f'<span class="tree-number">{clipped(value, MAX_CHARACTERS)}</span>'
    if isinstance(value, str):
        return f'<span class="tree-text">{clipped(value, MAX_CHARACTERS)}</span>'
    return f'<span class="tree-word">{json.dumps(value)}</span>'
