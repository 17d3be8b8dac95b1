"""Texts in which a first line says what is wrong, and indented ones say more of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MAX_FOLLOWING = 20


@dataclass(frozen=True, slots=True)
class Entry:
    """A first line, taken apart, and those that follow it up to the next."""

    head: re.Match[str]
    following: tuple[str, ...] = ()

    def __getitem__(self, group: str) -> str:
        return self.head[group] or ""


def entries(lines: Iterable[str], head: re.Pattern[str]) -> Iterator[Entry | str]:
    """Entries, and the lines that belong to none: neither first nor indented."""
    current: re.Match[str] | None = None
    following: list[str] = []
    for line in lines:
        found = head.match(line)
        is_indented = line[:1] in (" ", "\t") and current is not None
        if found is None and is_indented:
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
