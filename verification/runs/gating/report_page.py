"""What one gate reported, as people read it: tests as a tree, problems with their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from processes.definition.model import Enforcement
from verification.engine.gates import GateReport
from verification.engine.gating.findings import FAILED
from verification.engine.policy import CHECK_ENFORCEMENT
from verification.engine.reports.model import (
    Problem,
    ProblemReport,
    TestCase,
    TestReport,
)
from verification.engine.reports.record import Opened
from verification.runs.evidence_store import EvidenceLost, read_blob
from verification.runs.gating.covered_page import MAX_FILES, CoveredFile, covered_files
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
from verification.runs.gating.window import Window
from verification.runs.models import GateResult, Run

MAX_CASES_SHOWN = 150
MAX_PROBLEMS_SHOWN = 200
MAX_CONTEXTS = 10
MAX_OPEN = 5
MAX_NAMED = 2_000
NOTHING = slice(0)
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
    tests_from: int = 1
    problems_from: int = 1
    files_from: int = 1

    @property
    def gate(self) -> ShownGate:
        return ShownGate(self.row)

    @cached_property
    def report(self) -> GateReport | None:
        return GateReport.from_json(self.row.report) if self.row.report else None

    @cached_property
    def _record(self) -> Opened:
        """All that was reported, or nothing where it is too long or no longer stored."""
        blob = self.row.record
        if blob is None or blob.size > MAX_RECORD_BYTES:
            return Opened()
        try:
            return Opened.of(read_blob(blob))
        except EvidenceLost:
            return Opened()

    @cached_property
    def _tests(self) -> tuple[TestReport | None, Window]:
        """Those that are shown, and which they are."""
        part = Window(self.tests_from, MAX_CASES_SHOWN, *self._test_counts)
        if found := self._record.tests(part.part):
            return found[0], part
        report = self.report
        if report is None or report.tests is None:
            return None, part
        told = report.failures[part.part]
        return TestReport(report.tests, told, report.is_guess), part

    @property
    def _test_counts(self) -> tuple[int, int]:
        """How many are told one by one, and how many were counted."""
        report, told = self._record.tests(NOTHING) or (None, 0)
        counts = report.counts if report else self.report.tests if self.report else None
        if report is None and self.report:
            told = len(self.report.failures)
        return told, counts.ran + counts.skipped if counts else 0

    @cached_property
    def _problems(self) -> tuple[ProblemReport | None, Window]:
        report, told = self._record.problems(NOTHING) or (None, 0)
        if report:
            part = Window(self.problems_from, MAX_PROBLEMS_SHOWN, told, report.total)
            found = self._record.problems(part.part)
            return found[0] if found else None, part
        named = self.report.problems if self.report else ()
        count = self.report.problem_count if self.report else None
        part = Window(self.problems_from, MAX_PROBLEMS_SHOWN, len(named), count or 0)
        if self.report is None or count is None:
            return None, part
        return ProblemReport(count, named[part.part], self.report.is_guess), part

    @property
    def tests(self) -> TestReport | None:
        return self._tests[0]

    @property
    def tests_shown(self) -> Window:
        return self._tests[1]

    @property
    def problems(self) -> ProblemReport | None:
        return self._problems[0]

    @property
    def problems_shown(self) -> Window:
        return self._problems[1]

    @property
    def cases(self) -> Sequence[TestCase]:
        return self.tests.cases if self.tests else ()

    @cached_property
    def covered(self) -> list[CoveredFile]:
        unrun = self.report.unrun if self.report else ()
        return covered_files(self.spots, self._record.covered(), unrun, self.files_shown.part)

    @cached_property
    def files_shown(self) -> Window:
        unrun = {path for path, _, _ in self.report.unrun} if self.report else set()
        count = len(unrun | set(self._record.covered()))
        return Window(self.files_from, MAX_FILES, count, count)

    @property
    def covered_anchor(self) -> str:
        return f"#covered-{self.row.position}"

    @cached_property
    def _new(self) -> frozenset[tuple[str, str, str]] | None:
        """The tests that fail for the first time; None where all do, or not all are named."""
        report = self.report
        if report is None or not report.old_failures or self.tests is None:
            return None
        bad = self.tests.counts.failed + self.tests.counts.errors
        if len(report.failures) != bad - report.old_failures:
            return None
        return frozenset((one.suite, one.name, one.file) for one in report.failures)

    @cached_property
    def groups(self) -> list[TestGroup]:
        """Those with tests that failed come first. A test that passed often names no file."""
        repeated = repeated_of(self.cases)
        shown = [self._test(number, case, repeated) for number, case in enumerate(self.cases)]
        are_others = self.tests_shown.is_walked and self._record.tests(NOTHING) is not None
        ended = self._record.ended() if are_others else None
        return tree_of(shown, self._places, repeated, ended)

    def _test(self, number: int, case: TestCase, repeated: set[tuple[str, str]]) -> ShownTest:
        with_context = number < MAX_CONTEXTS and case.status.is_bad
        spot = self.spots.of(case.path, case.line, with_context=with_context)
        known_by = (case.suite, case.name, case.file)
        is_old = self._new is not None and known_by not in self._new
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
        rows = self.problems.problems if self.problems else ()
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

    @cached_property
    def spots(self) -> Spots:
        code = FAILED.get(self.row.gate, "")
        weight = CHECK_ENFORCEMENT.get(code, Enforcement.HARD).value
        return Spots(self.run, weight, self._named)

    def _named(self) -> set[str]:
        """The files that the report names, or may mean."""
        problems = self.problems.problems if self.problems else ()
        unrun = self.report.unrun if self.report else ()
        folder = folder_of(self.row.component)
        suites = {one.suite for one in self.cases}
        return {
            *(one.path for one in self.cases),
            *(one.path for one in problems),
            *(path for path, _, _ in unrun),
            *islice(self._record.covered(), MAX_NAMED),
            *(path for suite in suites for path, _ in modules_of(suite, folder)),
        }


def _bare(problem: Problem) -> Problem:
    return replace(problem, waived="", anchor="")
