"""From rows of gates to the HTTP contract's answers."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.urls import reverse

from verification.runs.gating.going import evaluation_under_way, rows_of
from verification.runs.gating.schemas import GateOut, GoingGateOut, TestsOut
from verification.runs.models import Evaluation, Run, RunState


def gate(row: Any, run: Run, evaluation: Evaluation) -> GateOut:
    return GateOut(
        gate=row.gate,
        component=row.component,
        status=row.status,
        command=row.command,
        exit_code=row.exit_code,
        started_ms=row.started_ms,
        duration_ms=row.duration_ms,
        tests=TestsOut(**row.tests) if row.tests else None,
        problems=row.told_problem_count,
        new_lines=row.told_changed_lines,
        is_guess=bool(row.told_is_guess),
        is_word=bool(row.told_is_word),
        reused_from=str(row.reused_from.uuid) if row.reused_from else None,
        detail=row.detail,
        log_url=_url(
            "download_gate_log",
            run_id=run.uuid,
            evaluation_id=evaluation.uuid,
            position=row.position,
        )
        if row.log_id
        else None,
    )


def going(run: Run) -> list[GoingGateOut]:
    """Nothing, of a run that is over or waits for a worker."""
    if run.state != RunState.RUNNING:
        return []
    evaluation = evaluation_under_way(run, list(run.evaluations.order_by("started_at", "id")))
    return [
        GoingGateOut(
            gate=row.gate,
            component=row.component,
            status=row.status or None,
            started_at=row.started_at,
            ended_at=row.ended_at,
            written=row.written,
            output_url=_url("gate_output", run_id=run.uuid, gate_id=row.pk),
        )
        for row in (rows_of(evaluation) if evaluation else ())
    ]


def _url(name: str, **parts: object) -> str:
    return f"{settings.BASE_URL}{reverse(f'api:{name}', kwargs=parts)}"
