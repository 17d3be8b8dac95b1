"""What sandboxed gates report, and what follows from a report. Running them is a port's part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from processes.definition.model import Enforcement
from verification.engine.case import Case
from verification.engine.finding import Finding
from verification.engine.outcome import FindingVerdict, Source, Status
from verification.engine.policy import CHECK_ENFORCEMENT
from verification.engine.reports.model import TestCounts

TEST = "test"
OUT_OF_MEMORY_EXIT_CODE = 137
NO_TESTS_EXIT_CODES = (0, 1, 5)
"""How test runners end that find nothing to run: pytest with 5, several others with 1."""
FAILED: Mapping[str, str] = {
    "install": "install_failed",
    "build": "build_failed",
    "types": "types_failed",
    "test": "tests_failed",
    "lint": "lint_failed",
    "security": "security_failed",
    "run": "run_failed",
}


@dataclass(frozen=True, slots=True)
class GateReport:
    """How one gate ended. `tests` None: no machine-readable report; `exit_code` None: none came."""

    gate: str
    status: Status
    component: str = ""
    exit_code: int | None = None
    tests: TestCounts | None = None
    detail: str = ""

    @property
    def name(self) -> str:
        return f"{self.gate} of {self.component}" if self.component else self.gate

    @property
    def ran_no_test(self) -> bool:
        """Its report counts no test that ran: none was there, or all were skipped."""
        return self.gate == TEST and self.tests is not None and self.tests.ran == 0


class Gates(Protocol):
    """Where the submitted work is built and tried."""

    def run(self, case: Case) -> Sequence[GateReport]:
        """Run the phase's gates in their order. A gate that is lost is a report."""


def findings_of(report: GateReport) -> Iterator[Finding]:
    """What a report says of the work; one that contradicts itself says nothing of it.

    Source: docs/engine.md, "Gates".
    """
    name = report.name
    if report.status is Status.ERROR:
        yield _lost(report, "gate_error", report.detail or f"{name} could not be run.")
    elif report.status is Status.TIMED_OUT:
        yield _violated(report, "gate_timed_out", f"{name} took too long.")
    elif _contradicts_itself(report):
        yield _lost(report, "gate_contradiction", f"{name} {_told(report)}.")
    elif report.exit_code == OUT_OF_MEMORY_EXIT_CODE:
        yield _violated(report, "gate_out_of_memory", f"{name} ran out of memory.")
    elif report.ran_no_test:
        yield _violated(report, "no_tests", _no_tests(report.tests))
    elif report.status is Status.FAILED:
        yield _violated(report, FAILED[report.gate], report.detail or f"{name} failed.")


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
    counts = report.tests
    told = f"{counts.passed} passed, {counts.failed} failed, {counts.errors} errors"
    return f"{said}, and its report says {told}"


def _no_tests(tests: TestCounts | None) -> str:
    if tests and tests.skipped:
        return f"No test ran: {tests.skipped} skipped."
    return "There are no tests."


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
    return Finding(
        rule=report.gate,
        reason_code=reason_code,
        message=message,
        enforcement=CHECK_ENFORCEMENT[reason_code],
        source=Source.GATE,
        place=_place(report),
    )


def _place(report: GateReport) -> Mapping[str, str]:
    return {"component": report.component} if report.component else {}
