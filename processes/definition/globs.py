"""Paths with wildcards: what they match, and which of them cannot be meant.

`*` and `?` match `/` too, `**/` also nothing at all, and `{a,b}` is either. Brackets match in two
ways, because many frameworks write them in file names: as a class of characters, and as they stand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import re2

from processes.definition import patterns as dialect

WILDCARDS = frozenset("*?[{")
NOTHING = r"[^\x00-\x{10FFFF}]"


def has_wildcards(path: str) -> bool:
    return not WILDCARDS.isdisjoint(path)


def compile_glob(path: str) -> Any | None:
    """Return a matcher of whole lines, in any case; None: the path has no wildcard to be read."""
    if not has_wildcards(path):
        return None
    try:
        return re2.compile(f"(?im)^(?:{''.join(_pieces(path))})$", dialect.options())
    except (re2.error, UnicodeError):
        return None


def backward_range(path: str) -> str:
    """Return the first range of a class that no character is in, such as `z-a`; '' without one.

    A hyphen between two words is no range: `[user-id]` is a name.
    """
    position = 0
    while (position := path.find("[", position)) >= 0:
        members, end = _class_at(path, position)
        if end and (backward := _backward_range(members.lstrip("[.").removeprefix("!"))):
            return backward
        position = end or position + 1
    return ""


def _pieces(path: str) -> Iterator[str]:
    position, depth = 0, 0
    while position < len(path):
        sign = path[position]
        members, end = _class_at(path, position) if sign == "[" else ("", 0)
        step = 1
        if sign == "*":
            step = len(path[position:]) - len(path[position:].lstrip("*"))
            is_folder = step > 1 and path[position + step : position + step + 1] == "/"
            step += is_folder
            yield "(?:.*/)?" if is_folder else ".*"
        elif sign == "?":
            yield "."
        elif end:
            step = end - position
            as_it_stands = "".join(_pieces(members))
            yield rf"(?:{_class(members)}|\[{as_it_stands}\])"
        elif sign == "{" and "}" in path[position:] and "," in path[position:]:
            depth += 1
            yield "(?:"
        elif depth and sign in ",}":
            depth -= sign == "}"
            yield "|" if sign == "," else ")"
        else:
            yield re2.escape(sign)
        position += step


def _class_at(path: str, position: int) -> tuple[str, int]:
    """What stands within brackets, and where it ends; 0: nothing closes them."""
    first = position + 1 + (path[position + 1 : position + 2] in ("!", "^"))
    closing = path.find("]", first + 1)
    return (path[position + 1 : closing], closing + 1) if closing > 0 else ("", 0)


def _class(members: str) -> str:
    """A class of characters; a range that runs backwards holds none."""
    negated = members[0] in "!^"
    inside = "".join(
        f"{_escaped(low)}-{_escaped(high)}"
        for low, high, _ in _ranges(members[negated:])
        if low <= high
    )
    if negated:
        # A class that excludes would take the end of a line, and the next path with it.
        return f"[^\\n{inside}]"
    return f"[{inside}]" if inside else NOTHING


def _escaped(character: str) -> str:
    return f"\\x{{{ord(character):X}}}"


def _ranges(members: str) -> Iterator[tuple[str, str, int]]:
    """Yield the first and the last character of each range, and where it ends."""
    position = 0
    while position < len(members):
        is_range = members[position + 1 : position + 2] == "-" and position + 2 < len(members)
        end = position + (3 if is_range else 1)
        yield members[position], members[end - 1], end
        position = end


def _backward_range(members: str) -> str:
    before = ""
    for low, high, end in _ranges(members):
        is_between_words = before.isalnum() and members[end : end + 1].isalnum()
        if low > high and not is_between_words:
            return f"{low}-{high}"
        before = low if low == high else ""
    return ""
