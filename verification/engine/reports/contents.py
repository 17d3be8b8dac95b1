"""The bytes of a report as text or JSON, with the bounds that hold for every format."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Mapping

from verification.engine.reports.model import MAX_REPORT_BYTES, Unreadable

Record = Mapping[str, object]

MAX_LINES = 500_000
MAX_JSON_PARTS = 1_000_000
MAX_JSON_VALUES = 2_000_000
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_SPACE = re.compile(r"[ \t\r\n]*")


def bounded(content: bytes) -> bytes:
    if len(content) > MAX_REPORT_BYTES:
        raise Unreadable(f"The report is larger than {MAX_REPORT_BYTES:,} bytes.")
    return content


def as_text(content: bytes) -> str:
    # PowerShell writes what it redirects as UTF-16.
    encoding = "utf-16" if content.startswith(_UTF_16) else "utf-8-sig"
    return bounded(content).decode(encoding, errors="replace")


def uncoloured(printed: str) -> str:
    return _COLOUR.sub("", printed) if "\x1b" in printed else printed


def bounded_lines(whole: str, most: int = MAX_LINES) -> str:
    if whole.count("\n") > most:
        raise Unreadable(f"The report has too many lines: more than {most:,}.")
    return whole


def bounded_json(whole: str) -> str:
    """The same; each bracket becomes an object, each comma a value, many times as large."""
    parts, values = whole.count("{") + whole.count("["), whole.count(",")
    if parts > MAX_JSON_PARTS or values > MAX_JSON_VALUES:
        raise Unreadable("The report has too many parts.")
    return whole


def json_of(whole: str) -> object:
    try:
        return json.loads(bounded_json(whole), parse_constant=_refused)
    except (ValueError, RecursionError):
        raise Unreadable("The report is not JSON, or not all of it is there.") from None


def as_json(content: bytes) -> object:
    return json_of(as_text(content))


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
