"""What the readers share: bytes to text, text to JSON, both bounded."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator, Mapping

from verification.engine.reports.model import (
    MAX_REPORT_BYTES,
    Problem,
    ProblemReport,
    ProblemSeverity,
    Unreadable,
    bounded_json,
    gathered,
    inner_path,
    name,
    number,
    text,
)

Record = Mapping[str, object]

MAX_LINE_CHARS = 20_000
MAX_LINES = 500_000
MAX_TOLD = 100_000
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_SPACE = re.compile(r"[ \t\r\n]*")


def as_text(content: bytes) -> str:
    if len(content) > MAX_REPORT_BYTES:
        raise Unreadable("The report is too large.")
    # PowerShell writes what it redirects as UTF-16.
    encoding = "utf-16" if content.startswith(_UTF_16) else "utf-8-sig"
    return content.decode(encoding, errors="replace")


def lines_of(content: bytes, most: int = MAX_LINES) -> Iterator[str]:
    """Its lines without colours and line ends, blank ones too. Overlong ones are cut."""
    for line in bounded_lines(as_text(content), most).split("\n"):
        yield _COLOUR.sub("", line[:MAX_LINE_CHARS]).rstrip("\r")


def bounded_lines(whole: str, most: int = MAX_LINES) -> str:
    if whole.count("\n") > most:
        raise Unreadable("The report has too many lines.")
    return whole


def as_json(content: bytes) -> object:
    whole = bounded_json(as_text(content))
    try:
        return json.loads(whole, parse_constant=_refused)
    except (ValueError, RecursionError):
        raise Unreadable("The report is not JSON.") from None


def json_lines(content: bytes, *, among_others: bool = False) -> Iterator[Record]:
    """Each line an object; blank lines are passed over, and those `among_others` of no JSON."""
    for line in bounded_json(as_text(content)).split("\n"):
        if line.startswith("{") if among_others else line.strip():
            try:
                yield record(json.loads(line, parse_constant=_refused))
            except (ValueError, RecursionError):
                raise Unreadable("A line of the report is not JSON.") from None


def json_at(whole: str, start: int) -> tuple[object, int]:
    """The one value that begins there, and where the next thing begins."""
    try:
        value, end = _DECODER.raw_decode(whole, start)
    except (ValueError, RecursionError):
        raise Unreadable("The report holds what is not JSON.") from None
    return value, after_space(whole, end)


def after_space(whole: str, start: int) -> int:
    found = _SPACE.match(whole, start)
    return found.end() if found else start


def _refused(constant: str) -> object:
    raise ValueError(constant)


_DECODER = json.JSONDecoder(parse_constant=_refused)


def record(value: object) -> Record:
    if not isinstance(value, dict):
        raise Unreadable("The report is not of this format: it should hold an object there.")
    return value


def records(value: object) -> Iterator[Record]:
    return (record(one) for one in listed(value))


def listed(value: object) -> list[object]:
    if not isinstance(value, list):
        raise Unreadable("The report is not of this format: it should hold a list there.")
    return value


def inside(value: object, *keys: str | int) -> object:
    """What stands there, step by step; None where nothing does."""
    for key in keys:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and 0 <= key < len(value):
            value = value[key]
        else:
            return None
    return value


def from_zero(value: object) -> int | None:
    """A line or column that the tool counts from 0, from 1."""
    return number(value + 1) if isinstance(value, int) and not isinstance(value, bool) else None


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
