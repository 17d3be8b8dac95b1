"""All that a gate's tools reported, as it is kept beside the gate's result."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any, Self

from verification.engine.reports.model import Coverage, FileCoverage, ProblemReport, TestReport

WHOLE = slice(None)
Row = tuple[str, str, str, str, int]
"""Of a test: suite, path, name, status, milliseconds."""


@dataclass(frozen=True, slots=True)
class Record:
    tests: TestReport | None = None
    problems: ProblemReport | None = None
    coverage: Coverage | None = None

    @property
    def is_empty(self) -> bool:
        return self == Record()

    def to_json(self) -> bytes:
        told = {
            "tests": asdict(self.tests) if self.tests else None,
            "problems": asdict(self.problems) if self.problems else None,
            "coverage": None if self.coverage is None else _saved(self.coverage),
        }
        return json.dumps(told, separators=(",", ":")).encode()

    @classmethod
    def from_json(cls, content: bytes) -> Self:
        told = json.loads(content)
        tests, problems, coverage = told["tests"], told["problems"], told.get("coverage")
        return cls(
            TestReport.from_json(tests) if tests else None,
            ProblemReport.from_json(problems) if problems else None,
            None if coverage is None else _coverage(coverage),
        )


@dataclass(frozen=True, slots=True)
class Opened:
    """A record of which so much is read as is asked for: it may hold thousands of tests."""

    told: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, content: bytes) -> Self:
        return cls(json.loads(content))

    def tests(self, part: slice = WHOLE) -> tuple[TestReport, int] | None:
        """Those of a part, and how many are kept in all."""
        saved = self.told.get("tests")
        if not saved:
            return None
        cases = saved["cases"]
        return TestReport.from_json({**saved, "cases": cases[part]}), len(cases)

    def ended(self) -> Iterator[Row]:
        """All tests that are kept, as little of each as counts it."""
        for one in (self.told.get("tests") or {}).get("cases", ()):
            yield one["suite"], one["path"], one["name"], one["status"], one["duration_ms"]

    def problems(self, part: slice = WHOLE) -> tuple[ProblemReport, int] | None:
        saved = self.told.get("problems")
        if not saved:
            return None
        kept = saved["problems"]
        return ProblemReport.from_json({**saved, "problems": kept[part]}), len(kept)

    def covered(self) -> dict[str, tuple[int, int]]:
        """(covered, all) lines of each file."""
        files = self.told.get("coverage") or {}
        return {
            path: (_count(covered), _count(covered) + _count(missed))
            for path, (covered, missed) in files.items()
        }


def _count(runs: Iterable[Sequence[int]]) -> int:
    return sum(last - first + 1 for first, last in runs)


def _saved(coverage: Coverage) -> Mapping[str, Any]:
    return {
        path: [list(runs_of(file.covered)), list(runs_of(file.missed))]
        for path, file in coverage.files.items()
    }


def _coverage(saved: Mapping[str, Sequence[Sequence[Sequence[int]]]]) -> Coverage:
    return Coverage(
        {
            path: FileCoverage(lines_of_runs(covered), lines_of_runs(missed))
            for path, (covered, missed) in saved.items()
        }
    )


def lines_of_runs(runs: Iterable[Sequence[int]]) -> frozenset[int]:
    """What `runs_of` told, as lines again."""
    return frozenset(chain.from_iterable(range(first, last + 1) for first, last in runs))


def runs_of(lines: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Neighbouring lines as (first, last).

    >>> list(runs_of({1, 2, 3, 7}))
    [(1, 3), (7, 7)]
    """
    first = last = None
    for line in sorted(lines):
        if last is not None and line == last + 1:
            last = line
            continue
        if first is not None and last is not None:
            yield first, last
        first = last = line
    if first is not None and last is not None:
        yield first, last
