"""Lines that test runners end with, told to people: what each of them counts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verification.engine.reports.model import TestCounts
from verification.engine.reports.testing import parted

_KINDS = {
    "passed": "passed", "failed": "failed", "errors": "errors", "skipped": "skipped",
    "bad": "failed", "pending": "skipped", "measured": "passed",
}  # fmt: skip
_LINES: Sequence[re.Pattern[str]] = tuple(
    re.compile(pattern)
    for pattern in (
        # cargo
        r"test result: (?:ok|FAILED)\. (?P<passed>\d{1,9}) passed; (?P<failed>\d{1,9}) failed; "
        r"(?P<skipped>\d{1,9}) ignored; (?P<measured>\d{1,9}) measured; .{0,100}",
        # RSpec, Minitest
        r"(?P<total>\d{1,9}) examples?, (?P<failed>\d{1,9}) failures?(?:, (?P<pending>\d{1,9}) pending)?"
        r"(?:, (?P<more>\d{1,9}) errors? occurred outside of examples)?",
        r"(?P<total>\d{1,9}) (?:runs|tests), \d{1,9} assertions, (?P<failed>\d{1,9}) failures, "
        r"(?P<errors>\d{1,9}) errors, (?P<skipped>\d{1,9}) skips.{0,200}",
        # PHPUnit
        r"OK \((?P<passed>\d{1,9}) tests?, \d{1,9} assertions?\)",
        r"Tests: (?P<total>\d{1,9}), Assertions: \d{1,9}(?:, Errors: (?P<errors>\d{1,9}))?"
        r"(?:, Failures: (?P<failed>\d{1,9}))?(?:, (?!Skipped|Incomplete)[\w ]{1,25}: \d{1,9}){0,5}"
        r"(?:, Skipped: (?P<skipped>\d{1,9}))?(?:, Incomplete: (?P<pending>\d{1,9}))?"
        r"(?:, [\w ]{1,25}: \d{1,9}){0,3}\.",
        # Mocha, and Node's own, each in several lines
        r"(?P<passed>\d{1,9}) passing \(\d{1,9}\w{1,2}\)",
        r"(?P<failed>\d{1,9}) failing",
        r"(?P<pending>\d{1,9}) pending",
        r"\u2139 pass (?P<passed>\d{1,9})",
        r"\u2139 fail (?P<failed>\d{1,9})",
        r"\u2139 cancelled (?P<bad>\d{1,9})",
        r"\u2139 (?:skipped|todo) (?P<pending>\d{1,9})",
        # Catch2, where all is well, and its short report
        r"All tests passed \(\w{1,9} assertions? in (?P<passed>\d{1,9}) test cases?\)",
        r"Passed (?:all |both )?(?P<passed>\d{1,9}) test cases?(?: with \d{1,9} assertions?| \(.{1,40}\))?\.",
        r"Failed (?:all |both )?(?P<failed>\d{1,9}) test cases?, .{1,80}\.",
        # .NET, and CTest
        r"(?:Passed|Failed)! +- Failed: +(?P<failed>\d{1,9}), Passed: +(?P<passed>\d{1,9}), "
        r"Skipped: +(?P<skipped>\d{1,9}), Total: .{0,300}",
        r"\d{1,3}% tests passed, (?P<failed>\d{1,9}) tests? failed out of (?P<total>\d{1,9})",
    )
)
_GO = re.compile(r"(?P<end>ok  |FAIL)\t\S{1,300}\t.{1,100}")
"""Go counts packages."""


def found(lines: list[str]) -> TestCounts | None:
    """What all of them count together."""
    total = None
    for line in lines:
        counts = _counted(line.strip()) or parted.counted(line.strip()) or _of_go(line)
        if counts:
            total = (total or TestCounts()) + counts
    return total


def _counted(line: str) -> TestCounts | None:
    match = next(filter(None, (one.fullmatch(line) for one in _LINES)), None)
    if match is None:
        return None
    said = {name: int(digits) for name, digits in match.groupdict().items() if digits}
    seen = dict.fromkeys(("passed", "failed", "errors", "skipped"), 0)
    for name, count in said.items():
        if kind := _KINDS.get(name):
            seen[kind] += count
    if "total" in said:
        seen["passed"] = max(0, said["total"] - sum(seen.values()))
    seen["errors"] += said.get("more", 0)
    return TestCounts(**seen)


def _of_go(line: str) -> TestCounts | None:
    match = _GO.fullmatch(line.rstrip())
    if match is None:
        return None
    return TestCounts(passed=1) if match["end"].startswith("ok") else TestCounts(failed=1)
