"""Texts in which a first line says what is wrong, and indented ones say more of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from verification.engine.reports.model import Unreadable

MAX_FOLLOWING = 20


@dataclass(frozen=True, slots=True)
class Entry:
    """A first line, taken apart, and those that follow it up to the next."""

    head: re.Match[str]
    following: tuple[str, ...] = ()

    def __getitem__(self, group: str) -> str:
        return self.head[group] or ""


def entries(
    lines: Iterable[str], head: re.Pattern[str], *, is_loose: bool = False
) -> Iterator[Entry | str]:
    """Entries, and the lines that belong to none: neither first nor indented.

    `is_loose`: what follows a first line up to the next belongs to it, indented or not.
    """
    current: re.Match[str] | None = None
    following: list[str] = []
    for line in lines:
        found = head.match(line)
        if found is None and current is not None and (is_loose or line[:1] in (" ", "\t")):
            if len(following) < MAX_FOLLOWING:
                following.append(line)
            continue
        if current is not None:
            yield Entry(current, tuple(following))
        current, following = found, []
        if found is None and line.strip():
            yield line
    if current is not None:
        yield Entry(current, tuple(following))


def only_entries(
    lines: Iterable[str], head: re.Pattern[str], quiet: re.Pattern[str], *, is_loose: bool = False
) -> Iterator[Entry]:
    """The entries of a tool that says nothing when all is well, but for what is `quiet`.

    Raises:
        Unreadable: it said something, and none of it is an entry: it broke down.
    """
    found, unknown = 0, 0
    for one in entries(lines, head, is_loose=is_loose):
        if isinstance(one, Entry):
            found += 1
            yield one
        elif not quiet.match(one):
            unknown += 1
    if unknown and not found:
        raise Unreadable("The report is not what this tool prints.")
