"""The rows of an evaluation's gates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

from django.db import transaction

from verification.engine.gates import GateReport
from verification.runs.evidence_store import name_blobs
from verification.runs.models import BaseGateResult, Blob, GateProgress, GateResult, Run
from verification.runs.models.evaluation import GateRow
from verification.runs.work import Work


def keep_gates(work: Work, evaluation_id: int, reports: Sequence[GateReport]) -> None:
    """Write them, in the caller's transaction; what was shown while they ran has had its day."""
    if reports:
        GateProgress.objects.filter(evaluation=evaluation_id).delete()
    _keep(GateResult, work, evaluation_id, reports)


def keep_base(work: Work, evaluation_id: int, reports: Sequence[GateReport]) -> None:
    """Write what was told of the base, in place of what a worker that was lost had written."""
    with transaction.atomic():
        BaseGateResult.objects.filter(evaluation=evaluation_id).delete()
        _keep(BaseGateResult, work, evaluation_id, reports)


def _keep(
    rows: type[GateRow], work: Work, evaluation_id: int, reports: Sequence[GateReport]
) -> None:
    if not reports:
        return
    digests = [one for report in reports for one in (report.log, report.record) if one]
    blobs = name_blobs(work.project, dict(digests)) if digests else {}
    origins = {UUID(report.reused_from) for report in reports if report.reused_from}
    runs = dict(Run.objects.filter(uuid__in=origins).values_list("uuid", "pk")) if origins else {}
    rows._default_manager.bulk_create(
        rows(
            evaluation_id=evaluation_id,
            position=position,
            gate=report.gate,
            component=report.component,
            status=report.status,
            command=report.command,
            exit_code=report.exit_code,
            started_ms=report.started_ms,
            duration_ms=report.duration_ms,
            tests=asdict(report.tests) if report.tests else None,
            report=report.to_json(),
            inputs_sha256=report.inputs_sha256,
            reused_from_id=runs.get(UUID(report.reused_from)) if report.reused_from else None,
            log=_blob(blobs, report.log),
            record=_blob(blobs, report.record),
            detail=report.detail or report.contradiction,
        )
        for position, report in enumerate(reports)
    )


def _blob(blobs: dict[str, Blob], digest: tuple[str, int] | None) -> Blob | None:
    return blobs.get(digest[0]) if digest else None
