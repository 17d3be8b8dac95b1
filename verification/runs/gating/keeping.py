"""The rows of an evaluation's gates."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from verification.engine.gates import GateReport
from verification.runs.evidence_store import name_blobs
from verification.runs.models import Blob, GateProgress, GateResult, Run
from verification.runs.work import Work


def keep_gates(work: Work, evaluation_id: int, reports: Sequence[GateReport]) -> None:
    """Write them, in the caller's transaction; what was shown while they ran has had its day."""
    if not reports:
        return
    digests = [one for report in reports for one in (report.log, report.record) if one]
    blobs = name_blobs(work.project, dict(digests)) if digests else {}
    origins = {UUID(report.reused_from) for report in reports if report.reused_from}
    runs = dict(Run.objects.filter(uuid__in=origins).values_list("uuid", "pk")) if origins else {}
    GateProgress.objects.filter(evaluation=evaluation_id).delete()
    GateResult.objects.bulk_create(
        GateResult(
            evaluation_id=evaluation_id,
            position=position,
            gate=report.gate,
            component=report.component,
            status=report.status,
            command=report.command,
            exit_code=report.exit_code,
            started_ms=report.started_ms,
            duration_ms=report.duration_ms,
            tests=_counts(report),
            report=report.to_json(),
            inputs_sha256=report.inputs_sha256,
            reused_from_id=runs.get(UUID(report.reused_from)) if report.reused_from else None,
            log=_blob(blobs, report.log),
            record=_blob(blobs, report.record),
            detail=report.detail or report.contradiction,
        )
        for position, report in enumerate(reports)
    )


def _counts(report: GateReport) -> dict[str, int] | None:
    tests = report.tests
    if tests is None:
        return None
    return {
        "passed": tests.passed,
        "failed": tests.failed,
        "errors": tests.errors,
        "skipped": tests.skipped,
    }


def _blob(blobs: dict[str, Blob], digest: tuple[str, int] | None) -> Blob | None:
    return blobs.get(digest[0]) if digest else None
