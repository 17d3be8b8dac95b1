"""Rows of gates for tests, as a worker with a sandbox would have written them."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.utils import timezone

from tests.judged import blob_of
from verification.engine.gates import GateReport
from verification.engine.outcome import Status
from verification.engine.reports.model import (
    CaseStatus,
    Coverage,
    Problem,
    ProblemReport,
    TestCase,
    TestReport,
    counted,
    gathered,
)
from verification.engine.reports.record import Record
from verification.runs.models import Evaluation, GateProgress, GateResult, Run


def make_gate(
    evaluation: Evaluation,
    gate: str = "test",
    *,
    tests: TestReport | None = None,
    problems: ProblemReport | None = None,
    coverage: Coverage | None = None,
    log: bytes | None = b"what it wrote\n",
    reused_from: Run | None = None,
    **columns: Any,
) -> GateResult:
    """A gate with its log, and with a record of what it reported."""
    project = evaluation.run.project
    status = columns.pop("status", Status.PASSED)
    report = GateReport(
        gate,
        status,
        tests=tests.counts if tests else None,
        failures=tuple(one for one in tests.cases if one.status.is_bad)[:50] if tests else (),
        problems=problems.problems[:50] if problems else (),
        problem_count=problems.total if problems else None,
        is_guess=bool(tests and tests.is_guess),
        is_word=columns.pop("is_word", False),
        is_lost=columns.pop("is_lost", False),
        contradiction=columns.pop("contradiction", ""),
        coverage=coverage.lines if coverage else None,
        changed_lines=columns.pop("changed_lines", None),
        unrun=columns.pop("unrun", ()),
        reused_from=str(reused_from.uuid) if reused_from else "",
    )
    record = Record(tests, problems, coverage)
    return GateResult.objects.create(
        evaluation=evaluation,
        gate=gate,
        position=evaluation.gates.count(),
        report=report.to_json(),
        tests=asdict(report.tests) if report.tests else None,
        reused_from=reused_from,
        log=None if log is None else blob_of(project, log),
        record=None if record.is_empty else blob_of(project, record.to_json()),
        status=status,
        **{
            "component": ". (python)",
            "command": f"run-{gate}",
            "exit_code": 0,
            "duration_ms": 1_500,
            **columns,
        },
    )


def make_progress(evaluation: Evaluation, gate: str = "test", **columns: Any) -> GateProgress:
    tail = columns.pop("tail", "collected 2 items\n")
    return GateProgress.objects.create(
        evaluation=evaluation,
        gate=gate,
        tail=tail,
        **{
            "component": ". (python)",
            "started_at": timezone.now() - timedelta(seconds=4),
            "written": len(tail),
            **columns,
        },
    )


def going(run: Run) -> Evaluation:
    """An evaluation that has begun and not ended."""
    return Evaluation.objects.create(
        run=run,
        purpose="live",
        seq=run.evaluations.count() + 1,
        process_version=run.process_version,
        verifier_version=run.verifier_version,
        engine_build="1",
        started_at=timezone.now(),
    )


def passed(name: str, **fields: Any) -> TestCase:
    return TestCase(name, CaseStatus.PASSED, **fields)


def failed(name: str, **fields: Any) -> TestCase:
    return TestCase(name, CaseStatus.FAILED, **fields)


CALC = b"".join(b"line_%d = %d\n" % (n, n) for n in range(1, 30))
TESTS = counted(
    [
        passed("test_adds", suite="tests.test_calc"),
        failed(
            "test_divides",
            suite="tests.test_calc",
            path="tests/test_calc.py",
            line=12,
            message="assert 3 == 4",
        ),
        passed("test_reads", suite="tests.test_io"),
        TestCase("test_later", CaseStatus.SKIPPED, suite="tests.test_io"),
    ]
)
PROBLEMS = gathered(
    [
        Problem("`os` imported but unused", "tests/test_calc.py", 3, 8, "F401"),
        Problem("No such module", rule="E404"),
    ]
)
