"""What one gate reported, as people read it: tests as a tree, problems with their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import urlencode

from django.urls import reverse

from processes.definition.model import Enforcement
from verification.engine.gates import FAILED, GateReport
from verification.engine.policy import CHECK_ENFORCEMENT
from verification.engine.reports.model import (
    CaseStatus,
    Problem,
    ProblemReport,
    TestCase,
    TestCounts,
    TestReport,
)
from verification.engine.reports.record import Record
from verification.runs.artefacts import MAX_SHOWN_LINES, Mark, Text, shown_file
from verification.runs.evidence_store import EvidenceLost, read_blob
from verification.runs.gating.page import ShownGate
from verification.runs.models import Blob, GateResult, Run, RunFile

MAX_CASES_SHOWN = 500
MAX_PROBLEMS_SHOWN = 500
MAX_CONTEXTS = 20
MAX_OPEN = 5
LINES_AROUND = 2
MAX_RECORD_BYTES = 8_000_000
"""What is longer is read by who asks for all of it; the page shows what the report names."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in the work. `url` '' where no such file was submitted."""

    words: str
    url: str = ""
    context: Text | None = None


@dataclass(frozen=True, slots=True)
class ShownTest:
    case: TestCase
    suite: str
    spot: Spot | None
    is_open: bool = False
    is_old: bool = False

    @property
    def is_broken(self) -> bool:
        """It did not get as far as to fail."""
        return self.case.status is CaseStatus.ERROR


@dataclass(frozen=True, slots=True)
class TestGroup:
    """The tests of a file, or of a suite where no file is known."""

    title: str
    tests: Sequence[ShownTest]

    @property
    def bad(self) -> list[ShownTest]:
        return [one for one in self.tests if one.case.status.is_bad]

    @property
    def folded(self) -> list[tuple[str, list[ShownTest]]]:
        kinds = (CaseStatus.PASSED, CaseStatus.SKIPPED)
        found = [(kind.value, [t for t in self.tests if t.case.status is kind]) for kind in kinds]
        return [one for one in found if one[1]]


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
    def unrun(self) -> list[Spot]:
        """New lines that no test ran."""
        places = self.report.unrun if self.report else ()
        found = []
        for path, first, last in places:
            words = f"{path}:{first}" if first == last else f"{path}:{first}-{last}"
            spot = self._spot(path, first)
            found.append(Spot(words, spot.url if spot else ""))
        return found

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
        found: dict[str, list[ShownTest]] = {}
        paths = {one.suite: one.path for one in self.cases if one.path}
        for number, case in enumerate(self.cases):
            with_context = number < MAX_CONTEXTS and case.status.is_bad
            spot = self._spot(case.path, case.line, with_context=with_context)
            path = case.path or paths.get(case.suite, "")
            is_old = self._new is not None and (case.suite, case.name) not in self._new
            shown = ShownTest(
                case, inner_suite(case.suite, path), spot, number < MAX_OPEN, is_old=is_old
            )
            found.setdefault(path or case.suite or "Tests", []).append(shown)
        return [TestGroup(title, tests) for title, tests in found.items()]

    @cached_property
    def shown_problems(self) -> list[ShownProblem]:
        rows = self.problems.problems[:MAX_PROBLEMS_SHOWN] if self.problems else ()
        told = self._told_problems
        return [
            ShownProblem(
                one,
                self._spot(one.path, one.line, column=one.column),
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
    def _files(self) -> dict[str, RunFile]:
        """Of the files of the run those that the report names."""
        named = self.problems.problems[:MAX_PROBLEMS_SHOWN] if self.problems else ()
        unrun = self.report.unrun if self.report else ()
        told = {one.path for one in self.cases} | {one.path for one in named}
        paths = (told | {path for path, _, _ in unrun}) - {""}
        rows = RunFile.objects.filter(run=self.run, path__in=paths).select_related("blob__project")
        return {row.path: row for row in rows} if paths else {}

    def _spot(
        self, path: str, line: int | None, *, column: int | None = None, with_context: bool = False
    ) -> Spot | None:
        if not path:
            return None
        words = ":".join(str(one) for one in (path, line, column if line else None) if one)
        row = self._files.get(path)
        if row is None:
            return Spot(words)
        url = reverse("run_file_page", args=[self.run.project.slug, self.run.uuid, path])
        if not line:
            return Spot(words, url)
        context = self._context(row, line) if with_context else None
        return Spot(words, f"{url}?{self._marked(line)}#L{line}", context)

    def _marked(self, line: int) -> str:
        """How an address marks a line, and begins near it where it stands far down."""
        query = {"places": f"{line}.{self._enforcement}"}
        if line > MAX_SHOWN_LINES:
            query["from"] = str(line - LINES_AROUND)
        return urlencode(query)

    @property
    def _enforcement(self) -> str:
        code = FAILED.get(self.row.gate, "")
        return CHECK_ENFORCEMENT.get(code, Enforcement.HARD).value

    def _context(self, row: RunFile, line: int) -> Text | None:
        content = self._content(row.blob)
        if content is None:
            return None
        first, limit = line - LINES_AROUND, 2 * LINES_AROUND + 1
        marks = [Mark(self._enforcement, line)]
        text = shown_file(content, marks, first=first, limit=limit)
        holds_it = any(one.number == line for one in text.lines)
        return text if holds_it else None

    @cached_property
    def _contents(self) -> dict[str, bytes | None]:
        return {}

    def _content(self, blob: Blob) -> bytes | None:
        if blob.sha256 not in self._contents:
            try:
                self._contents[blob.sha256] = read_blob(blob)
            except EvidenceLost:
                self._contents[blob.sha256] = None
        return self._contents[blob.sha256]


def _bare(problem: Problem) -> Problem:
    return replace(problem, waived="", anchor="")


def inner_suite(suite: str, path: str) -> str:
    """What a suite says beyond the file it stands in; where no file is known, it is the title."""
    module = path.rpartition(".")[0].replace("/", ".")
    if not path or suite in (path, module):
        return ""
    return suite.removeprefix(f"{module}.") if module else suite
