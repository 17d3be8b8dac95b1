from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from loomverify.accounts.models import Project
from tests.actions.report.test_report_schedule import reader, switched_on
from tests.builders import make_project
from verification.actions.models import Mail
from verification.actions.report.forgetting import Looked
from verification.actions.report.warnings import LOOKS_EVERY, sweep
from verification.runs.models import OutboxEvent
from verification.verifiers.models import Budget, Spending

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
TODAY = date(2026, 11, 18)


@pytest.fixture
def project() -> Project:
    return make_project("looms")


def spend(project: Project, usd: str, kept: str = "0", day: date = TODAY) -> None:
    process = project.processes.get()
    Spending.objects.update_or_create(
        project=project,
        process=process,
        day=day,
        defaults={"spent_usd": Decimal(usd), "reserved_usd": Decimal(kept)},
    )


def look(now: datetime = NOON) -> int:
    return sweep(looked=Looked(LOOKS_EVERY), now=now)


@pytest.mark.parametrize(
    ("spent", "kept", "warned"),
    [("7.99", "0", 0), ("8.00", "0", 1), ("5", "3", 1), ("12", "0", 1), ("0", "0", 0)],
)
def test_it_warns_from_eighty_hundredths_what_is_set_aside_counts(
    project: Project, spent: str, kept: str, warned: int
) -> None:
    Budget.objects.create(project=project, usd_per_day=Decimal(10))
    spend(project, spent, kept)

    assert look() == warned


def test_each_budget_is_warned_of_once_a_day(project: Project) -> None:
    process = project.processes.get()
    Budget.objects.create(project=project, usd_per_day=Decimal(10))
    Budget.objects.create(project=project, process=process, usd_per_day=Decimal(5))
    tomorrow = NOON + timedelta(days=1)

    spend(project, "4")
    assert [look(), look()] == [1, 0]
    spend(project, "9")
    assert [look(), look()] == [1, 0]
    spend(project, "9", day=tomorrow.date())
    assert [look(tomorrow), look(tomorrow)] == [2, 0]

    told = OutboxEvent.objects.filter(topic="budget.warning").order_by("pk")
    assert [(one.payload["process"], one.payload["share"]) for one in told] == [
        ("small-work", 0.8),
        (None, 0.9),
        (None, 0.9),
        ("small-work", 1.8),
    ]


def test_another_project_s_money_is_not_counted(project: Project) -> None:
    Budget.objects.create(project=project, usd_per_day=Decimal(10))
    spend(make_project(), "100")

    assert look() == 0


def test_a_budget_of_nothing_is_no_news(project: Project) -> None:
    Budget.objects.create(project=project, usd_per_day=Decimal(0))
    spend(project, "0")

    assert look() == 0


def test_those_who_get_the_report_are_mailed(project: Project) -> None:
    switched_on(project, reader(project))
    Budget.objects.create(project=project, usd_per_day=Decimal(10))
    spend(project, "8.5")

    look()

    [letter] = Mail.objects.all()
    assert letter.subject == "Looms: 85 % of the budget of the whole project is spent"
    assert "$8.50 of $10.00" in letter.body


def test_the_relay_looks_twice_a_minute_at_most(project: Project) -> None:
    looked = Looked(LOOKS_EVERY)
    sweep(looked=looked, now=NOON)

    with CaptureQueriesContext(connection) as asked:
        sweep(looked=looked, now=NOON + timedelta(seconds=29))

    assert len(asked) == 0
