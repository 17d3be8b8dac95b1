"""What sandboxed gates report. Running them is a port's part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, Self

from verification.engine.case import Case
from verification.engine.gating.stages import BUILD, LINT, TEST
from verification.engine.outcome import Status
from verification.engine.reports.model import Problem, ProblemSeverity, TestCase, TestCounts

OUT_OF_MEMORY_EXIT_CODE = 137
NO_TESTS_EXIT_CODES = (0, 5)
"""How test runners end that find nothing to run: pytest with 5. With 1 they end of all else, too."""


def called(component: str) -> str:
    """As people know it: the language alone, where all of the work is one component's.

    >>> called(". (python)"), called("api (python)")
    ('python', 'api (python)')
    """
    is_all = component.startswith(". (")
    return component.removeprefix(". (").removesuffix(")") if is_all else component


def named(gate: str, component: str) -> str:
    """As findings and pages call it."""
    return f"{gate} of {called(component)}" if component else gate


@dataclass(frozen=True, slots=True)
class GateReport:
    """How one gate ended. `tests` None: no machine-readable report; `exit_code` None: none came.

    `failures` and `problems` are the first of them; `problem_count` counts all, None where nothing
    was looked for. With a base, `old_failures` and `old_problems` count those that were there before
    the work and are left out; `is_old`: nothing else is wrong. `coverage` is (covered, all) lines,
    `changed_lines` the same of those that are new, of which no test ran `unrun`: path, first,
    last; `unreported` are changed files that no report speaks of, with how many of their lines are
    new code, 0 where that is not known. `started_ms` counts from the first gate's begin. `is_guess`: counted in a text for people.
    `is_word`: told by a report that the work names itself; `is_coverage_word`: so is which lines ran.
    `is_lost`: the sandbox failed, not the work. `contradiction` says in words what cannot be true
    together. `log` and `record` are SHA-256 and size of what is kept of the output and of all that
    was reported; `inputs_sha256` names all that it depends on, '' for what is not to be relied on
    later; `reused_from` is the UUID of the run that ran it.
    """

    gate: str
    status: Status
    component: str = ""
    exit_code: int | None = None
    tests: TestCounts | None = None
    detail: str = ""
    command: str = ""
    started_ms: int = 0
    duration_ms: int = 0
    failures: tuple[TestCase, ...] = ()
    problems: tuple[Problem, ...] = ()
    problem_count: int | None = None
    old_failures: int = 0
    old_problems: int = 0
    is_old: bool = False
    coverage: tuple[int, int] | None = None
    changed_lines: tuple[int, int] | None = None
    unrun: tuple[tuple[str, int, int], ...] = ()
    unreported: tuple[tuple[str, int], ...] = ()
    is_guess: bool = False
    is_word: bool = False
    is_coverage_word: bool = False
    is_lost: bool = False
    contradiction: str = ""
    inputs_sha256: str = ""
    log: tuple[str, int] | None = None
    record: tuple[str, int] | None = None
    reused_from: str = ""

    @property
    def name(self) -> str:
        return named(self.gate, self.component)

    @property
    def was_cut_off(self) -> bool:
        """It was stopped before its end: what the rest would have told, nobody knows."""
        return self.status is Status.TIMED_OUT or self.exit_code == OUT_OF_MEMORY_EXIT_CODE

    @property
    def ran_no_test(self) -> bool:
        """Its report counts no test that ran: none was there, or all were skipped."""
        return self.gate == TEST and self.tests is not None and self.tests.ran == 0

    @property
    def has_passing_tests(self) -> bool:
        is_test = self.gate == TEST and self.status is Status.PASSED
        is_proof = is_test and not (self.is_guess or self.is_word)
        return is_proof and self.tests is not None and self.tests.passed > 0

    @property
    def is_excused(self) -> bool:
        """It failed, and what failed was there before; lint never weighs so much."""
        return bool(self.old_failures) or (self.is_old and self.gate != LINT)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Self:
        read = {**saved, "status": Status(saved["status"])}
        read["tests"] = TestCounts(**saved["tests"]) if saved["tests"] is not None else None
        read["failures"] = tuple(map(TestCase.from_json, saved["failures"]))
        read["problems"] = tuple(map(Problem.from_json, saved["problems"]))
        for name in ("unrun", "unreported"):
            read[name] = tuple(tuple(one) for one in saved.get(name, ()))
        for name in ("log", "record", "coverage", "changed_lines"):
            read[name] = tuple(saved[name]) if saved.get(name) else None
        return cls(**read)


class Gates(Protocol):
    """Where the submitted work is built and tried."""

    def run(self, case: Case) -> Sequence[GateReport]:
        """Run the phase's gates in their order. A gate that is lost is a report."""


def is_warning(report: GateReport, problem: Problem) -> bool:
    """What a build says beside its errors, and would have been built with."""
    found = {one.severity for one in report.problems}
    mild = {ProblemSeverity.LOW}
    if ProblemSeverity.HIGH in found:
        mild.add(ProblemSeverity.MEDIUM)
    return report.gate == BUILD and problem.severity in mild


def all_tests_passed(reports: Sequence[GateReport]) -> bool:
    """Whether each component's tests are known to pass, by more than words meant for people."""
    tests = [one for one in reports if one.gate == TEST]
    return bool(tests) and all(one.has_passing_tests for one in tests)


def build_passed(reports: Sequence[GateReport]) -> bool:
    """Whether each component that has a build is known to build."""
    builds = [report for report in reports if report.gate == BUILD]
    return bool(builds) and all(
        report.status is Status.PASSED and not report.is_lost and not contradiction_of(report)
        for report in builds
    )


def contradiction_of(report: GateReport) -> str:
    """What of it cannot be true together, in words; '' where nothing speaks against it."""
    has_no_end = report.is_lost or report.status in (Status.ERROR, Status.TIMED_OUT)
    if report.contradiction or has_no_end:
        return report.contradiction
    return _told(report) if _contradicts_itself(report) else ""


def _contradicts_itself(report: GateReport) -> bool:
    """Whether status, exit code and counted tests disagree, of those that are known."""
    code, tests = report.exit_code, report.tests
    if report.ran_no_test and code in (None, *NO_TESTS_EXIT_CODES):
        return False
    went_well = set()
    if code is not None:
        went_well.add(code == 0)
    if tests is not None and tests.ran:
        went_well.add(tests.failed + tests.errors == 0)
    if report.ran_no_test and code != OUT_OF_MEMORY_EXIT_CODE:
        went_well.add(True)
    if code != OUT_OF_MEMORY_EXIT_CODE or report.status is Status.SKIPPED:
        went_well.add(report.status is not Status.FAILED)
    return len(went_well) > 1


def _told(report: GateReport) -> str:
    said = f"was reported as {report.status.value}"
    if report.exit_code is not None:
        said = f"{said} and ended with exit code {report.exit_code}"
    if report.tests is None:
        return said
    return f"{said}, and its report says {counted_words(report.tests)}"


def counted_words(counts: TestCounts) -> str:
    flaky = f" ({counts.flaky} flaky)" if counts.flaky else ""
    return f"{counts.passed} passed{flaky}, {counts.failed} failed, {counts.errors} errors"
