"""A project's judges, and its budgets, as pages and the API show them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from loomverify.accounts.models import Project
from processes.models import Process
from verification.adapters.judge_models import listing, provider_of
from verification.engine.protocol.reply import Stage
from verification.engine.verifier import JudgeModels
from verification.verifiers import budgets
from verification.verifiers.budgets import Spent
from verification.verifiers.connections import live_models
from verification.verifiers.models import Budget, JudgeConnection
from verification.verifiers.selectors import connections_of
from verification.verifiers.trying import LastTry, last_try

STAGES = {
    Stage.STRICT: "as the JSON that was asked for",
    Stage.EMBEDDED: "from JSON inside other text",
    Stage.REPAIRED: "after its JSON was repaired",
    Stage.YAML: "as YAML",
    Stage.VERDICT_LINE: "from one line with a verdict",
}


def plain(amount: Decimal | None) -> str:
    """Without the zeros that a table adds, and never as 1E+2; '' where there is none."""
    return "" if amount is None else f"{amount.normalize():f}"


Seat = Literal["primary", "alternate", "panel"]


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens, and whose word it is. Without one, calls count as free."""

    asked: Decimal | None
    said: Decimal | None
    is_listed: bool

    @property
    def is_known(self) -> bool:
        return self.asked is not None and self.said is not None

    @property
    def asked_plain(self) -> str:
        return plain(self.asked)

    @property
    def said_plain(self) -> str:
        return plain(self.said)


@dataclass(frozen=True, slots=True)
class ListedJudge:
    row: JudgeConnection
    seats: tuple[Seat, ...]
    price: Price
    test: LastTry

    @property
    def provider(self) -> str:
        return provider_of(self.row.model)

    @property
    def has_schema(self) -> bool:
        """Whether a schema goes along, as far as it is known before the first call."""
        wished = self.row.structured_output
        return listing(self.row.model).has_schema if wished is None else wished

    @property
    def read_how(self) -> str:
        return next((words for stage, words in STAGES.items() if stage == self.test.stage), "")


def judges_of(project: Project, *, now: datetime) -> list[ListedJudge]:
    models = live_models(project)
    return [listed(row, models, now=now) for row in connections_of(project.pk)]


def listed(row: JudgeConnection, models: JudgeModels, *, now: datetime) -> ListedJudge:
    return ListedJudge(
        row=row,
        seats=_seats(row.name, models),
        price=_price(row),
        test=last_try(row, now=now),
    )


def _seats(name: str, models: JudgeModels) -> tuple[Seat, ...]:
    held: dict[Seat, bool] = {
        "primary": name == models.primary,
        "alternate": name == models.alternate,
        "panel": name in models.panel,
    }
    return tuple(seat for seat, holds in held.items() if holds)


def _price(row: JudgeConnection) -> Price:
    known = listing(row.model)
    asked, said = row.input_usd_per_million, row.output_usd_per_million
    return Price(
        asked=known.input_usd_per_million if asked is None else asked,
        said=known.output_usd_per_million if said is None else said,
        is_listed=asked is None or said is None,
    )


@dataclass(frozen=True, slots=True)
class ListedBudget:
    """One scope's limit (None: no limit) and what it has cost today. No process: the project."""

    process: Process | None
    usd_per_day: Decimal | None
    changed_by: str
    spent: Spent

    @property
    def limit_plain(self) -> str:
        return plain(self.usd_per_day)

    @property
    def is_used_up(self) -> bool:
        return self.usd_per_day is not None and self.spent.usd >= self.usd_per_day

    @property
    def percent(self) -> int:
        """Of the limit, 0 to 100."""
        if not self.usd_per_day:
            return 100
        return min(100, int(100 * self.spent.usd / self.usd_per_day))


def budgets_of(project: Project, *, now: datetime) -> list[ListedBudget]:
    """The project's first, then its processes by name."""
    day = budgets.day_of(now)
    limits = {row.process_id: row for row in Budget.objects.filter(project=project)}
    spent = budgets.spent_by_process(day, project_id=project.pk)
    whole = budgets.spent_on(day, project_id=project.pk, process_id=None)
    processes = Process.objects.filter(project=project).order_by("title", "slug")
    return [
        _budget(None, limits.get(None), whole),
        *(_budget(one, limits.get(one.pk), spent.get(one.pk, Spent())) for one in processes),
    ]


def _budget(process: Process | None, limit: Budget | None, spent: Spent) -> ListedBudget:
    return ListedBudget(
        process=process,
        usd_per_day=limit.usd_per_day if limit else None,
        changed_by=limit.changed_by if limit else "",
        spent=spent,
    )
