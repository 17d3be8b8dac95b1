from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import AuditEntry, Project, Role
from loomverify.errors import Forbidden
from processes.models import Process
from tests.builders import SOURCE_TEXT, make_process, make_project, make_run, make_task
from tests.trials.at_once import at_once
from tests.trials.builders import (
    Pairs,
    access_to,
    make_candidate,
    make_comparison,
    make_comparisons,
    make_legacy,
    make_trial,
)
from tests.trials.worked import unpublished
from verification.engine.shadow import SideOutcome
from verification.runs import relay
from verification.runs.models import OutboxEvent, Run, RunState
from verification.trials.models import Origin, StopReason, Trial, TrialState
from verification.trials.services import promoting, stopping, watching
from verification.verifiers.services import activate

pytestmark = pytest.mark.django_db


USUAL = {("pass", "pass"): 95, ("fail", "fail"): 5}


def promoted(project: Project, pairs: Pairs = USUAL, **columns: Any) -> Trial:
    """A cutover an hour ago; in the trial the candidate rejected one in twenty."""
    trial = make_trial(project, **columns)
    make_comparisons(trial, pairs)
    promoting.promote(
        access=access_to(project, Role.ADMIN), trial=trial, reason="Try.", override=True,
        corpus_reason="Try.",
    )  # fmt: skip
    at = timezone.now() - timedelta(hours=1)
    Trial.objects.filter(pk=trial.pk).update(promoted_at=at)
    trial.comparisons.update(created_at=at)
    trial.refresh_from_db()
    return trial


def make_runs(
    project: Project,
    outcomes: Mapping[str, int],
    *,
    verifier: int = 2,
    process: Process | None = None,
    age: timedelta = timedelta(minutes=30),
) -> None:
    """Finished runs without evaluations, in the order of the outcomes."""
    process = process or project.processes.get(slug="small-work")
    task, at = make_task(process), timezone.now() - age
    version = process.published
    assert version is not None
    told = [one for one, count in outcomes.items() for _ in range(count)]
    Run.objects.bulk_create(
        Run(
            project=project,
            process=process,
            process_version=version,
            verifier_version=project.verifiers.get(number=verifier),
            task=task,
            phase_id="build",
            state=RunState.ERRORED if one == ERRORED else RunState.FINISHED,
            outcome={"undecided": "fail", ERRORED: None}.get(one, one),
            verdict="" if one == ERRORED else SideOutcome(one).verdict,
            tier_requested=1,
            body_sha256="0" * 64,
            candidate_sha256="0" * 64,
            created_at=at,
            finished_at=at + timedelta(seconds=number),
        )
        for number, one in enumerate(told)
    )


ERRORED = "errored"


def look() -> int:
    return watching.sweep(pace=watching.Pace())


def watch_of(trial: Trial) -> Trial:
    return Trial.objects.get(watches=trial)


def test_an_alarm_rings_when_an_outcome_rises_beyond_its_interval(project: Project) -> None:
    trial = promoted(project)
    make_runs(project, {"pass": 30, "fail": 20})

    rang = look()

    watch = watch_of(trial)
    [rise] = watch.drift
    assert rang == 1
    assert watch.drift_at is not None
    assert (rise["outcome"], rise["before"], rise["after"]) == ("fail", 0.05, 0.4)
    assert 0 < rise["low"] < 0.35 < rise["high"]
    assert (rise["before_n"], rise["after_n"], rise["against"]) == (100, 50, "trial")


def test_the_world_hears_of_it_once(project: Project) -> None:
    trial = promoted(project)
    make_runs(project, {"pass": 30, "fail": 20})

    told = [look(), look()]

    event = OutboxEvent.objects.get()
    watch = watch_of(trial)
    assert told == [1, 0]
    assert event.topic == "shadow.drift"
    assert event.payload["trial"] == str(trial.uuid)
    assert event.payload["watch"] == str(watch.uuid)
    assert event.payload["outcomes"] == watch.drift
    assert AuditEntry.objects.get(verb="trial.drifted").diff["fail"] == [0.05, 0.4]


def test_as_before_is_no_alarm(project: Project) -> None:
    trial = promoted(project)
    make_runs(project, {"pass": 94, "fail": 6})

    assert look() == 0
    assert watch_of(trial).drift_at is None


