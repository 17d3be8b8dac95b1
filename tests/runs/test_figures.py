from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from loomverify.accounts.models import Project
from tests.builders import generate_runs, make_project, make_run
from verification.engine.outcome import Outcome, Verdict
from verification.runs.figures import (
    Figure,
    figures,
    mark_dirty,
    recompute_hour,
    refresh_dirty_hours,
)
from verification.runs.models import DirtyHour, RollupHour, Run, RunState
from verification.runs.spans import Span, Window

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 10, 14, 25, tzinfo=UTC)


def hour_of(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def week() -> Span:
    window = Window.of("7d", timezone.now())
    assert window is not None
    return window.span


def counts(project: Project) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in figures(project.pk, week()):
        found[row.outcome] = found.get(row.outcome, 0) + row.count
    return found


@pytest.mark.parametrize(
    ("name", "start", "steps"),
    [
        ("24h", datetime(2026, 3, 9, 15, tzinfo=UTC), 24),
        ("7d", datetime(2026, 3, 4, tzinfo=UTC), 28),
        ("30d", datetime(2026, 2, 9, tzinfo=UTC), 30),
        ("90d", datetime(2025, 12, 11, tzinfo=UTC), 90),
    ],
)
def test_a_window_is_made_of_whole_steps_that_hold_now(
    name: str, start: datetime, steps: int
) -> None:
    window = Window.of(name, NOW)

    assert window is not None
    assert (window.start, window.steps) == (start, steps)
    assert window.start <= NOW < window.start + window.step * window.steps


def test_an_unknown_window_is_none() -> None:
    assert Window.of("8d", NOW) is None


def test_a_run_counts_before_and_after_its_hour_is_recomputed() -> None:
    project = make_project()
    run = make_run(project, created_at=timezone.now() - timedelta(hours=30))
    mark_dirty(run)

    raw = counts(project)
    refreshed = refresh_dirty_hours()

    assert raw == {"pass": 1}
    assert refreshed == 1
    assert not DirtyHour.objects.exists()
    assert RollupHour.objects.get().count == 1
    assert counts(project) == {"pass": 1}


def test_the_current_hour_is_added_raw() -> None:
    project = make_project()
    make_run(project)

    assert counts(project) == {"pass": 1}


def test_a_late_ending_corrects_history() -> None:
    project = make_project()
    run = make_run(project, created_at=timezone.now() - timedelta(hours=30))
    recompute_hour(project.pk, hour_of(run.created_at))
    run.outcome, run.verdict = Outcome.FAIL, Verdict.REJECT
    run.save()

    mark_dirty(run)

    assert counts(project) == {"fail": 1}


@pytest.mark.extended
def test_an_hour_can_be_recomputed_again_and_again() -> None:
    project = make_project()
    run = make_run(project, created_at=timezone.now() - timedelta(hours=30))

    for _ in range(3):
        recompute_hour(project.pk, hour_of(run.created_at))

    assert counts(project) == {"pass": 1}


def test_marks_of_the_current_hour_wait_until_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: NOW)

    mark_dirty(make_run(make_project()))

    assert refresh_dirty_hours() == 0
    assert DirtyHour.objects.count() == 1


def test_marking_twice_leaves_one_mark() -> None:
    run = make_run(make_project())

    mark_dirty(run)
    mark_dirty(run)

    assert DirtyHour.objects.count() == 1


def test_figures_tell_what_tier_one_blocked_and_what_judging_cost() -> None:
    project = make_project()
    early = {"outcome": Outcome.FAIL, "cost_usd": Decimal("0.5")}
    make_run(project, tier_achieved=1, **early)  # type: ignore[arg-type]
    make_run(project, tier_achieved=2, **early)  # type: ignore[arg-type]
    make_run(project, outcome=Outcome.FAIL, verdict=Verdict.UNDECIDED, tier_achieved=1)
    make_run(project, state=RunState.RUNNING)

    found: list[Figure] = figures(project.pk, week())

    assert sum(row.count for row in found) == 3
    assert sum(row.deterministic_count for row in found) == 1
    assert sum(row.cost_usd for row in found) == Decimal("1.0")


def test_figures_hold_one_project_and_one_process_when_asked() -> None:
    project, elsewhere = make_project(), make_project()
    make_run(project)
    generate_runs(elsewhere, 20)

    process = elsewhere.processes.get()

    assert counts(project) == {"pass": 1}
    assert figures(project.pk, week(), process_id=process.pk) == []


@pytest.mark.django_db(transaction=True)
def test_an_ending_while_its_hour_is_recomputed_is_never_lost() -> None:
    project = make_project()
    run = make_run(project, created_at=timezone.now() - timedelta(hours=30))
    mark_dirty(run)
    with transaction.atomic():
        DirtyHour.objects.all().delete()  # the relay has begun

        blocked = _waits_for_us(run)

    mark_dirty(run)

    assert blocked
    assert DirtyHour.objects.count() == 1


def _waits_for_us(run: Run) -> bool:
    """True: another worker, marking the same hour now, waits until our transaction ends."""
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("begin")
            cursor.execute("set local lock_timeout = '50ms'")  # the pool hands this one on
            cursor.execute(
                "insert into runs_dirtyhour (project_id, hour) values (%s, %s)"
                " on conflict do nothing",
                [run.project_id, hour_of(run.created_at)],
            )
    except OperationalError:
        return True
    finally:
        other.close()
    return False
