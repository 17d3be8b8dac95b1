"""The text of `cargo test`, which libtest prints alike since years: one block for each binary."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import dropwhile

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

NAMES = "loomverify: the tests of "
"""A line that begins so stands before a binary's tests, and names it: Cargo does that elsewhere."""
_RUNNING = re.compile(r"running (\d{1,9}) tests?")
_RESULT = re.compile(
    r"test result: (?:ok|FAILED)\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored;"
    r" (\d{1,9}) measured;[^\n]*"
)
_TEST = re.compile(r"test ([^\n]{1,1000}) \.\.\. ?([^\n]*)")
_STATUS = re.compile(r"(ok|FAILED|ignored|bench:)(?:$|[\s,<(])")
_TOLD = re.compile(r"---- ([^\n]{1,1000}) stdout ----")
_ASIDE = re.compile(r" - (?:should panic|compile fail|compile)$")
_PLACE = re.compile(
    r"thread '[^\n]{0,1000}' (?:\(\d{1,9}\) )?panicked at ([^\s']{1,500}):(\d{1,9}):\d+:?"
)
_OLD_PLACE = re.compile(r".*', ([^\s']{1,500}):(\d{1,9}):\d{1,9}")
"""Before Rust 1.73 it stands at the end of the message."""
_STATUSES = {
    "ok": CaseStatus.PASSED,
    "bench:": CaseStatus.PASSED,
    "FAILED": CaseStatus.FAILED,
    "ignored": CaseStatus.SKIPPED,
}


@dataclass(slots=True)
class _Binary:
    """`told` is what its failed tests printed; in it nothing counts but the last line."""

    planned: int
    suite: str = ""
    cases: list[TestCase] = field(default_factory=list)
    pending: str = ""
    told: dict[str, list[str]] = field(default_factory=dict)
    telling: str | None = None

    def take(self, line: str) -> None:
        if self.telling is not None:
            self._take_told(line)
        elif line in ("failures:", "successes:"):
            self.telling = ""
        elif test := _TEST.fullmatch(line):
            self._take_test(test[1], test[2])
        elif self.pending and (status := _STATUS.match(line)):
            self._note(self.pending, status[1])

    def _take_test(self, title: str, ending: str) -> None:
        status = _STATUS.match(ending)
        if status:
            self._note(title, status[1])
        else:
            self.pending = title  # It prints its own text first: `--nocapture`.

    def _note(self, title: str, status: str) -> None:
        self.pending = ""
        self.cases.append(TestCase(name(_ASIDE.sub("", title)), _STATUSES[status], self.suite))

    def _take_told(self, line: str) -> None:
        if told := _TOLD.fullmatch(line):
            self.telling = told[1]
        else:
            self.told.setdefault(self.telling or "", []).append(line)

    def ends(self, result: re.Match[str]) -> TestCounts | None:
        """`None` where a test printed what looks like the end of them."""
        passed, failed, ignored, measured = (int(part) for part in result.groups())
        if passed + failed + ignored + measured != self.planned:
            return None
        return TestCounts(passed=passed + measured, failed=failed, skipped=ignored)


def read(content: bytes, folder: str = "") -> TestReport:
    """The cases are left out where a test's own text hides how they ended."""
    total, cases = TestCounts(), list[TestCase]()
    binary: _Binary | None = None
    is_any, suite = False, ""
    for line in lines_of(content):
        result = _RESULT.fullmatch(line)
        if binary is None:
            binary = _begun(line, result, suite)
            suite = name(line.removeprefix(NAMES)) if line.startswith(NAMES) else suite
        elif result and (counts := binary.ends(result)) is not None:
            total, is_any = total + counts, True
            cases += _with_told(binary, folder)
            binary, suite = None, ""
        else:
            binary.take(line)
    if binary is not None or not is_any:
        raise Unreadable("The tests of a binary have no result, or there is none.")
    report = counted(cases)
    return report if report.counts == total else TestReport(total)


def _begun(line: str, result: re.Match[str] | None, suite: str) -> _Binary | None:
    if result:
        # What ended the tests before was printed by one of them: this is their end.
        raise Unreadable("There is a result of no binary's tests.")
    running = _RUNNING.fullmatch(line)
    return _Binary(int(running[1]), suite) if running else None


def _with_told(binary: _Binary, folder: str) -> Iterator[TestCase]:
    for case in binary.cases:
        told = binary.told.pop(case.name, [])
        if case.status is CaseStatus.FAILED and told:
            place = _place(told)
            path = inner_path(place[1], folder) if place else ""
            line = number(place[2]) if place and path else None
            yield replace(case, message=text("\n".join(told).strip()), path=path, line=line)
        else:
            yield case


def _place(told: list[str]) -> re.Match[str] | None:
    new = next(filter(None, map(_PLACE.match, told)), None)
    panic = dropwhile(lambda line: " panicked at '" not in line, told)
    return new or next(filter(None, map(_OLD_PLACE.fullmatch, panic)), None)
