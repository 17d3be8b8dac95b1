"""What follows from what gates report: findings, and words for a judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from processes.definition.model import Enforcement, Severity
from verification.engine.case import Case, Ports
from verification.engine.finding import LINE, TEST, Finding
from verification.engine.gates import (
    OUT_OF_MEMORY_EXIT_CODE,
    GateReport,
    contradiction_of,
    counted_words,
    is_warning,
)
from verification.engine.gating import waiving
from verification.engine.gating.anchoring import by_line
from verification.engine.gating.essence import essence
from verification.engine.gating.stages import LINT, SECURITY
from verification.engine.outcome import FindingVerdict, Source, Status
from verification.engine.policy import CHECK_ENFORCEMENT
from verification.engine.reports.model import Problem, ProblemSeverity

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


NOTHING_TO_RUN = (
    "Nothing in the work is recognised that the gates of the phase could build or test."
)


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
    heard = {report.gate for report in reports}
    wanting = [GateReport(gate, Status.ERROR) for gate in case.phase.gates if gate not in heard]
    findings = [finding for report in reports for finding in findings_of(report)]
    missing = [finding for report in wanting for finding in findings_of(report)]
    if missing and heard <= {SECURITY} and not case.definition.needs_sandbox(case.phase):
        # Nothing in the work is recognised: the phase is decided without its gates.
        missing = [
            replace(one, enforcement=Enforcement.ADVISORY, message=NOTHING_TO_RUN)
            for one in missing[:1]
        ]
    return Asked(tuple(dict.fromkeys([*findings, *missing])), tuple(reports))


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
        lines.append(counted_words(report.tests))
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
        place = {**finding.place, TEST: f"{case.suite}::{case.name}" if case.suite else case.name}
        yield replace(finding, path=case.path, line=case.line, place=place)
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
