"""What the reports of .NET's test frameworks share: stack traces, and totals beside their cases."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Mapping
from xml.etree.ElementTree import Element

from verification.engine.reports.model import (
    CaseStatus,
    TestCase,
    Unreadable,
    inner_path,
    number,
    text,
)
from verification.engine.reports.testing.contents import count
from verification.engine.reports.testing.xml_text import within

DID_NOT_SUCCEED = "The run did not succeed"
_PARTS = re.compile(r"\n| in(?= )|:line (\d{1,9})")
_PLACED_CHARS = 20_000
_MAX_PATH_CHARS = 500


def place_in_trace(trace: str, folder: str) -> tuple[str, int | None]:
    """The first " in PATH:line NUMBER" of one line, as a path of the workspace; else '' and None."""
    path, line = _first_place(trace[:_PLACED_CHARS])
    inner = inner_path(path, folder)
    return inner, number(line) if inner else None


def _first_place(trace: str) -> tuple[str, str]:
    begins: deque[int] = deque()
    for found in _PARTS.finditer(trace):
        if found[0] == "\n":
            begins.clear()
        elif not found[1]:
            begins.append(found.end() + 1)
        else:
            while begins and found.start() - begins[0] > _MAX_PATH_CHARS:
                begins.popleft()
            if begins and begins[0] < found.start():
                return trace[begins[0] : found.start()], found[1]
    return "", ""


def failure_text(element: Element, *parts: str) -> str:
    """The message and the stack trace within its elements of these names."""
    found = [
        (piece.text or "").strip()
        for part in parts
        for holder in within(element, part)
        for piece in (*within(holder, "message"), *within(holder, "stack-trace"))
    ]
    return "\n".join(filter(None, found))


def error_case(title: str, message: str, folder: str) -> TestCase:
    """A failure that belongs to no test, as of what is set up or cleaned for several."""
    path, line = place_in_trace(message, folder)
    return TestCase(title, CaseStatus.ERROR, message=text(message), path=path, line=line)


def check_totals(element: Element, allowed: Mapping[str, Collection[int]]) -> None:
    """Raise where the element counts something otherwise than its cases do."""
    for attribute, counts in allowed.items():
        given = element.get(attribute)
        if given and count(given) not in counts:
            raise Unreadable("The numbers that the report gives are not those of its tests.")
