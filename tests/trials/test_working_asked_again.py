"""A side whose judge was away is asked again: it blames neither side, and costs nothing twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from loomverify.accounts.models import Project, Role
from tests.model_server import ModelServer, model_server
from tests.runs.conftest import Caller, new_project
from tests.runs.judged import AWAY, PASSING, judged_by, submit, work_on
from tests.trials.builders import make_queued, make_trial
from tests.trials.replaying import over_past
from tests.trials.worked import beside, lose, waiting, work_once, worked
from verification.engine.verifier import Flags, VerifierSpec
from verification.runs.beside import storing
from verification.runs.holding import LeaseLost
from verification.runs.models import ModelCall
from verification.trials.judging.asked_beside import pairs_of
from verification.trials.models import Comparison, Origin, StopReason, Trial, TrialState
from verification.trials.working import asking_again, claiming, limits, making
from verification.verifiers.budgets import SHARE_BESIDE_LIVE
from verification.verifiers.models import Budget, Spending
from verification.verifiers.services import add_version

pytestmark = pytest.mark.django_db
CALL_USD = Decimal("0.003")
"""100 tokens asked and 20 said, at the prices of `tests.runs.judged`."""


@pytest.fixture
def project(own_evidence: None, db: None) -> Project:
    return new_project("ours")


@pytest.fixture
def server(project: Project, settings: Any) -> Iterator[ModelServer]:
    settings.JUDGE_FIRST_WAIT_SECONDS = 0.001
    settings.REVERIFY_DEADLINE_SECONDS = 900
    with model_server(PASSING) as server:
        judged_by(project, server)
        yield server


def beside_live(project: Project, *, runs: int = 1, tier: int = 3, **columns: Any) -> Trial:
    """A trial of finished runs, whose candidate has to ask for itself."""
    spec = VerifierSpec.from_json(project.verifiers.get(is_active=True).spec)
    flags = replace(Flags(), tier3_vote_count=5)
    candidate = add_version(project=project, spec=replace(spec, flags=flags))
    trial = make_trial(project, candidate=candidate, **columns)
    for _ in range(runs):
        work_on(submit(Caller(project, Role.AGENT), tier=tier))
    ModelCall.objects.all().delete()
    return trial


def pass_deadline(trial: Trial) -> None:
    waiting(trial).update(undecided_since=timezone.now() - timedelta(hours=1))
    lose(trial)


def evaluations(trial: Trial, purpose: str = "shadow") -> list[tuple[int, str]]:
    return [(one.seq, one.verdict) for one in beside(trial) if one.purpose == purpose]


@pytest.mark.extended
def test_what_a_judge_could_not_say_at_first_is_decided_later_and_nothing_paid_twice(
    project: Project, server: ModelServer
) -> None:
    trial = beside_live(project)
    server.script[:] = [PASSING, AWAY]

    put_off = work_once(trial)

    assert (put_off.compared_at, put_off.asked_again, put_off.new) == (None, 1, "")
    assert put_off.undecided_since is not None
    assert put_off.lease_until is not None
    assert timedelta(seconds=11) < put_off.lease_until - put_off.undecided_since
    assert trial.next_at == put_off.lease_until
    assert put_off.run is not None
    assert not put_off.run.events.filter(kind="verification_shadow_diff").exists()

    asked = len(server.asked)
    work_once(trial)
    assert len(server.asked) == asked

    server.script[:] = [PASSING]
    lose(trial)
    found = work_once(trial)

    assert (found.old, found.new, found.diff_class) == ("pass", "pass", "no_diff")
    assert (found.has_failed, found.error_text) == (False, "")
    assert evaluations(trial) == [(2, "undecided"), (4, "accept")]
    last = beside(trial)[-1]
    assert found.new_evaluation == last
    assert list(last.tiers.order_by("tier").values_list("tier", "calls")) == [
        (1, 0),
        (2, 0),
        (3, 5),
    ]
    assert len(server.asked) == asked + 5
    assert [call.row.tier for pair in pairs_of(found) if (call := pair.new)] == [2, 3, 3, 3, 3, 3]
    assert found.new_cost_usd == trial.cost_usd == 6 * CALL_USD
    assert trial.next_at is None


def test_at_the_deadline_it_is_doubt_that_counts_as_broken_and_ends_the_replay(
    project: Project, server: ModelServer
) -> None:
    trial = beside_live(project, state=TrialState.ENDED)
    server.script[:] = [AWAY]
    replay = over_past(trial)
    work_once(trial)
    replay.refresh_from_db()
    assert replay.finished_at is None

    pass_deadline(trial)
    found = work_once(trial)

    replay.refresh_from_db()
    assert (found.old, found.new, found.diff_class) == ("pass", "undecided", "new_undecided")
    assert found.has_failed
    assert found.error_text == "The verifier could not look into it. It was asked 2 times."
    assert evaluations(trial) == [(2, "undecided"), (4, "undecided")]
    assert found.new_evaluation == beside(trial)[-1]
    assert replay.finished_at is not None


def test_the_answers_of_an_a_a_pair_are_asked_again_and_its_sides_left(
    project: Project, server: ModelServer
) -> None:
    trial = beside_live(project, tier=2, aa_rate=1.0)
    server.script[:] = [PASSING, AWAY]
    assert work_once(trial).asked_again == 1

    server.script[:] = [PASSING]
    lose(trial)
    found = work_once(trial)

    assert (found.new, found.old_again, found.new_again) == ("pass", "pass", "pass")
    assert evaluations(trial) == [(2, "accept")]
    assert evaluations(trial, "aa") == [
        (1, "undecided"), (2, "undecided"), (3, "accept"), (4, "accept"),
    ]  # fmt: skip


@pytest.mark.extended
def test_a_judge_that_is_away_for_all_pauses_the_trial_and_stops_it_in_the_end(
    project: Project, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claiming, "MOST_PUT_OFF", 2)
    monkeypatch.setattr(limits, "FEWEST", 2)
    trial = beside_live(project, runs=3, tier=2)
    server.script[:] = [AWAY]

    assert sorted(one.claims for one in worked(trial)) == [0, 2, 2]
    assert trial.state == TrialState.RUNNING
    case = make_queued(trial, origin=Origin.CORPUS)
    assert [one.pk for one in claiming.claim(trial.pk, batch=5)] == [case.pk]

    pass_deadline(trial)
    worked(trial)

    assert (trial.state, trial.stop_reason) == (TrialState.STOPPED, StopReason.ERRORS)
    assert trial.stop_text == "A verification broke in 2 of the last 2 comparisons."
    assert not waiting(trial).filter(replay=None).exists()


def test_who_comes_back_after_it_was_put_off_writes_nothing(
    project: Project, server: ModelServer
) -> None:
    trial = beside_live(project, tier=2)
    server.script[:] = [AWAY]
    work_once(trial)
    Comparison.objects.update(claims=0, asked_again=0, lease_until=None, undecided_since=None)
    late = claiming.claim(trial.pk, batch=1)
    lose(trial)
    mine = claiming.claim(trial.pk, batch=1)
    making.make(trial, mine)
    before = [*Comparison.objects.values(), *(one.pk for one in beside(trial))]
    assert waiting(trial).get().asked_again == 1

    for stale in (late, mine):
        assert making.make(trial, stale).is_lost
        claiming.give_back(stale, is_untouched=False)
        claiming.put_off([(one, timezone.now()) for one in stale], since=timezone.now())
        with pytest.raises(LeaseLost):
            claiming.Batch(trial.pk, stale).lengthen()

    assert [*Comparison.objects.values(), *(one.pk for one in beside(trial))] == before


@pytest.mark.extended
def test_a_worker_lost_while_it_asks_again_costs_no_turn_and_is_not_paid_twice(
    project: Project, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = beside_live(project)
    server.script[:] = [PASSING, AWAY]
    work_once(trial)
    server.script[:] = [PASSING]
    finish = storing._finish

    def dying(*given: Any) -> Any:
        monkeypatch.setattr(storing, "_finish", finish)
        raise KeyboardInterrupt

    monkeypatch.setattr(storing, "_finish", dying)
    lose(trial)
    with pytest.raises(KeyboardInterrupt):
        worked(trial)
    lose(trial)

    found = work_once(trial)

    assert evaluations(trial) == [(2, "undecided"), (4, "accept")]
    assert (found.new, found.asked_again, found.claims) == ("pass", 1, 4)
    assert trial.cost_usd == 6 * CALL_USD


def test_a_day_whose_budget_is_nearly_spent_is_left_to_live_runs(
    project: Project, server: ModelServer
) -> None:
    trial = beside_live(project, tier=2)
    budget = Budget.objects.create(project=project, usd_per_day=Decimal(100), changed_by="ada")
    Spending.objects.update(spent_usd=100 * SHARE_BESIDE_LIVE)
    asked, now = len(server.asked), timezone.now()

    worked(trial)

    [left] = waiting(trial)
    assert (len(server.asked), left.undecided_since) == (asked, None)
    assert now < left.lease_until <= timezone.now() + asking_again.LOOKS_AGAIN
    assert work_on(submit(Caller(project, Role.AGENT), output="Another text.")).outcome == "pass"

    budget.delete()  # as if the day were over, but the judge is away
    server.script[:] = [AWAY]
    lose(trial)
    worked(trial)
    assert waiting(trial).get(pk=left.pk).undecided_since is not None

    server.script[:] = [PASSING]
    lose(trial)
    worked(trial)
    found = Comparison.objects.get(pk=left.pk)
    assert (found.new, found.has_failed) == ("pass", False)


def test_a_day_that_never_holds_a_call_leaves_doubt(project: Project, server: ModelServer) -> None:
    trial = beside_live(project, tier=2)
    Budget.objects.create(project=project, usd_per_day=Decimal(0), changed_by="ada")

    found = work_once(trial)

    assert (found.new, found.new_reason) == ("undecided", "budget_exhausted")


@pytest.mark.extended
def test_a_spent_budget_asks_nobody_again(project: Project, server: ModelServer) -> None:
    trial = beside_live(project)
    server.script[:] = [PASSING, AWAY]
    work_once(trial)
    asked = len(server.asked)
    Trial.objects.update(budget_usd=CALL_USD)
    lose(trial)

    assert worked(trial) == []

    assert (trial.stop_reason, len(server.asked)) == (StopReason.BUDGET, asked)
