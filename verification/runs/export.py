"""Runs as CSV, for spreadsheets that would run what looks like a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from loomverify.spreadsheets import plain_cell
from verification.runs.models import Run

EXPORT_COLUMNS = (
    "id", "created_at", "finished_at", "state", "outcome", "verdict", "reason_code", "process",
    "phase", "task", "title", "tier_requested", "tier_achieved", "hard", "advisory", "review",
    "cost_usd",
)  # fmt: skip


def runs_csv(rows: Iterable[Run]) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(EXPORT_COLUMNS)
    for run in rows:
        writer.writerow([plain_cell(value) for value in _export_row(run)])
    return text.getvalue()


def _export_row(run: Run) -> tuple[object, ...]:
    return (
        run.uuid,
        run.created_at.isoformat(),
        run.finished_at.isoformat() if run.finished_at else "",
        run.state,
        run.outcome or "",
        run.verdict,
        run.reason_code,
        run.process.slug,
        run.phase_id,
        run.task.external_id,
        run.title,
        run.tier_requested,
        run.tier_achieved,
        run.hard_count,
        run.advisory_count,
        run.review_state,
        f"{run.cost_usd:.6f}",
    )
