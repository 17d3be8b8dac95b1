"""Who works on what: nothing is lost, nothing is done twice, whoever dies and whoever comes late."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from loomverify.accounts.models import Project, Role
from tests.golden.builders import make_case
from tests.runs.conftest import Caller, new_project
from tests.trials.at_once import at_once
from tests.trials.builders import access_to, make_queued, make_trial, make_trial_replay
from tests.trials.replaying import over_corpus, over_past
from tests.trials.worked import (
    PLACEHOLDER,
    beside,
    legacy_beside,
    lose,
    waiting,
    work_once,
    worked,
)
from verification.runs import retention
from verification.runs.beside import evaluating
from verification.runs.holding import LeaseLost
from verification.runs.models import Evaluation, Event, Run
from verification.trials.models import Comparison, Origin, Trial, TrialState
from verification.trials.replays import services as replays
from verification.trials.working import claiming, comparing, making, sampling, waking, working

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(own_evidence: None, db: None) -> Project:
    return new_project("ours")


@pytest.fixture
def agent(project: Project) -> Caller:
    return Caller(project, Role.AGENT)


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    found: list[int] = []

    def wake(trial_id: int) -> bool:
        found.append(trial_id)
        return True

    monkeypatch.setattr(waking, "wake", wake)
    return found


def queued(agent: Caller, project: Project, count: int) -> Trial:
    """A trial with so many runs that wait."""
    trial = legacy_beside(project)
    for _ in range(count):
        agent.submit(output=PLACEHOLDER)
    assert sampling.take_new(trial) == count
    return trial


def test_no_plan_of_the_database_claims_more_than_a_batch(project: Project) -> None:
    trial = make_trial(project)
    for _ in range(5):
        make_queued(trial)
    with connection.cursor() as cursor:
        for one in ("hashjoin", "mergejoin", "hashagg", "sort", "material"):
            cursor.execute(f"set local enable_{one} = off")

    assert len(claiming.claim(trial.pk, batch=3)) == 3


def test_what_a_worker_has_claimed_no_other_gets(project: Project) -> None:
    trial = make_trial(project)
    for _ in range(5):
        make_queued(trial)

    mine = claiming.claim(trial.pk, batch=3)
    theirs = claiming.claim(trial.pk, batch=3)

    assert [len(mine), len(theirs)] == [3, 2]
    assert not {one.pk for one in mine} & {one.pk for one in theirs}
    assert claiming.claim(trial.pk, batch=3) == []


def test_live_runs_go_before_past_ones(project: Project) -> None:
    trial = make_trial(project)
    replay = make_trial_replay(trial)
    make_queued(trial, replay=replay, origin=Origin.PAST)
    live = make_queued(trial)

    assert [one.pk for one in claiming.claim(trial.pk, batch=1)] == [live.pk]


def test_what_a_lost_worker_had_is_taken_again_one_at_a_time(
    agent: Caller, project: Project
) -> None:
    trial = queued(agent, project, 3)
    claiming.claim(trial.pk, batch=3)
    assert claiming.claim(trial.pk, batch=3) == []

    lose(trial)

    [claimed] = claiming.claim(trial.pk, batch=3)
    assert claimed.claims == 2
    assert [one.pk for one in worked(trial) if one.compared_at is None] == [claimed.pk]


def test_who_comes_back_late_writes_nothing(agent: Caller, project: Project) -> None:
    trial = queued(agent, project, 1)
    late = claiming.claim(trial.pk, batch=1)
    lose(trial)
    work_once(trial)
    before = [*Comparison.objects.values(), *Evaluation.objects.values(), *Event.objects.values()]

    making.make(trial, late)
    claiming.give_back(late)

    after = [*Comparison.objects.values(), *Evaluation.objects.values(), *Event.objects.values()]
    assert after == before


def test_a_hold_is_lost_with_its_claim(agent: Caller, project: Project) -> None:
    trial = queued(agent, project, 1)
    [mine] = claiming.claim(trial.pk, batch=1)
    hold = claiming.ComparisonHold(trial.pk, mine)
    hold.check()

    lose(trial)
    claiming.claim(trial.pk, batch=1)

    with pytest.raises(LeaseLost):
        hold.check()


def test_a_long_comparison_keeps_its_lease(project: Project) -> None:
    trial = make_trial(project)
    make_queued(trial)
    claimed = claiming.claim(trial.pk, batch=1)
    soon = timezone.now() + timedelta(seconds=1)
    waiting(trial).update(lease_until=soon)

    claiming.Batch(trial.pk, claimed).lengthen()

    assert waiting(trial).get().lease_until > soon
    claiming.give_back(claimed)
    with pytest.raises(LeaseLost):
        claiming.Batch(trial.pk, claimed).lengthen()


def test_a_run_that_kills_its_workers_is_doubt_in_the_end_and_takes_none_with_it(
    agent: Caller, project: Project
) -> None:
    trial = queued(agent, project, 2)
    killer = waiting(trial).order_by("pk").first()
    waiting(trial).filter(pk=killer.pk).update(claims=claiming.MAX_CLAIMS)

    found = {one.pk: one for one in worked(trial)}

    ended = found.pop(killer.pk)
    [other] = found.values()
    assert (ended.old, ended.new, ended.has_failed) == ("undecided", "pass_with_warnings", True)
    assert ended.error_text == making.LOST
    assert (other.old, other.has_failed) == ("fail", False)


def test_what_cannot_even_be_stored_as_doubt_ends_all_the_same(
    agent: Caller, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = queued(agent, project, 2)
    bad = waiting(trial).order_by("pk").first().run_id
    rows_of = comparing.rows_of

    def failing(done: Any) -> Any:
        if bad in {one.pair.looked.run_id for one in done}:
            raise ValueError("cannot be compared")
        return rows_of(done)

    monkeypatch.setattr(comparing, "rows_of", failing)
    found = {one.run_id: one for one in worked(trial)}

    ended = found.pop(bad)
    [other] = found.values()
    assert (ended.diff_class, ended.has_failed, ended.error_text) == ("", True, making.LOST)
    assert ended.compared_at is not None
    assert (other.old, other.new) == ("fail", "pass_with_warnings")


def test_a_half_made_evaluation_is_taken_up_not_made_twice(agent: Caller, project: Project) -> None:
    trial = queued(agent, project, 1)
    claiming.claim(trial.pk, batch=1)
    run = Run.objects.get()
    begun = Evaluation.objects.create(
        run=run,
        purpose="shadow",
        trial_id=trial.pk,
        seq=1,
        process_version=run.process_version,
        verifier_version=trial.baseline_verifier,
        engine_build="1",
        started_at=timezone.now(),
    )
    lose(trial)

    found = work_once(trial)

    assert found.old_evaluation_id == begun.pk
    assert [one.pk for one in beside(trial)] == [begun.pk]
    assert (found.old, found.old_reason) == ("fail", "incomplete_deliverable_placeholder")
    assert begun.findings.count() == 1


@pytest.mark.extended
@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_make_each_comparison_once(agent: Caller, project: Project) -> None:
    trial = queued(agent, project, 30)

    at_once(*(lambda: working.work_on(trial.pk) for _ in range(2)))

    assert waiting(trial).count() == 0
    assert trial.comparisons.filter(diff_class="old_fail_new_pass").count() == 30
    assert len(beside(trial)) == 30
    told = Event.objects.filter(kind="verification_shadow_diff")
    assert told.values("run").distinct().count() == told.count() == 30


def test_a_run_that_was_deleted_before_it_was_compared_ends_its_comparison(
    agent: Caller, project: Project
) -> None:
    trial = queued(agent, project, 2)
    Run.objects.order_by("pk")[:1].get().delete()

    gone, there = sorted(worked(trial), key=lambda one: one.pk)

    assert (gone.run, gone.diff_class, gone.error_text) == (None, "", comparing.RUN_GONE)
    assert gone.compared_at is not None
    assert there.diff_class == "old_fail_new_pass"


def test_a_comparison_outlives_its_run_and_the_evaluations_do_not(
    agent: Caller, project: Project
) -> None:
    trial = queued(agent, project, 1)
    before = work_once(trial)

    retention.purge_expired(timezone.now() + timedelta(days=400))

    after = Comparison.objects.get()
    assert not Evaluation.objects.exists()
    assert (after.run, after.old_evaluation, after.new_evaluation) == (None, None, None)
    kept = ("old", "new", "old_reason", "diff_class", "summary", "rules", "kind", "title", "old_ms")
    assert [getattr(after, name) for name in kept] == [getattr(before, name) for name in kept]


def test_a_trial_that_has_caught_up_sleeps_until_there_is_something_new(
    agent: Caller, project: Project, woken: list[int]
) -> None:
    trial = queued(agent, project, 1)
    worked(trial)
    assert trial.next_at is None

    assert sampling.take_new(trial) == 0
    agent.submit()
    assert sampling.take_new(trial) == 1

    trial.refresh_from_db()
    assert trial.next_at is not None


def test_the_sweep_wakes_a_trial_whose_worker_was_lost(
    agent: Caller, project: Project, woken: list[int]
) -> None:
    trial = queued(agent, project, 1)
    claiming.claim(trial.pk, batch=1)
    assert waking.sweep() == 0

    Trial.objects.filter(pk=trial.pk).update(next_at=timezone.now())
    assert waking.sweep() == 1

    assert woken == [trial.pk]
    assert waking.sweep() == 0


@pytest.mark.extended
def test_with_everything_claimed_the_trial_is_looked_at_when_the_first_lease_ends(
    agent: Caller, project: Project
) -> None:
    trial = queued(agent, project, 1)
    claiming.claim(trial.pk, batch=1)

    working.work_on(trial.pk)

    trial.refresh_from_db()
    assert trial.next_at == waiting(trial).get().lease_until


def test_the_time_of_a_turn_over_another_message_goes_on(
    agent: Caller, project: Project, woken: list[int]
) -> None:
    trial = queued(agent, project, 2)

    working.work_on(trial.pk, seconds=0)

    assert woken == [trial.pk]
    assert waiting(trial).count() == 0


def test_what_waits_for_a_stopped_trial_goes(agent: Caller, project: Project) -> None:
    trial = queued(agent, project, 2)
    claiming.claim(trial.pk, batch=1)
    Trial.objects.filter(pk=trial.pk).update(state=TrialState.STOPPED)

    found = worked(trial)

    assert found == []
    assert trial.next_at is None
    assert beside(trial) == []


def test_a_trial_stopped_while_it_is_compared_stores_nothing_more(
    agent: Caller, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = queued(agent, project, 2)
    evaluate = evaluating.evaluate

    def stopping(*given: Any, **wish: Any) -> Any:
        Trial.objects.filter(pk=trial.pk).update(state=TrialState.STOPPED)
        return evaluate(*given, **wish)

    monkeypatch.setattr(making, "evaluate", stopping)

    assert worked(trial) == []
    assert beside(trial) == []


def test_a_replay_ends_with_its_last_comparison(agent: Caller, project: Project) -> None:
    agent.submit(output=PLACEHOLDER)
    trial = legacy_beside(project)
    replay = over_past(trial)

    found = worked(trial)

    replay.refresh_from_db()
    assert [one.origin for one in found] == [Origin.PAST]
    assert found[0].diff_class == "old_fail_new_pass"
    assert replay.finished_at is not None
    assert trial.next_at is None


def test_a_trial_that_is_over_looks_back_and_takes_nothing_new(
    agent: Caller, project: Project
) -> None:
    agent.submit(output=PLACEHOLDER)
    trial = legacy_beside(project, state=TrialState.ENDED)
    replay = over_past(trial)

    found = worked(trial)

    assert [one.replay_id for one in found] == [replay.pk]
    agent.submit()
    assert sampling.sample() == 0


def test_a_cancelled_replay_leaves_what_was_compared(agent: Caller, project: Project) -> None:
    for _ in range(3):
        agent.submit()
    trial = legacy_beside(project)
    replay = over_past(trial)
    making.make(trial, claiming.claim(trial.pk, batch=1))

    replays.cancel(access=access_to(project), trial=trial, replay=replay.uuid)
    found = worked(trial)

    assert len(found) == 1
    assert found[0].compared_at is not None


def test_cases_of_the_corpus_are_compared_beside_runs(agent: Caller, project: Project) -> None:
    trial = queued(agent, project, 1)
    told = {"outcome": "pass_with_warnings", "verdict": "accept"}
    run = {"output": PLACEHOLDER}
    case = make_case(project, "a-case", process="general", phase="work", run=run, expected=told)
    replay = over_corpus(trial)

    found = {one.title: one for one in worked(trial)}

    compared = found[case.name]
    replay.refresh_from_db()
    assert len(found) == 2
    assert (compared.origin, compared.diff_class) == (Origin.CORPUS, "old_fail_new_pass")
    assert (compared.old, compared.new) == ("fail", "pass_with_warnings")
    assert compared.judged == "new"
    assert compared.old_observed["reason_code"] == "incomplete_deliverable_placeholder"
    assert replay.finished_at is not None
