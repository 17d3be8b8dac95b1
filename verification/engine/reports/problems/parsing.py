"""What the readers share: lines of text, and problems, both bounded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from verification.engine.reports.contents import MAX_LINES, as_text, bounded_lines, uncoloured
from verification.engine.reports.model import (
    MAX_NAME_CHARS,
    Problem,
    ProblemReport,
    ProblemSeverity,
    Unreadable,
    gathered,
    inner_path,
    name,
    number,
    text,
)

MAX_LINE_CHARS = 20_000
MAX_TOLD = 100_000
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}:")


def lines_of(content: bytes, most: int = MAX_LINES) -> Iterator[str]:
    """Its lines without colours and line ends, blank ones too. Overlong ones are cut."""
    for line in bounded_lines(as_text(content), most).split("\n"):
        yield uncoloured(line[:MAX_LINE_CHARS]).rstrip("\r")


def from_zero(value: object) -> int | None:
    """A line or column that the tool counts from 0, from 1."""
    return number(value + 1) if isinstance(value, int) and not isinstance(value, bool) else None


def path_of_uri(uri: object, folder: str = "") -> str:
    """A file's path as the workspace knows it; '' for another scheme, and for one that leads out.

    >>> path_of_uri("file:///workspace/a%20b.py"), path_of_uri("a.py", "src"), path_of_uri("http:a")
    ('a b.py', 'src/a.py', '')
    """
    if not isinstance(uri, str) or len(uri) > MAX_NAME_CHARS:
        return ""
    if SCHEME.match(uri) and not uri.startswith("file:"):
        return ""
    path = uri[5:] if uri.startswith("file:/") and not uri.startswith("file://") else uri
    return inner_path(unquote(path), folder)


def problem(
    message: object,
    severity: ProblemSeverity,
    *,
    path: object = "",
    folder: str = "",
    line: object = None,
    column: object = None,
    rule: object = "",
) -> Problem:
    return Problem(
        message=text(message).strip() or "The tool says no more.",
        path=inner_path(path, folder),
        line=number(line),
        column=number(column),
        rule=name(rule),
        severity=severity,
    )


def collected(problems: Iterable[Problem], *, is_guess: bool = False) -> ProblemReport:
    """Gather them, if they are not so many that to read them takes too long."""
    return gathered(_bounded(problems), is_guess=is_guess)


def _bounded(problems: Iterable[Problem]) -> Iterator[Problem]:
    for told, one in enumerate(problems):
        if told >= MAX_TOLD:
            raise Unreadable("The report tells of too many problems.")
        yield one


def distinct(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Without what is told again of the same place: compilers do so for every target."""
    seen: set[Problem] = set()
    for one in problems:
        if one not in seen:
            seen.add(one)
            yield one
