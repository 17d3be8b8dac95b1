"""How large a replay would be, and what it would cost to ask the judges anew."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Func, IntegerField, Sum
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Coalesce

from loomverify.accounts.models import Project
from processes.models import Process
from verification.golden.models import GoldenCaseVersion
from verification.golden.replays import selectors
from verification.verifiers.budgets import day_of, spent_on
from verification.verifiers.models import Budget, Spending

LATELY = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Price:
    """`questions` are those that are recorded: live judges are asked about as many.

    `usd` None: nothing was paid lately to tell by. `left_usd` None: no budget is set.
    """

    cases: int
    questions: int
    usd: Decimal | None
    left_usd: Decimal | None

    @property
    def is_too_much(self) -> bool:
        return self.left_usd is not None and (self.usd or 0) > self.left_usd


def price(
    project: Project,
    *,
    process: Process | None,
    tags: tuple[str, ...],
    with_canary: bool,
    now: datetime,
) -> Price:
    cases = selectors.asked_for(project, process=process, tags=tags, with_canary=with_canary)
    questions = _questions([one.version for one in cases])
    each = _paid_for_one(project, now)
    return Price(
        len(cases), questions, None if each is None else each * questions, _left(project, now)
    )


def _questions(versions: list[int]) -> int:
    length = Func(
        KeyTransform("replies", "spec"), function="jsonb_array_length", output_field=IntegerField()
    )
    rows = GoldenCaseVersion.objects.filter(pk__in=versions)
    return int(rows.aggregate(n=Coalesce(Sum(length), 0))["n"])


def _paid_for_one(project: Project, now: datetime) -> Decimal | None:
    """What a call cost on average."""
    rows = Spending.objects.filter(project=project, day__gt=day_of(now - LATELY))
    found = rows.aggregate(calls=Sum("calls"), usd=Sum("spent_usd"))
    return Decimal(found["usd"]) / found["calls"] if found["calls"] else None


def _left(project: Project, now: datetime) -> Decimal | None:
    budget = Budget.objects.filter(project=project, process=None).first()
    if budget is None:
        return None
    spent = spent_on(day_of(now), project_id=project.pk, process_id=None).usd
    return max(Decimal(0), budget.usd_per_day - spent)
