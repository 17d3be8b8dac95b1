"""What judges have cost on the days of a night, beside what they may."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from urllib.parse import urlencode

from loomverify.accounts.models import Project
from verification.actions.report.nights import DAY, Night
from verification.actions.report.values import BudgetLine, Link, Page
from verification.runs.spans import iso
from verification.verifiers.budgets import day_of
from verification.verifiers.models import Budget, Spending


def budgets(project: Project, night: Night) -> list[BudgetLine]:
    """Of each budget, the day of which most was spent; the fullest budgets first."""
    first, last = day_of(night.start), day_of(night.end - timedelta(seconds=1))
    days = [first + n * DAY for n in range((last - first).days + 1)]
    spent: dict[tuple[int | None, date], Decimal] = defaultdict(Decimal)
    rows = Spending.objects.filter(project=project, day__range=(first, last))
    for process, day, settled, kept in rows.values_list(
        "process_id", "day", "spent_usd", "reserved_usd"
    ):
        spent[process, day] += settled + kept
        spent[None, day] += settled + kept
    limits = Budget.objects.filter(project=project).select_related("process")
    lines = [_fullest(budget, days, spent) for budget in limits]
    return sorted(lines, key=lambda line: (-line.share, line.scope))


def _fullest(
    budget: Budget, days: list[date], spent: Mapping[tuple[int | None, date], Decimal]
) -> BudgetLine:
    day = max(days, key=lambda one: (spent.get((budget.process_id, one), Decimal(0)), one))
    slug = budget.process.slug if budget.process else ""
    begins = datetime.combine(day, time(), UTC)
    query = {
        "since": iso(begins),
        "until": iso(begins + DAY),
        **({"process": slug} if slug else {}),
    }
    return BudgetLine(
        scope=slug,
        day=day,
        spent_usd=spent.get((budget.process_id, day), Decimal(0)),
        limit_usd=budget.usd_per_day,
        link=Link(Page.RUNS, query=urlencode(query)),
    )
