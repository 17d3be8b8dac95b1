from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from celery.schedules import crontab
from django.db import connection

from loomverify.accounts.models import AuditEntry, Project, Role
from loomverify.celery import BULK, app
from loomverify.errors import Forbidden, InputError
from tests.builders import make_project
from tests.golden.builders import editor_of, make_case
from tests.golden.replayed import FAILS, FILES, names, queued, results
from verification.engine.golden.standing import Change
from verification.golden import tasks
from verification.golden.cases.services import retire
from verification.golden.models import GoldenSchedule, Replay, ReplayPurpose
from verification.golden.replays import schedule, services
from verification.runs import outbox
from verification.runs.models import OutboxEvent

pytestmark = pytest.mark.django_db
NIGHT = datetime(2026, 11, 18, 2, 5, tzinfo=UTC)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


@pytest.fixture
def project() -> Project:
    project = make_project()
    make_case(project, "case", files=FILES, tags=["one"])
    return project


def nightly(project: Project) -> Any:
    return Replay.objects.filter(project=project, purpose=ReplayPurpose.NIGHTLY).order_by("pk")


def admin(project: Project) -> Any:
    return replace(editor_of(project), role=Role.ADMIN)


def change(project: Project, **fields: Any) -> None:
    schedule.change(access=admin(project), **{"is_enabled": True, "hour": 2, "tags": [], **fields})


def test_every_hour_the_clock_looks_whose_hour_has_come() -> None:
    entry = app.conf["beat_schedule"]["golden nightly"]

    assert entry["schedule"] == crontab(minute=5)
    assert entry["options"]["queue"] == BULK
    assert entry["task"] == tasks.start_nightly.name


def test_a_corpus_is_replayed_once_a_day_at_two_unless_something_else_is_said(
    project: Project,
) -> None:
    hours = [NIGHT - HOUR, NIGHT, NIGHT + HOUR, NIGHT + 20 * HOUR, NIGHT + DAY, NIGHT + DAY + HOUR]

    assert [schedule.start_due(hour) for hour in hours] == [0, 1, 0, 0, 1, 0]
    assert nightly(project).count() == 2
    assert schedule.schedule_of(project).last_replay == nightly(project).last()


def test_a_night_that_was_slept_through_is_made_up_for_the_same_day(project: Project) -> None:
    assert schedule.start_due(NIGHT + 9 * HOUR) == 1
    assert schedule.start_due(NIGHT + 10 * HOUR) == 0
    assert schedule.start_due(NIGHT + DAY) == 1


def test_the_clock_follows_the_projects_own_hour_and_tags(project: Project) -> None:
    make_case(project, "other", files=FILES)
    change(project, hour=23, tags=["one", "one"])

    assert schedule.start_due(NIGHT) == 0
    assert schedule.start_due(NIGHT + 21 * HOUR) == 1
    assert names(nightly(project).get()) == ["case"]


def test_a_schedule_that_is_off_starts_nothing(project: Project) -> None:
    change(project, is_enabled=False)

    assert schedule.start_due(NIGHT) == 0


def test_a_project_without_cases_is_left_alone() -> None:
    project = make_project()
    retire(access=editor_of(project), case=make_case(project, files=FILES).uuid)

    assert schedule.start_due(NIGHT) == 0
    assert not GoldenSchedule.objects.exists()


def test_what_is_refused_one_hour_is_started_the_next(project: Project) -> None:
    other = make_project()
    make_case(other, "case", files=FILES)
    started = [queued(project) for _ in range(services.MAX_OPEN)]

    assert schedule.start_due(NIGHT) == 1
    assert schedule.schedule_of(project).last_started_at is None
    services.run_now(started[0])

    assert schedule.start_due(NIGHT + HOUR) == 1
    assert nightly(project).count() == 1


def test_only_admins_change_the_schedule_and_the_change_is_written_down(project: Project) -> None:
    with pytest.raises(Forbidden):
        schedule.change(access=editor_of(project), is_enabled=False, hour=2, tags=[])
    for _ in range(2):
        change(project, hour=5)

    entries = AuditEntry.objects.filter(project=project, verb="golden_schedule.changed")
    assert [entry.diff for entry in entries] == [{"hour": [2, 5]}]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"hour": -1}, "schedule.hour"),
        ({"hour": 24}, "schedule.hour"),
        ({"tags": ["not a tag"]}, "replay.tags"),
    ],
    ids=["too-early", "too-late", "tag"],
)
def test_a_schedule_that_makes_no_sense_is_refused(
    project: Project, fields: dict[str, Any], code: str
) -> None:
    with pytest.raises(InputError) as refused:
        change(project, **fields)

    assert refused.value.code == code


def regress(project: Project, purpose: ReplayPurpose) -> Replay:
    """A replay in which the one case regresses: it held before."""
    services.run_now(queued(project))
    held = Replay.objects.filter(project=project).latest("pk")
    assert results(held, "change") == {"case": Change.HELD}
    replay = queued(project, purpose=purpose)
    replay.results.get().case_version.__class__.objects.filter(case__project=project).update(
        spec={**replay.results.get().case_version.spec, "expected": FAILS}
    )
    services.run_now(replay)
    return replay


def events(project: Project) -> list[dict[str, Any]]:
    rows = OutboxEvent.objects.filter(project=project, topic=outbox.GOLDEN_REGRESSED)
    return list(rows.order_by("pk").values_list("payload", flat=True))


@pytest.mark.parametrize("purpose", [ReplayPurpose.NIGHTLY, ReplayPurpose.CI])
def test_what_regressed_where_nobody_watches_is_told_to_webhooks(
    project: Project, purpose: ReplayPurpose
) -> None:
    replay = regress(project, purpose)

    [told] = events(project)
    assert (told["replay"], told["purpose"]) == (str(replay.uuid), purpose)
    assert told["counts"][Change.REGRESSED] == told["total"] == 1
    assert told["url"].endswith(f"/golden/replays/{replay.uuid}/")
    assert [(one["name"], one["differences"]) for one in told["cases"]] == [("case", ["outcome"])]


@pytest.mark.parametrize(
    "purpose", sorted(set(ReplayPurpose) - {ReplayPurpose.NIGHTLY, ReplayPurpose.CI})
)
def test_who_started_a_replay_by_hand_sees_what_regressed(
    project: Project, purpose: ReplayPurpose
) -> None:
    regress(project, purpose)

    assert events(project) == []


def test_a_night_in_which_all_holds_is_not_told(project: Project) -> None:
    services.run_now(queued(project, purpose=ReplayPurpose.NIGHTLY))

    assert events(project) == []


@pytest.mark.django_db(transaction=True)
def test_two_schedulers_at_once_start_one_replay(project: Project) -> None:
    gate = threading.Barrier(4)

    def start(_: int) -> int:
        gate.wait()
        try:
            return schedule.start_due(NIGHT)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        started = list(pool.map(start, range(4)))

    assert sorted(started) == [0, 0, 0, 1]
    assert nightly(project).count() == 1
