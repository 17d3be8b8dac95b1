"""Paths that a text names below a folder. Hostile input."""

from __future__ import annotations

import re

from processes.definition.reading import Value

MAX_PATH_CHARS = 300
_CONTROL = re.compile("[\x00-\x1f\x7f]")


def tidy(path: str) -> str:
    """Without steps that lead nowhere, and slashes at its ends.

    >>> tidy("./a//b/"), tidy(".")
    ('a/b', '')
    """
    return "/".join(step for step in path.split("/") if step not in ("", "."))


def read_inner(value: Value, what: str, *, is_folder: bool = False) -> str | None:
    """Read a path that leads to `what`. That of a folder may be empty: it is the one it is in."""
    text = value.text(limit=MAX_PATH_CHARS)
    if text is None:
        return None
    path = tidy(text)
    is_there = bool(path) or is_folder
    if not is_there or ".." in path.split("/") or text.startswith("/") or _CONTROL.search(text):
        value.complain("value.path", f"{value.path} must be {what}.")
        return None
    return path
