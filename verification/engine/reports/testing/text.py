"""The last resort: text for people that says how many tests passed. Counts only."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from verification.engine.reports.model import TestCounts, TestReport, Unreadable
from verification.engine.reports.testing import blocks, endings, pytest_text, tap, unittest_text
from verification.engine.reports.testing.contents import lines_of

_MAX_LINE_CHARS = 1_000
_MOST_REPORTS = 1_000
_OF = re.compile(r"(?<![\w./-])(\d{1,9})(?:\s?/\s?| of )(\d{1,9})(?: tests?)? (?:passed|passing)\b")
# Vitest writes no colons, and has a line of errors that no test is to blame for.
_JEST = re.compile(r"\s*(Tests|Test Suites|Test Files|Errors):?\s{1,20}((?:\d{1,9}|no) \w.*)")
_TAP = re.compile(r"TAP version 1[2-4]\s*")
_JEST_PART = re.compile(r"(\d{1,9}) (failed|skipped|todo|passed|errors?)\b")
_SUREFIRE = re.compile(
    r"(?:\[\w{1,10}\] )?Tests run: {1,2}(\d{1,9}), {1,2}Failures: (\d{1,9})"
    r"(?:, {1,2}Errors: (\d{1,9}))?(?:, {1,2}Skipped: (\d{1,9}))?(?:, {1,2}Flakes: (\d{1,9}))?(.*)"
)


def read(content: bytes, folder: str = "") -> TestReport:
    """Of each kind of summary, together: who runs two runners has passed when both have."""
    lines = [line for line in lines_of(content) if len(line) <= _MAX_LINE_CHARS]
    finders = (
        pytest_text.found, unittest_text.found, endings.found, blocks.found, _by_jest, _by_surefire,
        _by_tap,
    )  # fmt: skip
    found = [counts for find in finders if (counts := find(lines)) is not None]
    total = _all_of(found) or _by_share(lines)
    if total is None:
        raise Unreadable("The text does not say how many tests passed.")
    return TestReport(total, is_guess=True)


def _by_jest(lines: list[str]) -> TestCounts | None:
    """Of every package that ran. A suite that failed without a failing test could not run."""
    summaries = [found for line in lines if (found := _JEST.fullmatch(line))]
    tests, others = TestCounts(), 0
    for found in summaries:
        parts = {word: int(digits) for digits, word in _JEST_PART.findall(found[2])}
        if found[1] == "Tests":
            tests = tests + _of_jest(parts)
        else:
            others += parts.get("failed", 0) + parts.get("error", 0) + parts.get("errors", 0)
    if not any(found[1] == "Tests" for found in summaries):
        return None
    return tests + TestCounts(errors=0 if tests.failed else others)


def _of_jest(parts: dict[str, int]) -> TestCounts:
    return TestCounts(
        passed=parts.get("passed", 0),
        failed=parts.get("failed", 0),
        skipped=parts.get("skipped", 0) + parts.get("todo", 0),
    )


def _by_surefire(lines: list[str]) -> TestCounts | None:
    """The totals of each module; where there are none, the lines of each class."""
    summaries = [found for line in lines if (found := _SUREFIRE.fullmatch(line.rstrip()))]
    totals = [found for found in summaries if "Time elapsed" not in found[6]]
    return _all_of(map(_of_surefire, totals or summaries))


def _of_surefire(found: re.Match[str]) -> TestCounts:
    ran, failed, errors, skipped, flaky = (int(part or 0) for part in found.groups()[:5])
    passed = ran - failed - errors - skipped
    if passed < 0:
        raise Unreadable("The text counts more failed tests than tests.")
    return TestCounts(passed, failed, errors, skipped, min(flaky, passed))


def _by_tap(lines: list[str]) -> TestCounts | None:
    """Of each report that stands in the text from its first line on, and is whole."""
    begins = [at for at, line in enumerate(lines) if _TAP.fullmatch(line)][:_MOST_REPORTS]
    total = None
    for begin, end in pairwise([*begins, len(lines)]):
        try:
            told = tap.read("\n".join(lines[begin:end]).encode())
        except Unreadable:
            return None
        total = (total or TestCounts()) + told.counts
    return total


def _by_share(lines: list[str]) -> TestCounts | None:
    for line in reversed(lines):
        for share in reversed(list(_OF.finditer(line))):
            passed, total = int(share[1]), int(share[2])
            if passed > total:
                raise Unreadable("The text counts more passed tests than tests.")
            return TestCounts(passed=passed, failed=total - passed)
    return None


def _all_of(counts: Iterable[TestCounts]) -> TestCounts | None:
    total = None
    for one in counts:
        total = (total or TestCounts()) + one
    return total