def test_fewer_than_fifty_runs_say_nothing(project: Project) -> None:
    promoted(project)
    make_runs(project, {"fail": 49})

    assert look() == 0


def test_doubt_that_rises_is_an_alarm_too(project: Project) -> None:
    trial = promoted(project)
    make_runs(project, {"pass": 40, "undecided": 10})

    look()

    assert [one["outcome"] for one in watch_of(trial).drift] == ["undecided"]


def test_a_verification_that_breaks_is_doubt(project: Project) -> None:
    trial = promoted(project)
    make_runs(project, {"pass": 40, ERRORED: 10})

    look()

    assert [one["outcome"] for one in watch_of(trial).drift] == ["undecided"]


def test_what_breaks_as_often_as_ever_is_no_alarm(project: Project) -> None:
    make_runs(project, {"pass": 40, ERRORED: 10}, verifier=1, age=timedelta(days=3))
    trial = promoted(project)
    make_runs(project, {"pass": 40, "fail": 2, ERRORED: 10})

    assert look() == 0
    assert watching.promised(trial).total() == 100


def test_what_broke_before_and_breaks_no_more_is_no_alarm(project: Project) -> None:
    make_runs(project, {"pass": 50, ERRORED: 50}, verifier=1, age=timedelta(days=3))
    promoted(project)
    make_runs(project, {"pass": 47, "fail": 3})

    assert look() == 0


def test_with_too_few_pairs_before_the_cutover_the_first_runs_stand_in(project: Project) -> None:
    trial = promoted(project, {("pass", "pass"): 12})
    make_runs(project, {"pass": 48, "fail": 2})
    make_runs(project, {"fail": 49}, age=timedelta(minutes=10))
    basis, early = watching.basis_of(trial), look()
    make_runs(project, {"fail": 1}, age=timedelta(minutes=5))

    late = look()

    [rise] = watch_of(trial).drift
    assert basis == watching.Basis(pairs=12, runs=99)
    assert (basis.lacking, basis.first_runs) == (38, 50)
    assert (early, late) == (0, 1)
    assert (rise["before"], rise["after"], rise["against"]) == (0.04, 1.0, "first_runs")


def test_past_runs_of_before_the_cutover_can_be_taken_after_it(project: Project) -> None:
    trial = promoted(project, {("pass", "pass"): 12})
    before, after = (
        make_run(project, created_at=timezone.now() - timedelta(hours=hours)) for hours in (2, 0)
    )
    make_comparison(trial, "pass", "fail", run=before)
    make_comparison(trial, "pass", "fail", run=after)

    assert watching.promised(trial) == {SideOutcome.PASS: 12, SideOutcome.FAIL: 1}


@pytest.mark.extended
def test_runs_are_looked_at_when_there_are_twice_as_many(project: Project) -> None:
    trial = promoted(project)
    make_runs(project, {"pass": 60})
    make_runs(project, {"fail": 39}, age=timedelta(minutes=10))
    seen = watching.came_to(watch_of(trial))

    early = look()
    make_runs(project, {"fail": 1}, age=timedelta(minutes=5))
    late = look()

    assert seen == {SideOutcome.PASS: 50}
    assert (early, late) == (0, 1)


def test_only_runs_that_the_cutover_brought_count(project: Project) -> None:
    trial = promoted(project)
    make_runs(project, {"fail": 60}, verifier=1)
    make_runs(project, {"fail": 60}, age=timedelta(hours=2))
    make_runs(make_twin(project), {"fail": 60})

    assert watching.came_to(watch_of(trial)) == {}


def make_twin(project: Project) -> Project:
    """Another project with the same verifier numbers."""
    twin = make_project()
    make_candidate(twin)
    return twin


def test_a_trial_of_one_process_looks_at_its_runs_alone(project: Project) -> None:
    trial = promoted(project, process=project.processes.get())
    other = make_process(project, slug="other", source_text=SOURCE_TEXT)
    make_runs(project, {"fail": 60}, process=other)

    assert watching.came_to(watch_of(trial)) == {}
    make_runs(project, {"pass": 60})
    assert watching.came_to(watch_of(trial)) == {SideOutcome.PASS: 50}


