"""What judges may cost in a day, checked before each call and settled after it.

A day is one of UTC. A call under way is counted with what it may cost at most, so that calls
side by side do not spend the same dollar. What a killed worker had set aside stays so until
its day is over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import ROUND_CEILING, Decimal

from django.db import models, transaction
from django.db.models import F, Sum

from loomverify.accounts.access import Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import Project
from loomverify.errors import InputError
from processes.models import Process
from verification.adapters.judge import Connection, price
from verification.verifiers.models import Budget, Spending

BYTES_PER_TOKEN = 3
"""Of UTF-8: English has more, Chinese about as many."""
"""Fewer than most texts have, so that an estimate is seldom too low."""
MILLION = 1_000_000
SMALLEST = Decimal("0.000001")
MAX_USD_PER_DAY = Decimal(1_000_000)
SHARE_BESIDE_LIVE = Decimal("0.8")
"""Of what judges may cost in a day; what is left then is for live runs alone."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What one day has cost, settled and under way."""

    calls: int = 0
    settled_usd: Decimal = Decimal(0)
    under_way_usd: Decimal = Decimal(0)

    @property
    def usd(self) -> Decimal:
        return self.settled_usd + self.under_way_usd


def estimate(connection: Connection, *prompt: str) -> Decimal:
    """What a call costs at most: the whole prompt, and the longest answer. Unknown prices: 0."""
    asked, said = price(connection) or (Decimal(0), Decimal(0))
    length = sum(len(text.encode(errors="replace")) for text in prompt)
    prompt_tokens = -(-length // BYTES_PER_TOKEN)
    cost = (asked * prompt_tokens + said * connection.max_output_tokens) / MILLION
    return _rounded(cost)


def reserve(
    *,
    project_id: int,
    process_id: int,
    estimate: Decimal,
    now: datetime,
    share: Decimal = Decimal(1),
) -> bool:
    """Set a call's estimate aside. False: this `share` of a budget of this day does not hold it.

    A budget that is used up allows no call, not even a free one.
    """
    day, wanted = day_of(now), _rounded(estimate)
    with transaction.atomic():
        for budget in _locked(project_id, process_id):
            spent = spent_on(day, project_id=project_id, process_id=budget.process_id).usd
            most = budget.usd_per_day * share
            if spent >= most or spent + wanted > most:
                return False
        key = {"project_id": project_id, "process_id": process_id, "day": day}
        Spending.objects.bulk_create([Spending(**key)], ignore_conflicts=True)
        Spending.objects.filter(**key).update(reserved_usd=F("reserved_usd") + wanted)
    return True


def ever_holds(*, project_id: int, process_id: int, estimate: Decimal, share: Decimal) -> bool:
    """Whether this `share` of each budget holds the call on a day of which nothing is spent."""
    least = _over(project_id, process_id).aggregate(usd=models.Min("usd_per_day"))["usd"]
    return least is None or (least > 0 and _rounded(estimate) <= least * share)


def left_today(
    *, project_id: int, process_id: int, now: datetime, share: Decimal
) -> Decimal | None:
    """What this `share` of the budgets still holds on this day. None: there is no budget."""
    day = day_of(now)
    left = [
        budget.usd_per_day * share
        - spent_on(day, project_id=project_id, process_id=budget.process_id).usd
        for budget in _over(project_id, process_id)
    ]
    return max(Decimal(0), min(left)) if left else None


def settle(
    *,
    project_id: int,
    process_id: int,
    reserved: Decimal,
    actual: Decimal,
    now: datetime,
    calls: int = 1,
) -> None:
    """Put what a call cost in the place of what was set aside. `now` is the reservation's."""
    row = Spending.objects.filter(project_id=project_id, process_id=process_id, day=day_of(now))
    row.update(
        calls=F("calls") + calls,
        spent_usd=F("spent_usd") + _rounded(actual),
        reserved_usd=models.functions.Greatest(F("reserved_usd") - _rounded(reserved), Decimal(0)),
    )


def spent_on(day: date, *, project_id: int, process_id: int | None) -> Spent:
    """What a process has cost on a day; without one, the whole project."""
    rows = Spending.objects.filter(project_id=project_id, day=day)
    if process_id is not None:
        rows = rows.filter(process_id=process_id)
    found = rows.aggregate(calls=Sum("calls"), spent=Sum("spent_usd"), kept=Sum("reserved_usd"))
    return _spent(found)


def spent_by_process(day: date, *, project_id: int) -> dict[int, Spent]:
    rows = Spending.objects.filter(project_id=project_id, day=day)
    return {
        row["process_id"]: _spent(row)
        for row in rows.values("process_id", "calls", spent=F("spent_usd"), kept=F("reserved_usd"))
    }


def set_budget(
    *, project: Project, process: Process | None, usd_per_day: Decimal | None, actor: Actor
) -> None:
    """Set what judges may cost a day, for one process or all together; None takes the limit away.

    Raises:
        InputError: it is no amount of money.
    """
    if usd_per_day is not None and not (
        usd_per_day.is_finite() and 0 <= usd_per_day <= MAX_USD_PER_DAY
    ):
        raise InputError(
            "budget.amount",
            f"A budget is from 0 to {MAX_USD_PER_DAY:,} USD a day.",
            loc=("body", "usd_per_day"),
        )
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)  # two changes come one by one
        rows = Budget.objects.filter(project=project, process=process)
        before = rows.values_list("usd_per_day", flat=True).first()
        if before == usd_per_day:
            return
        if usd_per_day is None:
            rows.delete()
        else:
            rows.update_or_create(
                project=project,
                process=process,
                defaults={"usd_per_day": usd_per_day, "changed_by": actor.name[:200]},
            )
        diff = {"usd_per_day": [_shown(before), _shown(usd_per_day)]}
        record(actor, "budget.changed", process or project, project=project, diff=diff)


def _shown(usd: Decimal | None) -> str | None:
    return None if usd is None else str(usd)


def day_of(now: datetime) -> date:
    return now.astimezone(UTC).date()


def _locked(project_id: int, process_id: int) -> list[Budget]:
    """The budgets that a call falls under, always locked in the same order."""
    return list(_over(project_id, process_id).select_for_update().order_by("pk"))


def _over(project_id: int, process_id: int) -> models.QuerySet[Budget]:
    under = models.Q(process=None) | models.Q(process_id=process_id)
    return Budget.objects.filter(under, project_id=project_id)


def _spent(row: Mapping[str, object]) -> Spent:
    return Spent(
        calls=int(str(row["calls"] or 0)),
        settled_usd=Decimal(str(row["spent"] or 0)),
        under_way_usd=Decimal(str(row["kept"] or 0)),
    )


def _rounded(usd: Decimal) -> Decimal:
    """Up to what the table holds: many small calls must not add up to nothing."""
    return max(Decimal(0), usd).quantize(SMALLEST, rounding=ROUND_CEILING)
