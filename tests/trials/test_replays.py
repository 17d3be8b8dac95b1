from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from loomverify.accounts.models import AuditEntry, Project, Role
from loomverify.errors import Conflict, Forbidden, InputError, NotFound
from tests.builders import SOURCE_TEXT, make_process, make_project, make_run
from tests.golden.builders import editor_of, make_case
from tests.trials.builders import access_to, make_comparison, make_queued, make_trial
from tests.trials.replaying import over_corpus, over_past, titles, unpublished
from verification.golden.cases.services import retire
from verification.runs.models import Run, RunState
from verification.trials.drawing import Draw, is_drawn
from verification.trials.models import Comparison, Origin, Trial, TrialReplay, TrialState
from verification.trials.replays import selectors, services
from verification.trials.working import waking

pytestmark = pytest.mark.django_db
Captured = Callable[..., AbstractContextManager[Any]]

NOON = datetime(2026, 11, 1, 12, tzinfo=timezone.get_default_timezone())


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The trials whose workers were woken."""
    found: list[int] = []

    def wake(trial_id: int) -> bool:
        found.append(trial_id)
        return True

    monkeypatch.setattr(waking, "wake", wake)
    return found


def runs(project: Project, count: int, **columns: Any) -> list[Run]:
    """Finished runs, each a minute after the one before."""
    return [
        make_run(project, created_at=NOON + timedelta(minutes=number), **columns)
        for number in range(count)
    ]


def names(of: list[Run]) -> list[str]:
    return [run.task.external_id for run in of]


def test_the_newest_finished_runs_come_first(project: Project) -> None:
    found = runs(project, 4)

    replay = over_past(make_trial(project), limit=3)

    assert titles(replay) == names(found[:0:-1])
    assert (replay.total, replay.finished_at, replay.origin) == (3, None, Origin.PAST)


def test_a_comparison_waits_with_what_it_is_to_outlive_the_run_by(project: Project) -> None:
    [run] = runs(project, 1, phase="write")

    replay = over_past(make_trial(project))

    row = replay.comparisons.get()
    made = (row.origin, row.run, row.process, row.phase, row.title, row.case_version)
    assert made == (Origin.PAST, run, "small-work", "write", run.task.external_id, None)
    assert (row.compared_at, row.claims, row.diff_class, row.finer, row.judged) == (
        None, 0, "", [], "",
    )  # fmt: skip


def test_what_is_not_finished_or_another_projects_is_no_past_run(project: Project) -> None:
    make_run(project, state=RunState.QUEUED)
    make_run(project, state=RunState.CANCELLED)
    make_run(make_project())
    [run] = runs(project, 1)

    assert titles(over_past(make_trial(project))) == names([run])


def test_a_trial_of_one_process_takes_its_runs_alone(project: Project) -> None:
    other = make_process(project, slug="other")
    runs(project, 1)
    [run] = runs(project, 1, process=other)

    assert titles(over_past(make_trial(project, process=other))) == names([run])


@pytest.mark.parametrize(
    ("wish", "taken"),
    [
        ({}, [3, 2, 1, 0]),
        ({"since": NOON + timedelta(minutes=2)}, [3, 2]),
        ({"until": NOON + timedelta(minutes=2)}, [1, 0]),
        ({"since": NOON + timedelta(minutes=1), "until": NOON + timedelta(minutes=3)}, [2, 1]),
        ({"limit": 1}, [3]),
        ({"phase": "build"}, [3, 2, 1, 0]),
        ({"phase": "write"}, []),
    ],
    ids=str,
)
def test_the_past_can_be_narrowed(project: Project, wish: dict[str, Any], taken: list[int]) -> None:
    found = runs(project, 4)

    assert titles(over_past(make_trial(project), **wish)) == names([found[one] for one in taken])


def test_runs_that_the_trial_has_or_is_about_to_compare_are_left_out(project: Project) -> None:
    trial = make_trial(project)
    done, waiting, fresh = runs(project, 3)
    make_comparison(trial, run=done)
    make_queued(trial, run=waiting)
    make_comparison(make_trial(project), run=fresh)

    replay = over_past(trial)

    assert titles(replay) == names([fresh])
    assert Comparison.objects.filter(trial=trial).count() == 3


def test_which_runs_are_asked_twice_is_drawn(project: Project) -> None:
    trial = make_trial(project, aa_rate=0.5)
    found = runs(project, 20)

    over_past(trial)

    twice = Comparison.objects.filter(trial=trial, is_aa=True).values_list("run__uuid", flat=True)
    drawn = {run.uuid for run in found if is_drawn(trial.uuid, run.uuid, 0.5, Draw.AA)}
    assert set(twice) == drawn


@pytest.mark.parametrize("limit", [0, -1, services.MAX_LIMIT + 1])
def test_a_replay_is_bounded(project: Project, limit: int) -> None:
    with pytest.raises(InputError) as refused:
        over_past(make_trial(project), limit=limit)

    assert refused.value.code == "trial_replay.limit"


def test_a_time_that_ends_before_it_begins_is_refused(project: Project) -> None:
    with pytest.raises(InputError) as refused:
        over_past(make_trial(project), since=NOON, until=NOON)

    assert refused.value.code == "trial_replay.span"


def test_nothing_to_compare_is_over_at_once_and_wakes_nobody(
    project: Project, woken: list[int], django_capture_on_commit_callbacks: Captured
) -> None:
    trial = make_trial(project)

    with django_capture_on_commit_callbacks(execute=True):
        past, corpus = over_past(trial), over_corpus(trial)

    assert [past.total, corpus.total] == [0, 0]
    assert past.finished_at
    assert corpus.finished_at
    assert woken == []


def test_workers_are_woken_when_all_is_stored(
    project: Project, woken: list[int], django_capture_on_commit_callbacks: Captured
) -> None:
    trial = make_trial(project)
    runs(project, 1)

    with django_capture_on_commit_callbacks() as callbacks:
        over_past(trial)
    assert woken == []
    for call in callbacks:
        call()

    assert woken == [trial.pk]
    trial.refresh_from_db()
    assert trial.next_at is not None


@pytest.mark.parametrize("state", [state for state in TrialState if state != TrialState.RUNNING])
def test_a_trial_that_is_over_may_look_back(project: Project, state: TrialState) -> None:
    runs(project, 1)

    assert over_past(make_trial(project, state=state)).total == 1


def test_a_spent_budget_pays_for_no_past_run_but_the_corpus_costs_nothing(
    project: Project,
) -> None:
    trial = make_trial(project, budget_usd=Decimal("2.50"), cost_usd=Decimal("2.50"))
    runs(project, 1)
    make_case(project)

    with pytest.raises(Conflict, match=r"budget of 2\.5 USD") as refused:
        over_past(trial)

    assert refused.value.code == "trial.budget_spent"
    assert over_corpus(trial).total == 1


def test_replays_of_a_trial_that_are_not_over_are_bounded(project: Project) -> None:
    trial = make_trial(project)
    runs(project, services.MAX_OPEN + 1)
    started = [over_past(trial, limit=1) for _ in range(services.MAX_OPEN)]

    with pytest.raises(Conflict) as refused:
        over_past(trial)
    services.cancel(access=access_to(project), trial=trial, replay=started[0].uuid)

    assert refused.value.code == "trial_replay.too_many"
    assert over_past(trial).total == 2


def test_only_editors_of_the_project_replay_its_trials(project: Project) -> None:
    trial, other = make_trial(project), access_to(make_project())
    runs(project, 1)
    replay = over_past(trial)

    for role in (Role.VIEWER, Role.REVIEWER, Role.AGENT):
        access = access_to(project, role)
        with pytest.raises(Forbidden):
            services.start_past(access=access, trial=trial)
        with pytest.raises(Forbidden):
            services.start_corpus(access=access, trial=trial)
        with pytest.raises(Forbidden):
            services.cancel(access=access, trial=trial, replay=replay.uuid)
    with pytest.raises(NotFound):
        services.start_past(access=other, trial=trial)
    with pytest.raises(NotFound):
        services.start_corpus(access=other, trial=trial)
    with pytest.raises(NotFound):
        services.cancel(access=other, trial=trial, replay=replay.uuid)


def test_a_replay_of_another_trial_is_unknown(project: Project) -> None:
    replay = over_past(make_trial(project))

    with pytest.raises(NotFound):
        selectors.replay_of(project, make_trial(project), replay.uuid)
    with pytest.raises(NotFound):
        selectors.replay_of(project, replay.trial, uuid4())


def test_what_was_compared_stays_when_the_rest_is_cancelled(project: Project) -> None:
    trial = make_trial(project)
    runs(project, 3)
    live = make_queued(trial)
    replay = over_past(trial)
    first = replay.comparisons.order_by("pk").first()
    Comparison.objects.filter(pk=first.pk if first else 0).update(
        compared_at=timezone.now(), diff_class="no_diff"
    )

    assert services.cancel(access=access_to(project), trial=trial, replay=replay.uuid)
    assert not services.cancel(access=access_to(project), trial=trial, replay=replay.uuid)

    replay.refresh_from_db()
    assert replay.is_cancelled
    assert replay.finished_at
    assert list(trial.comparisons.order_by("pk")) == [live, first]
    assert selectors.progress(replay) == selectors.Progress(1, 3)
    assert over_past(trial).total == 2


def test_what_is_done_is_on_the_audit_page(project: Project) -> None:
    trial = make_trial(project)
    runs(project, 1)

    replay = over_past(trial)
    services.cancel(access=access_to(project), trial=trial, replay=replay.uuid)

    entries = AuditEntry.objects.filter(project=project, object_id=replay.uuid).order_by("pk")
    assert list(entries.values_list("verb", "actor")) == [
        ("trial_replay.started", "ed"), ("trial_replay.cancelled", "ed"),
    ]  # fmt: skip


def test_progress_counts_what_was_looked_at_and_what_could_not_be_compared(
    project: Project,
) -> None:
    trial = make_trial(project)
    runs(project, 4)
    replay, empty = over_past(trial), over_past(trial)
    first, second, *_ = replay.comparisons.order_by("pk")
    Comparison.objects.filter(pk=first.pk).update(compared_at=timezone.now(), diff_class="no_diff")
    Comparison.objects.filter(pk=second.pk).update(compared_at=timezone.now(), error_text="Gone.")

    with CaptureQueriesContext(
        connection,
    ) as queries:
        told = selectors.progress_of(selectors.replays(trial))

    assert told[replay.pk] == selectors.Progress(done=2, total=4, not_compared=1)
    assert told[replay.pk].share == 0.5
    assert told[empty.pk].share == 1
    assert len(queries) == 2


def test_the_cases_of_the_corpus_are_taken_by_name(project: Project) -> None:
    make_case(project, "b")
    make_case(project, "a", phase="write", tier=1)
    retire(access=editor_of(project), case=make_case(project, "gone").uuid)
    make_case(make_project(), "theirs")

    replay = over_corpus(make_trial(project))

    rows = replay.comparisons.order_by("pk").values_list("title", "process", "phase", "origin")
    assert list(rows) == [
        ("a", "small-work", "write", Origin.CORPUS),
        ("b", "small-work", "build", Origin.CORPUS),
    ]
    assert not replay.comparisons.filter(case_version=None).exists()
    assert (replay.total, replay.finished_at) == (2, None)


@pytest.mark.parametrize(
    ("wish", "taken"),
    [
        ({}, ["a", "b"]),
        ({"tags": ["one"]}, ["a"]),
        ({"tags": ["canary"]}, ["held-set"]),
        ({"with_canary": True}, ["a", "b", "held-set"]),
        ({"tags": ["none"]}, []),
    ],
    ids=str,
)
def test_the_held_set_takes_part_where_it_is_asked_for(
    project: Project, wish: dict[str, Any], taken: list[str]
) -> None:
    make_case(project, "b", tags=["two"])
    make_case(project, "a", tags=["one"])
    make_case(project, "held-set", tags=["two", "canary"])

    assert titles(over_corpus(make_trial(project), **wish)) == taken


def test_tags_that_no_case_can_have_are_refused(project: Project) -> None:
    with pytest.raises(InputError) as refused:
        over_corpus(make_trial(project), tags=["A B"])

    assert refused.value.code == "replay.tags"


def test_cases_are_taken_that_both_sides_have_a_process_for(project: Project) -> None:
    own = SOURCE_TEXT.replace("small-work", "their-own")
    make_process(project, slug="other")
    make_case(project, "usual")
    make_case(project, "elsewhere", process="other")
    make_case(project, "own", process="their-own", process_text=own)
    make_case(project, "lost", process="unheard-of")
    version = unpublished(project)

    verifiers = make_trial(project)
    one_process = make_trial(project, process=project.processes.get(slug="other"))
    versions = make_trial(project, candidate_process_version=version)

    assert titles(over_corpus(verifiers)) == ["elsewhere", "own", "usual"]
    assert titles(over_corpus(one_process)) == ["elsewhere"]
    assert titles(over_corpus(versions)) == ["usual"]


def test_two_versions_of_a_process_need_no_published_one(project: Project) -> None:
    make_case(project, "usual")
    old, new = unpublished(project), unpublished(project)
    project.processes.update(published=None)

    both = make_trial(project, baseline_process_version=old, candidate_process_version=new)
    one = make_trial(project, candidate_process_version=new)

    assert titles(over_corpus(both)) == ["usual"]
    assert titles(over_corpus(one)) == []


@pytest.mark.django_db(transaction=True)
def test_of_two_replays_at_once_each_takes_other_runs(project: Project) -> None:
    trial = make_trial(project)
    runs(project, 6)

    def start(_: int) -> int:
        try:
            return over_past(Trial.objects.get(pk=trial.pk), limit=4).total
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        totals = list(pool.map(start, range(2)))

    assert sorted(totals) == [2, 4]
    assert TrialReplay.objects.filter(trial=trial).count() == 2
