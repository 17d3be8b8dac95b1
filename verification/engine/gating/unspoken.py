"""Test files that ended well and told of no test, though they have some."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from verification.engine.gates import GateReport
from verification.engine.gating.components import Component
from verification.engine.gating.judging import Judged
from verification.engine.outcome import Status
from verification.engine.reports.model import CaseStatus, TestCase, inner_path

MAX_FILE_BYTES = 2_000_000
MAX_FILES = 1_000
IMPORTED = (b"'node:test'", b'"node:test"')
ENDINGS = (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts")


def spoken(told: Judged, component: Component, read: Callable[[str], bytes | None]) -> Judged:
    """Doubt a run in which a test file of Node ended before its tests did.

    Whatever calls `process.exit(0)` in a test takes all of the file's tests along, failed ones
    too: Node's runner then tells of the file itself, as if that were a test, and that it passed.
    `read` gives None for no file.
    """
    report = told.report
    if told.tests is None or report.status is not Status.PASSED or report.contradiction:
        return told
    named = [path for case in told.tests.cases if (path := _file_of(case, component))]
    for path in named[:MAX_FILES]:
        content = read(path) or b""
        if len(content) <= MAX_FILE_BYTES and any(one in content for one in IMPORTED):
            return replace(told, report=_doubted(report, path))
    return told


def _file_of(case: TestCase, component: Component) -> str:
    """Of a case that stands for a whole file."""
    is_one = case.status is CaseStatus.PASSED and not case.suite and case.name.endswith(ENDINGS)
    return inner_path(case.name, component.folder) if is_one else ""


def _doubted(report: GateReport, path: str) -> GateReport:
    why = f"ended well, and of the tests in {path} none was told: it ended before they did"
    return replace(report, contradiction=why)
