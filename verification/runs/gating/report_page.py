"""What one gate reported, as people read it: tests as a tree, problems with their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from processes.definition.model import Enforcement
from verification.engine.gates import FAILED, GateReport
from verification.engine.policy import CHECK_ENFORCEMENT
from verification.engine.reports.model import (
    Problem,
    ProblemReport,
    TestCase,
    TestCounts,
    TestReport,
)
from verification.engine.reports.record import Record
from verification.runs.evidence_store import EvidenceLost, read_blob
from verification.runs.gating.covered_page import CoveredFile, covered_files
from verification.runs.gating.page import ShownGate
from verification.runs.gating.spots import Spot, Spots
from verification.runs.gating.tree import (
    Places,
    ShownTest,
    TestGroup,
    folder_of,
    modules_of,
    repeated_of,
    tree_of,
    varied,
)
from verification.runs.models import GateResult, Run

MAX_CASES_SHOWN = 500
MAX_PROBLEMS_SHOWN = 500
MAX_CONTEXTS = 20
MAX_OPEN = 5
MAX_NAMED = 2_000
MAX_RECORD_BYTES = 8_000_000
"""What is longer is read by who asks for all of it; the page shows what the report names."""


@dataclass(frozen=True, slots=True)
class ShownProblem:
    """`waived` tells who accepts it; '' where nobody does."""

    problem: Problem
    spot: Spot | None
    waived: str = ""
    is_old: bool = False


@dataclass
class GatePage:
    """Its files and its record are read when the template asks for them."""

    run: Run
    row: GateResult

    @property
    def gate(self) -> ShownGate:
        return ShownGate(self.row)

    @cached_property
    def report(self) -> GateReport | None:
        return GateReport.from_json(self.row.report) if self.row.report else None

    @cached_property
    def _record(self) -> Record:
        """All that was reported, or nothing where it is too long or no longer stored."""
        blob = self.row.record
        if blob is None or blob.size > MAX_RECORD_BYTES:
            return Record()
        try:
            return Record.from_json(read_blob(blob))
        except EvidenceLost:
            return Record()

    @cached_property
    def tests(self) -> TestReport | None:
        if self._record.tests or self.report is None or self.report.tests is None:
            return self._record.tests
        return TestReport(self.report.tests, self.report.failures, self.report.is_guess)

    @cached_property
    def problems(self) -> ProblemReport | None:
        if self._record.problems or self.report is None or self.report.problem_count is None:
            return self._record.problems
        return ProblemReport(self.report.problem_count, self.report.problems, self.report.is_guess)

    @cached_property
    def covered(self) -> list[CoveredFile]:
        unrun = self.report.unrun if self.report else ()
        return covered_files(self.spots, self._record.coverage, unrun)

    @cached_property
    def _new(self) -> frozenset[tuple[str, str]] | None:
        """The tests that fail for the first time; None where all do, or not all are named."""
        report = self.report
        if report is None or not report.old_failures or self.tests is None:
            return None
        bad = self.tests.counts.failed + self.tests.counts.errors
        if len(report.failures) != bad - report.old_failures:
            return None
        return frozenset((one.suite, one.name) for one in report.failures)

    @cached_property
    def cases(self) -> Sequence[TestCase]:
        return self.tests.cases[:MAX_CASES_SHOWN] if self.tests else ()

    @property
    def hidden_cases(self) -> int:
        counts = self.tests.counts if self.tests else TestCounts()
        return max(0, counts.ran + counts.skipped - len(self.cases))

    @cached_property
    def groups(self) -> list[TestGroup]:
        """Those with tests that failed come first. A test that passed often names no file."""
        repeated = repeated_of(self.cases)
        shown = [self._test(number, case, repeated) for number, case in enumerate(self.cases)]
        return tree_of(shown, self._places, repeated)

    def _test(self, number: int, case: TestCase, repeated: set[tuple[str, str]]) -> ShownTest:
        with_context = number < MAX_CONTEXTS and case.status.is_bad
        spot = self.spots.of(case.path, case.line, with_context=with_context)
        is_old = self._new is not None and (case.suite, case.name) not in self._new
        name, how = varied(case.name)
        label = how if how and (case.suite, name) in repeated else case.name
        return ShownTest(case, label, spot, number < MAX_OPEN, is_old=is_old)

    @property
    def _places(self) -> Places:
        paths = {one.suite: one.path for one in self.cases if one.path}
        component = self.row.component
        return Places(
            self.spots.files, folder_of(component), paths, by_package=component.endswith("(go)")
        )

    @cached_property
    def shown_problems(self) -> list[ShownProblem]:
        rows = self.problems.problems[:MAX_PROBLEMS_SHOWN] if self.problems else ()
        told = self._told_problems
        return [
            ShownProblem(
                one,
                self.spots.of(one.path, one.line, column=one.column),
                waived=told.get(one, ""),
                is_old=self._are_others_old and one not in told,
            )
            for one in map(_bare, rows)
        ]

    @cached_property
    def _told_problems(self) -> dict[Problem, str]:
        """What counts against the work, or would but for who accepts it."""
        return {_bare(one): one.waived for one in self.report.problems} if self.report else {}

    @cached_property
    def _are_others_old(self) -> bool:
        """Whether all that are new are told, so that the others were there before."""
        report = self.report
        if report is None or not report.old_problems:
            return False
        return len(report.problems) == (report.problem_count or 0) - report.old_problems

    @property
    def hidden_problems(self) -> int:
        return self.problems.total - len(self.shown_problems) if self.problems else 0

    @cached_property
    def spots(self) -> Spots:
        code = FAILED.get(self.row.gate, "")
        weight = CHECK_ENFORCEMENT.get(code, Enforcement.HARD).value
        return Spots(self.run, weight, self._named)

    def _named(self) -> set[str]:
        """The files that the report names, or may mean."""
        problems = self.problems.problems[:MAX_PROBLEMS_SHOWN] if self.problems else ()
        unrun = self.report.unrun if self.report else ()
        coverage = self._record.coverage
        folder = folder_of(self.row.component)
        suites = {one.suite for one in self.cases}
        return {
            *(one.path for one in self.cases),
            *(one.path for one in problems),
            *(path for path, _, _ in unrun),
            *(islice(coverage.files, MAX_NAMED) if coverage else ()),
            *(path for suite in suites for path, _ in modules_of(suite, folder)),
        }


def _bare(problem: Problem) -> Problem:
    return replace(problem, waived="", anchor="")
