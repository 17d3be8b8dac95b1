"""What sandboxed gates report, and what follows from a report. Running them is a port's part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol, Self

from processes.definition.model import Enforcement, Severity
from verification.engine.case import Case, Ports
from verification.engine.finding import LINE, Finding
from verification.engine.gating import waiving
from verification.engine.gating.anchoring import by_line
from verification.engine.gating.essence import essence
from verification.engine.gating.stages import BUILD, LINT, SECURITY, TEST
from verification.engine.outcome import FindingVerdict, Source, Status
from verification.engine.policy import CHECK_ENFORCEMENT
from verification.engine.reports.model import (
    Problem,
    ProblemSeverity,
    TestCase,
    TestCounts,
)

OUT_OF_MEMORY_EXIT_CODE = 137
NO_TESTS_EXIT_CODES = (0, 5)
"""How test runners end that find nothing to run: pytest with 5. With 1 they end of all else, too."""
WORD = "The work itself names this report."
FAILED: Mapping[str, str] = {
    "install": "install_failed",
    "build": "build_failed",
    "types": "types_failed",
    "test": "tests_failed",
    "lint": "lint_failed",
    "security": "security_failed",
    "run": "run_failed",
}


def called(component: str) -> str:
    """As people know it: the language alone, where all of the work is one component's.

    >>> called(". (python)"), called("api (python)")
    ('python', 'api (python)')
    """
    is_all = component.startswith(". (")
    return component.removeprefix(". (").removesuffix(")") if is_all else component


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
        return f"{self.gate} of {called(self.component)}" if self.component else self.gate

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


@dataclass(frozen=True, slots=True)
class Asked:
    """What the gates add to tier 1: nothing, where none was asked for."""

    findings: tuple[Finding, ...] = ()
    reports: tuple[GateReport, ...] = ()


def ask(case: Case, ports: Ports) -> Asked:
    """Run the phase's gates, whatever else was found: who mends the work learns all at once.

    Source: docs/engine.md, "Gates".
    """
    if not case.phase.gates or ports.gates is None:
        return Asked()
    named = by_line(ports.workspace.read)
    found = ports.gates.run(case)
    anchored = [replace(one, problems=tuple(map(named, one.problems))) for one in found]
    reports = _waived(anchored, case.waivers)
    told = {report.gate for report in reports}
    wanting = [GateReport(gate, Status.ERROR) for gate in case.phase.gates if gate not in told]
    findings = (one for report in (*reports, *wanting) for one in findings_of(report))
    return Asked(tuple(dict.fromkeys(findings)), tuple(reports))


def _waived(reports: Sequence[GateReport], waivers: Mapping[str, str]) -> Sequence[GateReport]:
    found = (finding for report in reports for finding in findings_of(report))
    words = waiving.accepted(found, waivers)
    return [_marked(report, words) for report in reports] if words else reports


def _marked(report: GateReport, words: Mapping[Finding, str]) -> GateReport:
    code = FAILED[report.gate]
    marked = (
        replace(one, waived=words.get(_problem(report, code, one), one.waived))
        for one in report.problems
    )
    return replace(report, problems=tuple(marked))


def told(report: GateReport) -> str:
    """A report in words, whole."""
    ended = "" if report.exit_code is None else f", exit code {report.exit_code}"
    lines = [f"{report.name}: {report.status}{ended}"]
    if report.tests:
        lines.append(_counted(report.tests))
    lines += [f"{one.path}:{one.line or ''} {one.name}: {one.message}" for one in report.failures]
    for one in report.problems:
        waived = f" {one.waived}" if one.waived else ""
        lines.append(f"{one.path}:{one.line or ''} {one.rule} {one.message}{waived}")
    if report.old_failures or report.old_problems:
        lines.append(f"{_old(report)} there before the work")
    word = WORD if report.is_word else ""
    return "\n".join([*lines, *filter(None, (word, report.contradiction, report.detail))])


def findings_of(report: GateReport) -> Iterator[Finding]:
    """What a report says of the work; one that contradicts itself says nothing of it.

    Source: docs/engine.md, "Gates".
    """
    name = report.name
    if report.is_lost:
        yield _lost(report, "sandbox_unavailable", report.detail or f"{name} was lost.")
    elif report.status is Status.ERROR:
        yield _lost(report, "gate_error", report.detail or f"{name} could not be run.")
    elif report.status is Status.TIMED_OUT:
        yield _violated(report, "gate_timed_out", report.detail or f"{name} took too long.")
    elif said := contradiction_of(report):
        yield _lost(report, "gate_contradiction", f"{name} {said}.")
    elif report.exit_code == OUT_OF_MEMORY_EXIT_CODE:
        yield _violated(report, "gate_out_of_memory", f"{name} ran out of memory.")
    elif report.ran_no_test:
        yield _violated(report, "no_tests", _no_tests(report))
    elif report.status is Status.FAILED or report.gate in (LINT, SECURITY):
        yield from _failed(report)


def _failed(report: GateReport) -> Iterator[Finding]:
    """One finding for each failed test or problem that the report names; else one for the gate."""
    reason_code = FAILED[report.gate]
    for case in report.failures:
        told = essence(case.message)
        said = f"{case.name}: {told}" if told else f"{case.name} failed."
        finding = _violated(report, reason_code, said)
        yield replace(finding, path=case.path, line=case.line)
    for problem in report.problems:
        yield _problem(report, reason_code, problem)
    blamed = [one for one in report.problems if not is_warning(report, one)]
    total = (report.problem_count or 0) - report.old_problems
    if count := waiving.unnamed(report.problems, total):
        said = f"{report.name} found {count} more, which are not told one by one."
        yield _violated(report, reason_code, said)
    if report.old_failures or report.old_problems:
        yield _before(report, reason_code)
    if not (report.failures or blamed or report.is_old) and report.status is Status.FAILED:
        yield _violated(report, reason_code, report.detail or f"{report.name} failed.")


def is_warning(report: GateReport, problem: Problem) -> bool:
    """What a build says beside its errors, and would have been built with."""
    found = {one.severity for one in report.problems}
    mild = {ProblemSeverity.LOW}
    if ProblemSeverity.HIGH in found:
        mild.add(ProblemSeverity.MEDIUM)
    return report.gate == BUILD and problem.severity in mild


def _before(report: GateReport, reason_code: str) -> Finding:
    said = f"{report.name}: {_old(report)} there before the work."
    return replace(_violated(report, reason_code, said), enforcement=Enforcement.OBSERVE)


def _old(report: GateReport) -> str:
    counts = ((report.old_failures, "failure"), (report.old_problems, "problem"))
    told = [f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts if count]
    is_one = sum(count for count, _ in counts) == 1
    return f"{' and '.join(told)} {'was' if is_one else 'were'}"


def _problem(report: GateReport, reason_code: str, problem: Problem) -> Finding:
    said = f"{problem.rule}: {problem.message}" if problem.rule else problem.message
    finding = _violated(report, reason_code, said or f"{report.name} failed.")
    is_mild = report.gate == SECURITY and problem.severity is not ProblemSeverity.HIGH
    is_mild = is_mild or is_warning(report, problem)
    finding = replace(
        finding,
        enforcement=Enforcement.ADVISORY if is_mild else finding.enforcement,
        severity=Severity.ERROR if problem.severity is ProblemSeverity.HIGH else None,
        path=problem.path,
        line=problem.line,
        column=problem.column,
        place={**finding.place, LINE: problem.anchor} if problem.anchor else finding.place,
    )
    is_waived = bool(problem.waived) and report.gate == SECURITY
    return waiving.waived(finding, problem.waived) if is_waived else finding


def all_tests_passed(reports: Sequence[GateReport]) -> bool:
    """Whether each component's tests are known to pass, by more than words meant for people."""
    tests = [one for one in reports if one.gate == TEST]
    return bool(tests) and all(one.has_passing_tests for one in tests)


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
    return f"{said}, and its report says {_counted(report.tests)}"


def _counted(counts: TestCounts) -> str:
    return f"{counts.passed} passed, {counts.failed} failed, {counts.errors} errors"


def _no_tests(report: GateReport) -> str:
    where = f" of {report.component}" if report.component else ""
    if report.tests and report.tests.skipped:
        return f"No test{where} ran: {report.tests.skipped} skipped."
    return f"There are no tests{where}."


def _lost(report: GateReport, reason_code: str, message: str) -> Finding:
    return Finding(
        rule=report.gate,
        reason_code=reason_code,
        message=message,
        enforcement=Enforcement.HARD,
        verdict=FindingVerdict.UNKNOWN,
        source=Source.GATE,
        place=_place(report),
    )


def _violated(report: GateReport, reason_code: str, message: str) -> Finding:
    # A linter that took too long weighs no more than all that it could have found.
    weight = FAILED[LINT] if report.gate == LINT else reason_code
    return Finding(
        rule=report.gate,
        reason_code=reason_code,
        message=message,
        enforcement=CHECK_ENFORCEMENT[weight],
        source=Source.GATE,
        place=_place(report),
    )


def _place(report: GateReport) -> Mapping[str, str]:
    return {"component": report.component} if report.component else {}
