"""Comparisons of a trial as CSV and JSON, page by page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

from verification.runs.exporting.tables import BYTE_ORDER_MARK, Table, csv_of
from verification.trials import selectors
from verification.trials.filters import ComparisonFilters
from verification.trials.models import Comparison, Trial
from verification.trials.pages.comparison_rows import shown_filters
from verification.trials.rendering import comparison

MAX_ROWS = 100_000
PAGE_ROWS = 1_000
COLUMNS = (
    "id", "compared_at", "origin", "process", "phase", "task", "run", "old", "new", "old_reason",
    "new_reason", "old_again", "new_again", "class", "finer", "rules", "what_differs", "judged",
    "acknowledged", "failed", "error", "old_cost_usd", "new_cost_usd", "old_ms", "new_ms", "kind",
)  # fmt: skip


def table_of(
    trial: Trial, filters: ComparisonFilters, kind: str, *, limit: int = MAX_ROWS
) -> Table:
    """The newest that fit, at most `limit`. `kind`: csv or json."""
    wanted = shown_filters(filters)
    rows = selectors.comparisons(trial, wanted).order_by()
    is_cut = rows[: limit + 1].count() > limit
    chunks = (_csv if kind == "csv" else _json)(trial, wanted, limit)
    return Table(f"comparisons-{trial.uuid.hex[:8]}", chunks, is_cut)


def _csv(trial: Trial, filters: ComparisonFilters, limit: int) -> Iterator[str]:
    yield BYTE_ORDER_MARK + csv_of([COLUMNS])
    for page in _pages(trial, filters, limit):
        yield csv_of(_cells(row) for row in page)


def _json(trial: Trial, filters: ComparisonFilters, limit: int) -> Iterator[str]:
    """An array as the API's list has it, one comparison a line."""
    before = "["
    for page in _pages(trial, filters, limit):
        lines = [json.dumps(comparison(trial, row), default=_plain) for row in page]
        yield f"{before}\n" + ",\n".join(lines)
        before = ","
    yield "[]\n" if before == "[" else "\n]\n"


def _pages(trial: Trial, filters: ComparisonFilters, limit: int) -> Iterator[list[Comparison]]:
    cursor: str | None = ""
    while cursor is not None and limit > 0:
        page, cursor = selectors.comparisons_page(
            trial, filters, cursor=cursor, limit=min(limit, PAGE_ROWS)
        )
        limit -= len(page)
        if page:
            yield page


def _cells(row: Comparison) -> list[object]:
    values: tuple[object, ...] = (
        row.uuid, row.compared_at and row.compared_at.isoformat(), row.origin, row.process,
        row.phase, row.title, row.run and row.run.uuid, row.old, row.new, row.old_reason,
        row.new_reason, row.old_again, row.new_again, row.diff_class, " ".join(row.finer),
        " ".join(row.rules), row.summary, row.judged,
        "yes" if row.is_acknowledged else "no",  # type: ignore[attr-defined]
        "yes" if row.has_failed else "no", row.error_text, f"{row.old_cost_usd:f}",
        f"{row.new_cost_usd:f}", row.old_ms, row.new_ms, row.kind,
    )  # fmt: skip
    return ["" if value is None else value for value in values]


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(type(value).__name__)
