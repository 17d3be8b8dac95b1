"""The bytes of a report as text, JSON or lines, with the bounds that hold for every format."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from verification.engine.reports.model import MAX_REPORT_BYTES, Unreadable, bounded_json, number
from verification.engine.reports.model import milliseconds as of_seconds

MAX_LINES = 500_000
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_MAX_COUNT_DIGITS = 9


def bounded(content: bytes) -> bytes:
    if len(content) > MAX_REPORT_BYTES:
        raise Unreadable(f"The report is larger than {MAX_REPORT_BYTES:,} bytes.")
    return content


def text_of(content: bytes) -> str:
    """What was printed, without colours. Tests print what they like: not all of it is UTF-8."""
    return uncoloured(bounded(content).decode("utf-8-sig", errors="replace"))


def lines_of(content: bytes) -> list[str]:
    """Lines end where a terminal ends them: form feeds and the like stand within one."""
    whole = text_of(content)
    if whole.count("\n") > MAX_LINES:
        raise Unreadable(f"The report has more than {MAX_LINES:,} lines.")
    return whole.replace("\r\n", "\n").split("\n")


def uncoloured(printed: str) -> str:
    return _COLOUR.sub("", printed) if "\x1b" in printed else printed


def json_of(whole: str) -> Any:
    try:
        return json.loads(bounded_json(whole))
    except (ValueError, RecursionError) as error:
        raise Unreadable("The report is not JSON, or not all of it is there.") from error


def printed_json(content: bytes) -> Mapping[str, Any]:
    """The object of a report, which its runner may print after lines of others: npm, a plugin."""
    try:
        whole = bounded(content).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable("The report is not UTF-8.") from error
    begin = 0 if whole.startswith("{") else whole.find("\n{") + 1
    return mapping(json_of(whole[begin:]))


def mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise Unreadable("Where an object should stand stands something else.")
    return value


def listed(value: object) -> Sequence[Any]:
    if not isinstance(value, list):
        raise Unreadable("Where a list should stand stands something else.")
    return value


def count(value: object) -> int:
    """A number of tests, from 0. Digits in a text are read."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value) if len(value) <= _MAX_COUNT_DIGITS else None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Unreadable("Where a number of tests should stand stands something else.")
    return value


def lasting(thousandths: object) -> int:
    """Milliseconds as JavaScript's runners give them; 0 for what is no duration."""
    if isinstance(thousandths, bool) or not isinstance(thousandths, int | float):
        return 0
    try:
        return of_seconds(thousandths / 1000)
    except OverflowError:
        return 0


def line_after(told: str, path: object) -> int | None:
    """Where the trace of a failure meets a file first, as `path:line:column`."""
    if not isinstance(path, str) or not path:
        return None
    after = told.partition(f"{path}:")[2]
    return number(after[: _MAX_COUNT_DIGITS + 1].partition(":")[0])
