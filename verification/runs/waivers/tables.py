"""Waivers as CSV."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from django.db.models import QuerySet

from verification.runs.exporting.tables import Table, csv_of
from verification.runs.models import Waiver
from verification.runs.waivers.selectors import WaiverState, state_of

MAX_ROWS = 10_000
COLUMNS = (
    "id", "state", "process", "rule", "path", "message", "reason", "created_by", "created_at",
    "until", "ended_by", "ended_at", "run", "fingerprint",
)  # fmt: skip


def waivers_table(rows: QuerySet[Waiver], now: datetime) -> Table:
    """The newest of them."""
    found = list(rows.order_by("-created_at", "-id")[: MAX_ROWS + 1])
    return Table("waivers", _csv(found[:MAX_ROWS], now), len(found) > MAX_ROWS)


def _csv(rows: list[Waiver], now: datetime) -> Iterator[str]:
    yield csv_of([COLUMNS])
    yield csv_of(_row(one, now) for one in rows)


def _row(row: Waiver, now: datetime) -> tuple[object, ...]:
    state = state_of(row, now)
    is_ended = state is WaiverState.ENDED
    return (
        row.uuid,
        state.value,
        row.process.slug,
        row.rule,
        row.path,
        row.message,
        row.reason,
        row.created_name,
        row.created_at.isoformat(),
        row.until,
        row.ended_name if is_ended else "",
        row.ended_at.isoformat() if is_ended and row.ended_at else "",
        row.run.uuid if row.run else "",
        row.fingerprint,
    )