@pytest.mark.extended
def test_the_corpus_promises_nothing_about_runs(project: Project) -> None:
    trial = promoted(project)
    make_comparisons(trial, {("fail", "fail"): 500}, origin=Origin.CORPUS)

    assert watching.promised(trial) == {SideOutcome.PASS: 95, SideOutcome.FAIL: 5}


def test_a_watch_ends_when_something_else_judges(project: Project) -> None:
    trial = promoted(project)
    make_runs(project, {"fail": 60})
    other = make_legacy(project)
    activate(project=project, number=other.number, actor=SYSTEM, reason="Try.", corpus_reason="!")

    rang = look()

    watch = watch_of(trial)
    assert (rang, watch.state, watch.stop_reason) == (0, TrialState.ENDED, StopReason.REPLACED)


def test_a_watch_of_a_process_version_ends_when_another_verifier_judges(project: Project) -> None:
    process = project.processes.get(slug="small-work")
    trial = promoted(
        project,
        candidate=project.verifiers.get(is_active=True),
        process=process,
        candidate_process_version=unpublished(process, SOURCE_TEXT + "# v2\n"),
    )
    assert look() == 0
    assert watch_of(trial).state == TrialState.RUNNING
    other = make_legacy(project)
    activate(project=project, number=other.number, actor=SYSTEM, reason="Try.", corpus_reason="!")

    look()

    watch = watch_of(trial)
    assert (watch.state, watch.stop_reason) == (TrialState.ENDED, StopReason.REPLACED)


def test_a_watch_that_rang_pays_no_more_once_something_else_judges(project: Project) -> None:
    trial = promoted(project)
    make_runs(project, {"fail": 60})
    assert (look(), look()) == (1, 0)
    assert watch_of(trial).state == TrialState.RUNNING
    activate(project=project, number=1, actor=SYSTEM, reason="Back.", corpus_reason="!")

    rang = look()

    watch = watch_of(trial)
    assert (rang, watch.state, watch.stop_reason) == (0, TrialState.ENDED, StopReason.REPLACED)


def test_a_watch_that_stopped_itself_still_looks_at_runs(project: Project) -> None:
    trial = promoted(project)
    Trial.objects.filter(watches=trial).update(
        state=TrialState.STOPPED, stop_reason=StopReason.BUDGET
    )
    make_runs(project, {"fail": 60})

    assert look() == 1


def test_whoever_stopped_the_watch_or_went_back_is_not_alarmed(project: Project) -> None:
    trial = promoted(project)
    make_runs(project, {"fail": 60})
    with pytest.raises(Forbidden):
        stopping.stop(access=access_to(project, Role.EDITOR), trial=watch_of(trial))
    stopping.stop(access=access_to(project, Role.ADMIN), trial=watch_of(trial))
    stopped = look()
    Trial.objects.filter(watches=trial).update(state=TrialState.RUNNING, stop_reason="")
    promoting.roll_back(access=access_to(project, Role.ADMIN), trial=trial, reason="No.")

    assert (stopped, look()) == (0, 0)


def test_its_time_over_nothing_is_watched(project: Project) -> None:
    trial = promoted(project)
    make_runs(project, {"fail": 60})
    Trial.objects.filter(watches=trial).update(ends_at=timezone.now())

    assert look() == 0


def test_the_relay_looks_once_a_minute(project: Project) -> None:
    pace, now = watching.Pace(), timezone.now()

    looks = [pace.may_look(now + timedelta(seconds=after)) for after in (0, 1, 59, 60, 61)]

    assert looks == [True, False, False, True, False]


def test_the_relay_watches(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching._pace, "next_at", None)
    trial = promoted(project)
    make_runs(project, {"fail": 60})

    relay.sweep_rooms()

    assert watch_of(trial).drift_at is not None


@pytest.mark.django_db(transaction=True)
def test_of_two_relays_one_rings() -> None:
    project = make_project()
    promoted(project)
    make_runs(project, {"fail": 60})

    assert sorted(at_once(look, look)) == [0, 1]
    assert OutboxEvent.objects.count() == 1


def test_looks_are_due_at_fifty_and_each_time_twice_as_many() -> None:
    assert [watching._due(count) for count in (0, 49, 50, 99, 100, 199, 200, 1_000)] == [
        0, 0, 50, 50, 100, 100, 200, 800,
    ]  # fmt: skip
