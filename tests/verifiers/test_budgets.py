from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection as database

from loomverify.accounts.models import Project
from processes.models import Process
from tests.builders import make_process, make_project
from verification.adapters.judge import Connection
from verification.verifiers import budgets
from verification.verifiers.models import Budget, Spending

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture
def project(db: None) -> Project:
    return make_project()


@pytest.fixture
def process(project: Project) -> Process:
    return Process.objects.get(project=project)


def reserve(process: Process, usd: str, now: datetime = NOW) -> bool:
    return budgets.reserve(
        project_id=process.project_id, process_id=process.pk, estimate=Decimal(usd), now=now
    )


def settle(process: Process, reserved: str, actual: str, now: datetime = NOW) -> None:
    budgets.settle(
        project_id=process.project_id,
        process_id=process.pk,
        reserved=Decimal(reserved),
        actual=Decimal(actual),
        now=now,
    )


def limit(process: Process, usd: str, *, project_wide: bool = False) -> None:
    Budget.objects.create(
        project=process.project,
        process=None if project_wide else process,
        usd_per_day=Decimal(usd),
    )


def test_without_a_budget_everything_is_allowed_and_counted(process: Process) -> None:
    assert reserve(process, "5")
    settle(process, "5", "3.25")

    spent = budgets.spent_on(NOW.date(), project_id=process.project_id, process_id=process.pk)
    assert (spent.calls, spent.settled_usd, spent.under_way_usd) == (1, Decimal("3.25"), Decimal(0))


@pytest.mark.parametrize("project_wide", [True, False])
def test_a_budget_holds_what_is_settled_and_what_is_under_way(
    process: Process, project_wide: bool
) -> None:
    limit(process, "1", project_wide=project_wide)

    assert reserve(process, "0.6")
    assert not reserve(process, "0.5")
    settle(process, "0.6", "0.2")
    assert reserve(process, "0.8")
    assert not reserve(process, "0.01")


def test_a_projects_budget_is_for_all_its_processes_together(
    project: Project, process: Process
) -> None:
    other = make_process(project, slug="other")
    limit(process, "1", project_wide=True)

    assert reserve(process, "0.7")
    assert not reserve(other, "0.7")


def test_a_processs_budget_is_its_own(project: Project, process: Process) -> None:
    other = make_process(project, slug="other")
    limit(process, "1")

    assert not reserve(process, "1.1")
    assert reserve(other, "1.1")


def test_both_budgets_must_hold_it(process: Process) -> None:
    limit(process, "10", project_wide=True)
    limit(process, "1")

    assert not reserve(process, "2")


@pytest.mark.parametrize("estimate", ["0", "0.01"])
def test_a_budget_of_nothing_allows_no_call(process: Process, estimate: str) -> None:
    limit(process, "0")

    assert not reserve(process, estimate)


def test_a_used_up_budget_allows_not_even_a_free_call(process: Process) -> None:
    limit(process, "1")
    reserve(process, "1")
    settle(process, "1", "1.5")

    assert not reserve(process, "0")


def test_a_budget_begins_anew_each_day(process: Process) -> None:
    limit(process, "1")
    late = datetime(2026, 11, 21, 23, 59, tzinfo=UTC)

    assert reserve(process, "1", late)
    assert not reserve(process, "1", late)
    assert reserve(process, "1", late + timedelta(minutes=1))


def test_a_call_over_midnight_is_settled_on_the_day_it_began(process: Process) -> None:
    reserve(process, "1")
    settle(process, "1", "0.5")
    reserve(process, "1", NOW + timedelta(days=1))

    rows = Spending.objects.order_by("day").values_list("spent_usd", "reserved_usd")
    assert list(rows) == [(Decimal("0.5"), 0), (0, Decimal(1))]


def test_the_smallest_costs_are_rounded_up_and_never_lost(process: Process) -> None:
    reserve(process, "0")
    settle(process, "0", "0.0000000001")

    assert Spending.objects.get().spent_usd == Decimal("0.000001")


@pytest.mark.django_db(transaction=True)
def test_calls_side_by_side_never_spend_the_same_dollar() -> None:
    process = Process.objects.get(project=make_project())
    limit(process, "1", project_wide=True)
    limit(process, "1")
    allowed: list[bool] = []
    barrier = threading.Barrier(8)

    def call() -> None:
        barrier.wait()
        allowed.extend(reserve(process, "0.1") for _ in range(3))
        database.close()

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sum(allowed) == 10
    assert Spending.objects.get().reserved_usd == Decimal(1)


@pytest.mark.django_db(transaction=True)
def test_what_is_reserved_and_settled_side_by_side_stays_within_the_budget() -> None:
    project = make_project()
    processes = [Process.objects.get(project=project), make_process(project, slug="other")]
    limit(processes[0], "2", project_wide=True)
    barrier = threading.Barrier(6)

    def call(process: Process) -> None:
        barrier.wait()
        for _ in range(30):  # whoever is refused while others have reserved comes again
            if reserve(process, "0.2"):
                settle(process, "0.2", "0.15")
        database.close()

    threads = [threading.Thread(target=call, args=(processes[n % 2],)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    spent = budgets.spent_on(NOW.date(), project_id=project.pk, process_id=None)
    assert spent.under_way_usd == 0
    assert Decimal("1.8") < spent.settled_usd <= 2
    assert spent.settled_usd == spent.calls * Decimal("0.15")


@pytest.mark.parametrize(
    ("prices", "usd"),
    [
        ((Decimal(3), Decimal(15)), Decimal("0.09")),
        ((None, None), Decimal(0)),
        ((Decimal(0), Decimal(0)), Decimal(0)),
    ],
)
def test_an_estimate_is_the_whole_prompt_and_the_longest_answer(
    prices: tuple[Decimal | None, Decimal | None], usd: Decimal
) -> None:
    connection = Connection(
        "j",
        "openai/of-our-own",
        input_usd_per_million=prices[0],
        output_usd_per_million=prices[1],
        max_output_tokens=4000,
    )

    assert budgets.estimate(connection, "a" * 20_000, "b" * 10_000) == usd
    assert budgets.estimate(connection, "\u5b57" * 10_000) == usd
