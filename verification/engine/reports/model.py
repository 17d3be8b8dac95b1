"""What every report is read into, whoever wrote it, and the bounds that hold for all of them."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from verification.engine.finding import cleaned

MAX_REPORT_BYTES = 20_000_000
MAX_CASES = 10_000
MAX_PROBLEMS = 1_000
MAX_MESSAGE_CHARS = 4_000
MAX_NAME_CHARS = 500
MAX_LINE = 2**31 - 1
WORKSPACE = "/workspace"


class Unreadable(Exception):
    """The report is not what it should be: nothing is known from it. Says why, without its text."""


class CaseStatus(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"

    @property
    def is_bad(self) -> bool:
        return self in (CaseStatus.FAILED, CaseStatus.ERROR)


class ProblemSeverity(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class TestCounts:
    """What a report counts. `flaky` are those of the passed that failed before they passed."""

    __test__ = False

    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    flaky: int = 0

    @property
    def ran(self) -> int:
        return self.passed + self.failed + self.errors

    def __add__(self, other: TestCounts) -> TestCounts:
        return TestCounts(
            passed=self.passed + other.passed,
            failed=self.failed + other.failed,
            errors=self.errors + other.errors,
            skipped=self.skipped + other.skipped,
            flaky=self.flaky + other.flaky,
        )


@dataclass(frozen=True, slots=True)
class TestCase:
    """One test. `suite` is what it stands in: a class, a describe block, a package, a file.

    `path` is where it failed, or stands, relative to the workspace, '' where the report does not say;
    `line` counts from 1. `file` is where it stands, of reports that say so of every test.
    `is_flaky`: it failed, was run again, and passed; `message` is then how it failed.
    """

    __test__ = False

    name: str
    status: CaseStatus
    suite: str = ""
    message: str = ""
    path: str = ""
    line: int | None = None
    duration_ms: int = 0
    file: str = ""
    is_flaky: bool = False

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Self:
        return cls(**{**saved, "status": CaseStatus(saved["status"])})


@dataclass(frozen=True, slots=True)
class TestReport:
    """`counts` counts all cases, of which the first are in `cases`, failed ones before others.

    `is_guess`: read from text that was meant for people.
    """

    __test__ = False

    counts: TestCounts
    cases: tuple[TestCase, ...] = ()
    is_guess: bool = False

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Self:
        cases = tuple(map(TestCase.from_json, saved["cases"]))
        return cls(TestCounts(**saved["counts"]), cases, saved["is_guess"])


@dataclass(frozen=True, slots=True)
class Problem:
    """What a tool complains of. `line` and `column` count from 1; `path` '' is no file.

    `waived` tells who accepts it until when, and why; '' where nobody does. `anchor` names what its
    line says.
    """

    message: str
    path: str = ""
    line: int | None = None
    column: int | None = None
    rule: str = ""
    severity: ProblemSeverity = ProblemSeverity.MEDIUM
    waived: str = ""
    anchor: str = ""

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Self:
        return cls(**{**saved, "severity": ProblemSeverity(saved["severity"])})


@dataclass(frozen=True, slots=True)
class ProblemReport:
    """`total` counts all problems, of which the most severe are in `problems`."""

    total: int = 0
    problems: tuple[Problem, ...] = ()
    is_guess: bool = False

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Self:
        return cls(**{**saved, "problems": tuple(map(Problem.from_json, saved["problems"]))})


@dataclass(frozen=True, slots=True)
class FileCoverage:
    """Lines that a test ran, and lines that could be run and were not; others are no code."""

    covered: frozenset[int] = frozenset()
    missed: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Coverage:
    """By path, relative to the workspace."""

    files: Mapping[str, FileCoverage] = field(default_factory=dict, hash=False)

    @property
    def lines(self) -> tuple[int, int]:
        """(covered, all) over all files."""
        covered = sum(len(one.covered) for one in self.files.values())
        return covered, covered + sum(len(one.missed) for one in self.files.values())


def counted(cases: Iterable[TestCase], *, is_guess: bool = False) -> TestReport:
    """Count every case, and keep so many of them: what did not pass first."""
    seen: Counter[CaseStatus] = Counter()
    flaky = 0
    bad: list[TestCase] = []
    good: list[TestCase] = []
    for case in cases:
        seen[case.status] += 1
        flaky += case.is_flaky
        kept = bad if case.status.is_bad else good
        if len(kept) < MAX_CASES:
            kept.append(case)
    counts = TestCounts(
        passed=seen[CaseStatus.PASSED],
        failed=seen[CaseStatus.FAILED],
        errors=seen[CaseStatus.ERROR],
        skipped=seen[CaseStatus.SKIPPED],
        flaky=flaky,
    )
    return TestReport(counts, tuple((bad + good)[:MAX_CASES]), is_guess)


def gathered(problems: Iterable[Problem], *, is_guess: bool = False) -> ProblemReport:
    """Count every problem, and keep so many of them: the most severe first."""
    by_severity: dict[ProblemSeverity, list[Problem]] = {one: [] for one in ProblemSeverity}
    total = 0
    for problem in problems:
        total += 1
        if len(by_severity[problem.severity]) < MAX_PROBLEMS:
            by_severity[problem.severity].append(problem)
    kept = [problem for severity in ProblemSeverity for problem in by_severity[severity]]
    return ProblemReport(total, tuple(kept[:MAX_PROBLEMS]), is_guess)


def text(value: object, limit: int = MAX_MESSAGE_CHARS) -> str:
    """A text that may be stored; '' for what is none."""
    if not isinstance(value, str):
        return ""
    clean = cleaned(value[: limit + 1])
    return clean if len(clean) <= limit else f"{clean[: limit - 1]}…"


def name(value: object) -> str:
    return " ".join(text(value, MAX_NAME_CHARS).split())


def number(value: object) -> int | None:
    """A line or a column, from 1; None for what is none. Digits in a text are read."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 12:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 < value <= MAX_LINE else None


def milliseconds(seconds: object) -> int:
    """0 for what is no duration."""
    try:
        value = float(seconds)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return 0
    return round(min(value, 1e6) * 1000) if 0 <= value < float("inf") else 0


def inner_path(value: object, folder: str = "") -> str:
    r"""A path as the workspace knows it; '' for one that leads out of it, or is none.

    `folder` is the component's, in which the tool ran: relative paths begin there.

    >>> inner_path("/workspace/a/b.py"), inner_path("./b.py", "a"), inner_path("../../x", "a")
    ('a/b.py', 'a/b.py', '')
    >>> inner_path(r"C:\build\a.cs")
    ''
    """
    if not isinstance(value, str) or not 0 < len(value) <= MAX_NAME_CHARS or "\x00" in value:
        return ""
    path = value.removeprefix("file://").replace("\\", "/")
    if path[1:3] == ":/":
        return ""
    whole = posixpath.normpath(posixpath.join(WORKSPACE, folder, path))
    if not whole.startswith(f"{WORKSPACE}/"):
        return ""
    return cleaned(whole.removeprefix(f"{WORKSPACE}/"))
