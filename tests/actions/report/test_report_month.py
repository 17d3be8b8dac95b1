"""The report over a simulated month, counted once more by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from urllib.parse import parse_qsl
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from loomverify.accounts.models import Project
from tests.actions.report.month import make_month
from tests.builders import make_project
from verification.actions.models import Action, Change
from verification.actions.report.gathering import report
from verification.actions.report.nights import Hours, night_ending_on
from verification.actions.report.values import LISTED, Link, Page, Report, Standing
from verification.runs.models import Remediation, Review, Run
from verification.runs.selectors import RunFilters
from verification.runs.selectors import runs as runs_of
from verification.verifiers.models import Budget, Spending

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def of_the_night(at: datetime, day: date, zone: ZoneInfo) -> bool:
    """By the clock on the wall: after 18:00 of the day before, before 8:00."""
    shown = at.astimezone(zone).replace(tzinfo=None)
    begins = datetime.combine(day - DAY, datetime.min.time()) + timedelta(hours=18)
    return begins <= shown < begins + timedelta(hours=14)


def reports(project: Project, start: date, step: int = 1) -> Iterator[tuple[date, Report]]:
    zone = ZoneInfo(project.time_zone)
    for n in range(0, 31, step):
        night = night_ending_on(start + n * DAY, Hours(), zone)
        assert night is not None
        yield start + n * DAY, report(project, night)


def found_by(project: Project, link: Link) -> int:
    assert link.page is Page.RUNS
    return runs_of(project, RunFilters.of(dict(parse_qsl(link.query)))).count()


def stands(change: Change) -> str:
    actions = {action.kind: action for action in change.actions.all()}
    done = {kind: action.state for kind, action in actions.items()}
    states = set(done.values())
    is_restored = done.get("restore") == "done"
    if done.get("revert") == "done" and not (
        is_restored and actions["restore"].pk > actions["revert"].pk
    ):
        return "reverted"
    if is_restored or done.get("commit") == "done":
        return "committed"
    for state, standing in (("held", "held"), ("proposed", "proposed"), ("pending", "under_way")):
        if state in states:
            return standing
    on_branch = done.get("review_branch") == "done" and done.get("close") != "done"
    return "held" if on_branch else "nothing"


@pytest.mark.extended
@pytest.mark.parametrize(
    ("zone", "start"),
    [
        ("Europe/Berlin", date(2026, 3, 10)),
        ("Australia/Lord_Howe", date(2026, 9, 20)),
    ],
)
def test_every_night_of_a_month_is_what_its_rows_say(zone: str, start: date) -> None:
    project = make_month(zone, start, runs=150, seed=start.toordinal())
    runs = list(Run.objects.filter(project=project).select_related("process"))
    changes = list(Change.objects.prefetch_related("actions").select_related("run"))
    at_all: Counter[str] = Counter()

    for day, told in reports(project, start):
        mine = [run for run in runs if of_the_night(run.created_at, day, ZoneInfo(zone))]
        assert told.runs == len(mine) == found_by(project, told.runs_link)
        assert told.cost_usd == sum((run.cost_usd for run in mine), Decimal(0))
        tallies = [*told.endings, *told.reasons]
        tallies += [tally for process in told.processes for tally in process.endings]
        if day.day % 4 == 1:
            assert [found_by(project, tally.link) for tally in tallies] == [
                tally.count for tally in tallies
            ]
        codes = Counter(run.reason_code for run in mine if run.reason_code)
        assert {tally.name: tally.count for tally in told.reasons} == codes
        assert {one.slug: one.runs for one in told.processes} == Counter(
            run.process.slug for run in mine
        )
        standings = Counter(stands(one) for one in changes if one.run in mine)
        assert {one.standing.value: one.count for one in told.standings if one.count} == standings
        at_all["runs"] += told.runs
        at_all["changes"] += told.changes

    by_night = [run for run in runs if not 8 <= run.created_at.astimezone(ZoneInfo(zone)).hour < 18]
    assert at_all["runs"] == len(by_night) > 50
    assert at_all["changes"] > 30


def test_what_waited_each_morning_is_what_the_rows_say() -> None:
    start = date(2026, 3, 10)
    project = make_month("Europe/Berlin", start, runs=150, seed=1)

    for _day, told in reports(project, start, step=5):
        end = told.night.end
        waits = {
            "review": Review.objects.filter(state="pending", created_at__lt=end).count(),
            "held": Action.objects.filter(state="held", created_at__lt=end).count(),
            "proposed": Action.objects.filter(state="proposed", created_at__lt=end).count(),
            "remediation": Remediation.objects.filter(state="queued", created_at__lt=end).count(),
        }
        counted: Counter[str] = Counter()
        for one in told.needs:
            counted[one.need.value] += one.count
        assert counted == Counter(waits)
        earlier = Action.objects.filter(
            state="done",
            finished_at__gte=told.night.start,
            finished_at__lt=end,
            change__run__created_at__lt=told.night.start,
        )
        assert dict(told.earlier) == Counter(earlier.values_list("kind", flat=True))
        blind = sum(one.count for one in told.needs if one.reason == "blind")
        rows = Review.objects.filter(state="pending", created_at__lt=end, is_blind=True)
        assert blind == rows.count()


def test_each_budget_shows_its_fullest_day_of_the_night() -> None:
    start = date(2026, 10, 5)
    project = make_month("Europe/Berlin", start, runs=1, seed=2)
    warned = 0

    for day, told in reports(project, start, step=3):
        for budget in Budget.objects.filter(project=project):
            slug = budget.process.slug if budget.process else ""
            rows = Spending.objects.filter(project=project, day__in=(day - DAY, day))
            if budget.process:
                rows = rows.filter(process=budget.process)
            by_day: Counter[date] = Counter()
            for row in rows:
                by_day[row.day] += row.spent_usd + row.reserved_usd  # type: ignore[assignment]
            [line] = [one for one in told.budgets if one.scope == slug]
            most = Decimal(max(by_day.values(), default=0))
            assert line.spent_usd == most
            assert line.warns == (most >= budget.usd_per_day * Decimal("0.8"))
            warned += line.warns
        steps = [step.words for step in told.steps if step.words.startswith("The budget of")]
        assert len(steps) == sum(one.warns for one in told.budgets)
    assert 0 < warned < 22


@pytest.mark.extended
def test_what_a_change_is_named_under_is_what_it_is_counted_under() -> None:
    start = date(2026, 10, 5)
    project = make_month("UTC", start, runs=300, seed=3)
    night = night_ending_on(start + 20 * DAY, Hours(), ZoneInfo("UTC"))
    assert night is not None
    whole = report(project, type(night)(night.end - 20 * DAY, night.end))

    assert whole.standing(Standing.HELD).count > LISTED
    for one in whole.standings:
        named = {line.link.key for line in one.lines}
        rows = Change.objects.filter(run__uuid__in=named).prefetch_related("actions")
        assert {stands(change) for change in rows} <= {one.standing.value}
        assert len(named) == min(LISTED, one.count)


def test_a_report_asks_as_often_for_many_runs_as_for_none() -> None:
    empty, full = make_project(), make_month("UTC", date(2026, 10, 5), runs=120, seed=4)
    asked = []
    for project in (empty, full):
        night = night_ending_on(date(2026, 10, 20), Hours(), ZoneInfo("UTC"))
        assert night is not None
        long = type(night)(night.end - 14 * DAY, night.end)
        with CaptureQueriesContext(connection) as queries:
            report(project, long)
        asked.append(len(queries))

    assert asked[0] == asked[1]


def test_another_project_s_night_is_not_told() -> None:
    project = make_project()
    make_month("UTC", date(2026, 10, 5), runs=60, seed=5)
    night = night_ending_on(date(2026, 10, 20), Hours(), ZoneInfo("UTC"))
    assert night is not None

    told = report(project, type(night)(night.end - 14 * DAY, night.end))

    assert (told.is_empty, told.changes, told.needs_count, told.budgets) == (True, 0, 0, [])


def test_the_same_rows_are_the_same_report() -> None:
    project = make_month("UTC", date(2026, 10, 5), runs=80, seed=6)
    night = night_ending_on(date(2026, 10, 20), Hours(), ZoneInfo("UTC"))
    assert night is not None

    assert report(project, night) == report(project, night)
