"""What the readers share: lines, an object that was printed, and numbers of tests."""

from __future__ import annotations

from verification.engine.reports.contents import (
    Record,
    bounded,
    bounded_lines,
    json_of,
    record,
    uncoloured,
)
from verification.engine.reports.model import Unreadable, number
from verification.engine.reports.model import milliseconds as of_seconds

_MAX_COUNT_DIGITS = 9


def lines_of(content: bytes) -> list[str]:
    """Tests print what they like, first of all, too: not all of it is UTF-8, and none is UTF-16.

    Lines end where a terminal ends them: form feeds and the like stand within one.
    """
    printed = uncoloured(bounded(content).decode("utf-8-sig", errors="replace"))
    whole = bounded_lines(printed)
    return whole.replace("\r\n", "\n").split("\n")


def printed_json(content: bytes) -> Record:
    """The object of a report, which its runner may print after lines of others: npm, a plugin."""
    try:
        whole = bounded(content).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable("The report is not UTF-8.") from error
    begin = 0 if whole.startswith("{") else whole.find("\n{") + 1
    return record(json_of(whole[begin:]))


def plain(told: object) -> str:
    """Without colours; '' for what is no text."""
    return uncoloured(told) if isinstance(told, str) else ""


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
