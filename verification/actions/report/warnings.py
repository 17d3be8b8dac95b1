"""`budget.warning`: once a day and budget, as soon as most of it is spent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from loomverify.accounts.mails import link
from verification.actions.models import BudgetWarning, ReportSettings
from verification.actions.report import mailing, saying
from verification.actions.report.forgetting import Looked
from verification.actions.report.preferences import reachable
from verification.actions.report.values import WARNS_FROM
from verification.reviews.notices.text import one_line
from verification.runs import outbox
from verification.verifiers.budgets import day_of
from verification.verifiers.models import Budget, Spending

LOOKS_EVERY = timedelta(seconds=30)
Scope = tuple[int, int | None]


_looked = Looked(LOOKS_EVERY)


def sweep(*, looked: Looked = _looked, now: datetime | None = None) -> int:
    """Warn of each budget that is nearly spent; return of how many. The relay calls this."""
    now = now or timezone.now()
    if not looked.may_look(now):
        return 0
    day = day_of(now)
    limits = list(
        Budget.objects.filter(usd_per_day__gt=0).select_related("project", "process").order_by("pk")
    )
    spent = _spent(day) if limits else {}
    warned = set(BudgetWarning.objects.filter(day=day).values_list("project_id", "process_id"))
    return sum(
        _warn(budget, day, spent[scope])
        for budget in limits
        if (scope := (budget.project_id, budget.process_id)) not in warned
        and spent.get(scope, Decimal(0)) >= budget.usd_per_day * WARNS_FROM
    )


def _spent(day: date) -> Mapping[Scope, Decimal]:
    found: dict[Scope, Decimal] = defaultdict(Decimal)
    rows = Spending.objects.filter(day=day)
    for project, process, settled, kept in rows.values_list(
        "project_id", "process_id", "spent_usd", "reserved_usd"
    ):
        found[project, process] += settled + kept
        found[project, None] += settled + kept
    return found


def _warn(budget: Budget, day: date, spent: Decimal) -> bool:
    """False: another relay did."""
    project, process = budget.project, budget.process
    with transaction.atomic():
        _row, is_made = BudgetWarning.objects.get_or_create(
            project=project, process=process, day=day
        )
        if not is_made:
            return False
        told = {
            "process": process.slug if process else None,
            "day": day.isoformat(),
            "spent_usd": f"{spent:.6f}",
            "limit_usd": f"{budget.usd_per_day:.6f}",
            "share": float(round(spent / budget.usd_per_day, 4)),
            "url": link("settings_budgets", project=project.slug),
        }
        outbox.add(outbox.BUDGET_WARNING, project_id=project.pk, payload=told)
        _mail(budget, day, spent)
    return True


def _mail(budget: Budget, day: date, spent: Decimal) -> None:
    project = budget.project
    row = ReportSettings.objects.filter(project=project).first()
    if row is None:
        return
    scope = budget.process.slug if budget.process else "the whole project"
    share = saying.percent(spent / budget.usd_per_day)
    mailing.add(
        reachable(project).filter(pk__in=row.recipients.values("pk")),
        subject=f"{one_line(project.name, 60)}: {share} of the budget of {scope} is spent",
        body=(
            f"Of what judges of {scope} may cost on {day} (UTC), "
            f"{saying.usd(spent)} of {saying.usd(budget.usd_per_day)} are spent or set aside.\n"
            "What comes once it is used up is undecided, and a person is asked.\n\n"
            f"{link('morning_report', project=project.slug)}\n"
        ),
    )
