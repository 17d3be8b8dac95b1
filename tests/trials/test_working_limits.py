"""A trial finds its runs once each, gives way to live ones, and stops itself."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from loomverify.accounts.models import AuditEntry, Project
from tests.builders import SOURCE_TEXT, add_version, make_process, make_project, make_run
from tests.trials.builders import make_comparisons, make_queued, make_trial, make_trial_replay
from verification.runs import outbox
from verification.runs.models import OutboxEvent, Run, RunState
from verification.trials.drawing import is_drawn
from verification.trials.models import Origin, StopReason, Trial, TrialReplay, TrialState
from verification.trials.working import limits, sampling, waking, working

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def woken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    found: list[int] = []

    def wake(trial_id: int) -> bool:
        found.append(trial_id)
        return True

    monkeypatch.setattr(waking, "wake", wake)
    return found


@pytest.fixture
def trial(project: Project) -> Trial:
    """One that has been running for an hour."""
    return make_trial(project, created_at=timezone.now() - timedelta(hours=1))


def state_of(trial: Trial) -> tuple[str, str]:
    trial.refresh_from_db()
    return trial.state, trial.stop_reason


def test_a_finished_run_is_found_once(trial: Trial) -> None:
    run = make_run(trial.project)

    found = [sampling.sample() for _ in range(3)]

    comparison = trial.comparisons.get()
    assert found == [1, 0, 0]
    assert (comparison.run, comparison.origin, comparison.title) == (
        run, Origin.LIVE, run.task.external_id,
    )  # fmt: skip


def test_a_run_that_would_be_held_against_itself_is_left_out(project: Project) -> None:
    process = project.processes.get()
    first, second = process.published, add_version(process, SOURCE_TEXT + "# New.\n")
    trial = make_trial(project, candidate_process_version=second)
    make_run(project)  # judged by the second already
    other = make_run(project)
    Run.objects.filter(pk=other.pk).update(process_version=first)

    sampling.sample()

    assert [one.run for one in trial.comparisons.all()] == [other]


def test_a_run_whose_end_was_stored_a_moment_late_is_found(trial: Trial) -> None:
    sampling.take_new(trial)
    trial.refresh_from_db()
    make_run(trial.project, created_at=trial.seen_until - timedelta(seconds=30))

    assert sampling.take_new(trial) == 1


def test_runs_of_before_the_trial_and_runs_that_go_on_are_left_out(trial: Trial) -> None:
    make_run(trial.project, created_at=trial.created_at - timedelta(seconds=30))
    for state in (RunState.QUEUED, RunState.RUNNING, RunState.ERRORED, RunState.CANCELLED):
        make_run(trial.project, state=state)

    assert sampling.take_new(trial) == 0


def test_a_trial_of_one_process_takes_no_run_of_another(project: Project) -> None:
    trial = make_trial(project, process=project.processes.get())
    other = make_process(project, slug="other")
    make_run(project, process=other)
    run = make_run(project)
    make_run(make_project())

    sampling.sample()

    assert [one.run for one in trial.comparisons.all()] == [run]


def test_a_sampled_trial_takes_the_runs_that_the_lot_names(project: Project) -> None:
    trial = make_trial(project, sample_rate=0.5, aa_rate=0.5)
    runs = [make_run(project) for _ in range(40)]

    sampling.sample()

    taken = {one.run_id for one in trial.comparisons.all()}
    assert taken == {run.pk for run in runs if is_drawn(trial.uuid, run.uuid, 0.5)}
    assert 0 < len(taken) < 40
    assert {one.is_aa for one in trial.comparisons.all()} == {True, False}


def test_more_runs_than_are_taken_at_once_are_all_found(
    trial: Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "AT_ONCE", 4)
    for _ in range(10):
        make_run(trial.project)

    found = [sampling.sample() for _ in range(4)]

    assert found == [4, 4, 2, 0]
    assert trial.comparisons.count() == 10


def test_a_stopped_trial_takes_no_run(trial: Trial) -> None:
    make_run(trial.project)
    Trial.objects.filter(pk=trial.pk).update(state=TrialState.STOPPED)

    assert sampling.take_new(trial) == 0
    assert not trial.comparisons.exists()


def test_a_new_run_wakes_a_worker_and_another_one_does_not(
    trial: Trial, woken: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    for _ in range(2):
        make_run(trial.project)
        with django_capture_on_commit_callbacks(execute=True):
            sampling.sample()

    assert woken == [trial.pk]

    later = timezone.now() + timedelta(minutes=10)  # when a judge that was away is asked again
    Trial.objects.filter(pk=trial.pk).update(next_at=later)
    make_run(trial.project)
    with django_capture_on_commit_callbacks(execute=True):
        sampling.sample()

    assert woken == [trial.pk] * 2


def test_a_trial_ends_when_its_time_is_over(trial: Trial) -> None:
    at = timezone.now() - timedelta(minutes=1)
    Trial.objects.filter(pk=trial.pk).update(ends_at=at)
    make_queued(trial)

    assert (limits.end_overdue(), limits.end_overdue()) == (1, 0)

    assert state_of(trial) == (TrialState.ENDED, StopReason.TIME)
    assert trial.stop_text == f"It was to run until {at:%Y-%m-%d %H:%M} UTC."
    assert trial.finished_at is not None
    assert not trial.comparisons.exists()
    assert AuditEntry.objects.get(object_id=str(trial.uuid)).verb == "trial.ended"


def test_what_breaks_too_often_stops_the_trial_and_its_replays(trial: Trial) -> None:
    make_comparisons(trial, {("pass", "pass"): 40})
    make_comparisons(trial, {("pass", "undecided"): 10}, has_failed=True)
    replay = make_trial_replay(trial)
    assert not limits.stopped(trial, has_failed=True)

    make_comparisons(trial, {("pass", "undecided"): 1}, has_failed=True)
    assert limits.stopped(trial, has_failed=True)

    replay.refresh_from_db()
    assert state_of(trial) == (TrialState.STOPPED, StopReason.ERRORS)
    assert trial.stop_text == "A verification broke in 11 of the last 50 comparisons."
    assert (replay.is_cancelled, replay.cancel_text) == (True, trial.stop_text)
    told = OutboxEvent.objects.get(topic=outbox.SHADOW_STOPPED)
    assert (told.payload["trial"], told.payload["reason"]) == (str(trial.uuid), "errors")


def test_what_broke_before_a_replay_does_not_stop_it(trial: Trial) -> None:
    make_comparisons(trial, {("pass", "undecided"): 50}, has_failed=True)
    trial.comparisons.update(compared_at=timezone.now() - timedelta(hours=1))
    Trial.objects.filter(pk=trial.pk).update(state=TrialState.STOPPED)
    make_trial_replay(trial)
    make_comparisons(trial, {("pass", "undecided"): 1}, has_failed=True)

    assert not limits.stopped(trial, has_failed=True)


def test_a_few_comparisons_that_break_say_nothing_yet(trial: Trial) -> None:
    make_comparisons(trial, {("pass", "undecided"): limits.FEWEST - 1}, has_failed=True)

    assert not limits.stopped(trial, has_failed=True)


def waited(project: Project, count: int, seconds: float) -> None:
    at = timezone.now() - timedelta(minutes=5)
    for _ in range(count):
        run = make_run(project, created_at=at)
        Run.objects.filter(pk=run.pk).update(started_at=at + timedelta(seconds=seconds))


def test_live_runs_that_had_to_wait_stop_the_trial(trial: Trial) -> None:
    waited(trial.project, 17, 0.1)
    assert not limits.stopped_for_latency(trial)
    waited(trial.project, 3, 12)

    assert limits.stopped_for_latency(trial)

    assert state_of(trial) == (TrialState.STOPPED, StopReason.LATENCY)
    assert trial.stop_text == (
        "Of the 20 live runs that came, or waited, in the last quarter of an hour, one in twenty "
        "waited longer than 12 s for a worker; 10 s is the limit."
    )


def test_runs_that_nobody_has_begun_have_waited_too(trial: Trial) -> None:
    waited(trial.project, 17, 0.1)
    at = timezone.now() - timedelta(seconds=30)
    for seconds in (0, 0, 1_800):  # one is older than what is looked at
        begun = at - timedelta(seconds=seconds)
        make_run(trial.project, state=RunState.QUEUED, created_at=begun)

    assert limits.stopped_for_latency(trial)

    assert state_of(trial) == (TrialState.STOPPED, StopReason.LATENCY)


def test_what_was_waiting_before_the_trial_is_counted_from_its_begin(project: Project) -> None:
    at = timezone.now() - timedelta(minutes=5)
    for _ in range(30):
        make_run(project, state=RunState.QUEUED, created_at=at)

    assert not limits.stopped_for_latency(make_trial(project))


def test_waits_of_before_the_trial_do_not_stop_it(project: Project) -> None:
    waited(project, 30, 60)

    assert not limits.stopped_for_latency(make_trial(project))


def test_waits_of_before_a_replay_do_not_stop_it_when_its_trial_is_over(trial: Trial) -> None:
    Trial.objects.filter(pk=trial.pk).update(state=TrialState.ENDED)
    trial.refresh_from_db()
    waited(trial.project, 30, 60)
    make_trial_replay(trial, finished_at=trial.created_at)
    TrialReplay.objects.update(created_at=trial.created_at)
    replay = make_trial_replay(trial)

    assert not limits.stopped_for_latency(trial)

    before = timezone.now() - timedelta(minutes=10)
    TrialReplay.objects.filter(pk=replay.pk).update(created_at=before)
    assert limits.stopped_for_latency(trial)
    replay.refresh_from_db()
    assert replay.is_cancelled


def test_while_a_live_run_waits_nothing_is_compared(trial: Trial) -> None:
    queued = make_queued(trial, run=make_run(trial.project))
    late = timezone.now() - timedelta(seconds=limits.LIVE_WAITS_SECONDS + 1)
    live = make_run(trial.project, state=RunState.QUEUED, created_at=late)

    working.work_on(trial.pk)

    queued.refresh_from_db()
    trial.refresh_from_db()
    assert (queued.compared_at, queued.lease_until, queued.claims) == (None, None, 0)
    assert trial.next_at is not None
    assert trial.next_at > timezone.now()

    Run.objects.filter(pk=live.pk).update(started_at=timezone.now(), state=RunState.RUNNING)
    working.work_on(trial.pk)
    queued.refresh_from_db()
    assert queued.compared_at is not None


@pytest.mark.parametrize(
    ("state", "seconds", "columns", "waits"),
    [
        (RunState.QUEUED, 1, {}, False),
        (RunState.QUEUED, 10, {}, True),
        (RunState.RUNNING, 10, {"started": 9}, False),
        (RunState.QUEUED, 99, {"started": 90, "leased": -30}, False),  # it waits for its judge
        (RunState.QUEUED, 99, {"started": 90, "leased": 30}, True),
        (RunState.QUEUED, 99, {"started": 90}, True),  # "Verify again"
    ],
)
def test_a_live_run_waits_when_it_is_due_and_nobody_takes_it(
    project: Project, state: RunState, seconds: int, columns: dict[str, int], waits: bool
) -> None:
    now = timezone.now()
    run = make_run(project, state=state, created_at=now - timedelta(seconds=seconds))
    if "started" in columns:
        started_at = now - timedelta(seconds=columns["started"])
        Run.objects.filter(pk=run.pk).update(started_at=started_at)
    if "leased" in columns:
        lease_until = now - timedelta(seconds=columns["leased"])
        Run.objects.filter(pk=run.pk).update(lease_until=lease_until)

    assert limits.live_waits() is waits
