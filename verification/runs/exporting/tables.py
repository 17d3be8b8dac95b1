"""Runs and findings as CSV, page by page: a hundred thousand rows fit through little memory."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Q, QuerySet

from loomverify.spreadsheets import plain_cell
from verification.runs import rendering
from verification.runs.exporting.gathered import LONG_TEXTS, with_cut_texts
from verification.runs.models import Finding, Run

MAX_RUNS = 100_000
MAX_FINDINGS = 200_000
PAGE_RUNS = 1_000
PAGE_FINDINGS = 500
BYTE_ORDER_MARK = "\ufeff"

RUN_COLUMNS = (
    "id", "created_at", "finished_at", "state", "outcome", "verdict", "reason_code", "process",
    "phase", "task", "title", "tier_requested", "tier_achieved", "hard", "advisory", "review",
    "cost_usd",
)  # fmt: skip
FINDING_COLUMNS = (
    "run", "run_created_at", "run_outcome", "run_verdict", "process", "phase", "task", "rule",
    "source", "enforcement", "verdict", "severity", "reason_code", "message", "quote", "path",
    "line", "column", "suggestion", "tier", "fingerprint",
)  # fmt: skip
RUN_RELATIONS = ("process", "task")
UNREAD = ("process__description",)


@dataclass(frozen=True, slots=True)
class Table:
    """`chunks` are parts of the CSV text; `is_cut`: there are more rows than are exported."""

    name: str
    chunks: Iterator[str]
    is_cut: bool = False


def runs_table(runs: QuerySet[Run], *, limit: int = MAX_RUNS) -> Table:
    """The newest runs, at most `limit`."""
    is_cut = runs.order_by()[: limit + 1].count() > limit
    return Table("runs", _runs_csv(runs, limit), is_cut)


def findings_table(
    runs: QuerySet[Run], *, limit: int = MAX_FINDINGS, max_runs: int = MAX_RUNS
) -> Table:
    """What the live evaluations of the newest runs found, newest first, at most `limit`."""
    evaluated = runs.filter(live_evaluation__isnull=False)
    live = evaluated.order_by().values("live_evaluation_id")
    found = Finding.objects.filter(evaluation_id__in=live)
    is_cut = live[: max_runs + 1].count() > max_runs
    is_cut = is_cut or found.order_by()[: limit + 1].count() > limit
    return Table("findings", _findings_csv(evaluated, limit, max_runs), is_cut)


def _runs_csv(runs: QuerySet[Run], limit: int) -> Iterator[str]:
    yield csv_of([RUN_COLUMNS])
    for page in _pages(runs, PAGE_RUNS, limit):
        yield csv_of(_run_row(run) for run in page)


def _findings_csv(runs: QuerySet[Run], limit: int, max_runs: int) -> Iterator[str]:
    yield csv_of([FINDING_COLUMNS])
    left = limit
    for page in _pages(runs, PAGE_RUNS, max_runs):
        of_evaluation = {run.live_evaluation_id: run for run in page if run.live_evaluation_id}
        for findings in _finding_pages(list(of_evaluation)):
            shown = findings[:left]
            yield csv_of(_finding_row(of_evaluation[row.evaluation_id], row) for row in shown)
            left -= len(shown)
            if not left:
                return


def _pages(runs: QuerySet[Run], size: int, limit: int) -> Iterator[list[Run]]:
    """Newest first. Between two pages no connection is held, however slowly somebody reads."""
    rows = runs.select_related(*RUN_RELATIONS).defer("search", "result", *UNREAD)
    rows = rows.order_by("-created_at", "-id")
    following = rows
    while limit:
        page = list(following[: min(size, limit)])
        let_go()
        if page:
            yield page
        if len(page) < size:
            return
        limit -= len(page)
        at, pk = page[-1].created_at, page[-1].pk
        following = rows.filter(created_at__lte=at).exclude(created_at=at, pk__gte=pk)


def _finding_pages(evaluations: Sequence[int]) -> Iterator[list[Finding]]:
    """By evaluation, newest first."""
    rows = with_cut_texts(Finding.objects.filter(evaluation_id__in=evaluations))
    rows = rows.order_by("-evaluation_id", "pk")
    following = rows
    while True:
        page = list(following[:PAGE_FINDINGS])
        let_go()
        if page:
            yield page
        if len(page) < PAGE_FINDINGS:
            return
        last = page[-1]
        following = rows.filter(
            Q(evaluation_id__lt=last.evaluation_id)
            | Q(evaluation_id=last.evaluation_id, pk__gt=last.pk)
        )


def let_go() -> None:
    """Hold no connection while somebody reads slowly."""
    if not connection.in_atomic_block:
        connection.close()


def csv_of(rows: Iterable[Sequence[object]]) -> str:
    """Part of a CSV text that no spreadsheet takes for formulas."""
    text = io.StringIO()
    csv.writer(text).writerows([plain_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _run_row(run: Run) -> tuple[object, ...]:
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
        rendering.usd(run.cost_usd),
    )


def _finding_row(run: Run, row: Finding) -> tuple[object, ...]:
    texts: dict[str, Any] = {name: getattr(row, f"cut_{name}") for name in LONG_TEXTS}
    return (
        run.uuid,
        run.created_at.isoformat(),
        run.outcome or "",
        run.verdict,
        run.process.slug,
        run.phase_id,
        run.task.external_id,
        row.rule,
        row.source,
        row.enforcement,
        row.verdict,
        row.severity,
        row.reason_code,
        texts["message"],
        texts["quote"],
        row.path,
        "" if row.line is None else row.line,
        "" if row.column is None else row.column,
        texts["suggestion"],
        row.tier,
        row.fingerprint,
    )
