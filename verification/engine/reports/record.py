"""All that a gate's tools reported, as it is kept beside the gate's result."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, Self

from verification.engine.reports.model import Coverage, FileCoverage, ProblemReport, TestReport


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
