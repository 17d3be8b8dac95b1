"""The text of `python -m unittest`: its last lines, and what it tells of each failure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from verification.engine.reports.model import (
    CaseStatus,
    TestCase,
    TestCounts,
    TestReport,
    Unreadable,
    counted,
    inner_path,
    name,
    number,
    text,
)
from verification.engine.reports.testing.contents import lines_of

_RAN = re.compile(r"Ran (\d{1,9}) tests? in \d{1,9}\.\d{1,6}s")
_END = re.compile(r"(OK|FAILED|NO TESTS RAN)(?: \(([a-z0-9 =,]{1,200})\))?")
_PART = re.compile(r"([a-z ]{1,30})=(\d{1,9})")
_HEADER = re.compile(r"(ERROR|FAIL|UNEXPECTED SUCCESS): ([^\n]{1,1000})")
_TEST = re.compile(r"(\S+) \(([^()\s]*)\)")
_FRAME = re.compile(r'\s{2,8}File "([^"\n]{1,500})", line (\d{1,9})')
_BREAK = "=" * 70
_MOST_BETWEEN = 4
"""Lines between how many ran and how they ended."""
_RULE = "-" * 70
_STATUSES = {
    "ERROR": CaseStatus.ERROR,
    "FAIL": CaseStatus.FAILED,
    "UNEXPECTED SUCCESS": CaseStatus.FAILED,
}
_FIXTURES = ("setUpClass", "tearDownClass", "setUpModule", "tearDownModule")


def read(content: bytes, folder: str = "") -> TestReport:
    """The cases are those that failed: it names others only when it is asked to."""
    lines = [line.rstrip() for line in lines_of(content)]
    at, ran = _last_ran(lines)
    headers = list(_headers(lines[:at]))
    counts = _counts(ran, _parts(lines[at + 1 :]), [header for header, _ in headers])
    bad = counted((_case(header, told, folder) for header, told in headers), is_guess=True)
    agrees = (bad.counts.failed, bad.counts.errors) == (counts.failed, counts.errors)
    return TestReport(counts, bad.cases if agrees else (), is_guess=True)


def found(lines: list[str]) -> TestCounts | None:
    """What all runs count: a command may run unittest more than once."""
    total, begin = None, 0
    for at, line in enumerate(lines):
        ran = _RAN.fullmatch(line.rstrip())
        if ran is None:
            continue
        try:
            parts = _parts([one.rstrip() for one in lines[at + 1 : at + 1 + _MOST_BETWEEN]])
        except Unreadable:
            continue
        stripped = [one.rstrip() for one in lines[begin:at]]
        headers = [header for header, _ in _headers(stripped)]
        total = (total or TestCounts()) + _counts(int(ran[1]), parts, headers)
        begin = at + 1
    return total


def _last_ran(lines: list[str]) -> tuple[int, int]:
    for at in range(len(lines) - 1, -1, -1):
        if ran := _RAN.fullmatch(lines[at]):
            return at, int(ran[1])
    raise Unreadable("The text does not say how many tests ran.")


def _parts(lines: list[str]) -> dict[str, int]:
    """What the last line counts: failures, errors, skipped, ..."""
    line = next(filter(None, lines), "")
    end = _END.fullmatch(line)
    if not end:
        raise Unreadable("The text does not say how the tests ended.")
    parts = {kind.strip(): int(digits) for kind, digits in _PART.findall(end[2] or "")}
    is_bad = any(parts.get(kind) for kind in ("failures", "errors", "unexpected successes"))
    if is_bad is not (end[1] == "FAILED"):
        raise Unreadable("The last line says how the tests ended, and counts otherwise.")
    return parts


def _headers(lines: list[str]) -> Iterator[tuple[re.Match[str], list[str]]]:
    """Each failure's headline, and the lines below it."""
    header: re.Match[str] | None = None
    told: list[str] = []
    for before, line in pairwise(["", *lines, _BREAK]):
        if before == _BREAK and (begun := _HEADER.fullmatch(line)):
            if header:
                yield header, told
            header, told = begun, []
        elif line not in (_BREAK, _RULE):
            told.append(line)
    if header:
        yield header, told


def _counts(ran: int, parts: dict[str, int], headers: list[re.Match[str]]) -> TestCounts:
    """A test fails once for each of its subtests, and a fixture that fails is no test."""
    told = [(kind[1], _TEST.match(kind[2])) for kind in headers]
    bad = {
        test[0]
        for kind, test in told
        if test and kind != "UNEXPECTED SUCCESS" and test[1] not in _FIXTURES
    }
    surprising = parts.get("unexpected successes", 0)
    skipped = parts.get("skipped", 0) + parts.get("expected failures", 0)
    return TestCounts(
        passed=max(0, ran - len(bad) - surprising - skipped),
        failed=parts.get("failures", 0) + surprising,
        errors=parts.get("errors", 0),
        skipped=skipped,
    )


def _case(header: re.Match[str], told: list[str], folder: str) -> TestCase:
    test = _TEST.match(header[2])
    path, line = _place(told, folder)
    return TestCase(
        name=name(header[2].replace(test[0], test[1], 1) if test else header[2]),
        status=_STATUSES[header[1]],
        suite=name(test[2].removesuffix(f".{test[1]}")) if test else "",
        message=text("\n".join(told).strip()),
        path=path,
        line=line,
    )


def _place(told: list[str], folder: str) -> tuple[str, int | None]:
    """The innermost frame in a file of the workspace."""
    for line in reversed(told):
        frame = _FRAME.match(line)
        path = inner_path(frame[1], folder) if frame else ""
        if frame and path:
            return path, number(frame[2])
    return "", None
