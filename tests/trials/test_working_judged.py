"""Trials of judged runs: nothing is asked twice, and what is asked is the trial's to pay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from loomverify.accounts.models import AuditEntry, Project, Role
from tests.model_server import ModelServer, Said, model_server
from tests.runs.conftest import Caller, new_process, new_project
from tests.runs.judged import FAILING, NOISE, PASSING, judged_by, make_due, submit, work_on
from tests.trials.builders import make_trial
from tests.trials.worked import beside, lose, unpublished, waiting, work_once, worked
from verification.engine.verifier import Flags, VerifierSpec
from verification.runs.beside import evaluating, storing
from verification.runs.models import DirtyHour, Evaluation, ModelCall, Run
from verification.trials.models import StopReason, Trial, TrialState
from verification.verifiers.models import Spending, VerifierVersion
from verification.verifiers.services import add_version

pytestmark = pytest.mark.django_db
HARD = """\
name: strict
phases:
  - id: write
    description: Write it
    acceptance_criteria: It is written
verification:
  rules:
    - name: no-todo
      check: "TODO"
      type: regex
      severity: error
      applies_to_phases: ["*"]
"""
CALL_USD = Decimal("0.003")
"""100 tokens asked and 20 said, at the prices of `tests.runs.judged`."""


@pytest.fixture
def project(own_evidence: None, db: None) -> Project:
    return new_project("ours")


@pytest.fixture
def agent(project: Project) -> Caller:
    return Caller(project, Role.AGENT)


@pytest.fixture
def server(project: Project, settings: Any) -> Iterator[ModelServer]:
    settings.JUDGE_FIRST_WAIT_SECONDS = 0.01
    settings.REVERIFY_DEADLINE_SECONDS = 0
    with model_server(PASSING) as server:
        judged_by(project, server)
        yield server


def version(project: Project, **flags: Any) -> VerifierVersion:
    """The live version with flags changed: the same judges, asked in the same words."""
    spec = VerifierSpec.from_json(project.verifiers.get(is_active=True).spec)
    return add_version(project=project, spec=replace(spec, flags=replace(Flags(), **flags)))


def beside_live(project: Project, candidate: VerifierVersion, **columns: Any) -> Trial:
    return make_trial(project, candidate=candidate, **{"aa_rate": 0.0, **columns})


def test_a_question_in_the_same_words_is_not_asked_again(
    agent: Caller, project: Project, server: ModelServer
) -> None:
    candidate = version(project, unconfirmed_supporting_threshold=0.4)
    trial = beside_live(project, candidate)
    run = work_on(submit(agent))
    asked = len(server.asked)

    found = work_once(trial)

    [new] = beside(trial)
    assert (len(server.asked), asked) == (1, 1)
    assert [call.cached for call in new.model_calls.all()] == [True]
    assert (found.old, found.new, found.diff_class) == ("pass", "pass", "no_diff")
    assert trial.cost_usd == new.cost_usd == 0
    assert found.new_cost_usd == found.old_cost_usd == run.cost_usd == CALL_USD
    assert found.new_ms >= run.live_evaluation.model_calls.get().duration_ms  # type: ignore[union-attr]


def test_votes_in_the_same_words_are_the_live_ones(
    agent: Caller, project: Project, server: ModelServer
) -> None:
    candidate = version(project, unconfirmed_supporting_threshold=0.4)
    trial = beside_live(project, candidate)
    run = work_on(submit(agent, tier=3))
    asked = len(server.asked)

    found = work_once(trial)

    [new] = beside(trial)
    assert len(server.asked) == asked == 4
    assert new.votes.count() == 3
    assert found.new_cost_usd == run.cost_usd == 4 * CALL_USD


def test_sides_that_are_both_beside_share_what_is_asked(
    agent: Caller, project: Project, server: ModelServer
) -> None:
    run = work_on(submit(agent))
    ModelCall.objects.all().delete()  # as if the run had been judged by another model
    trial = make_trial(
        project,
        baseline=version(project, unconfirmed_supporting_threshold=0.4),
        candidate=version(project, unconfirmed_supporting_threshold=0.5),
        created_at=run.created_at,
        aa_rate=0.0,
    )

    found = work_once(trial)

    assert len(server.asked) == 2
    assert found.old_cost_usd == found.new_cost_usd == CALL_USD
    assert trial.cost_usd == CALL_USD

    work_on(submit(agent))
    assert len(server.asked) == 3  # what counts rests on no answer from beside


def test_what_is_asked_beside_is_paid_by_the_trial_and_the_day_never_by_the_run(
    agent: Caller, project: Project, server: ModelServer
) -> None:
    candidate = version(project, tier3_vote_count=5)
    trial = beside_live(project, candidate)
    run = work_on(submit(agent, tier=3))

    found = work_once(trial)

    [new] = beside(trial)
    assert len(server.asked) == 6
    assert new.votes.count() == 5
    assert trial.cost_usd == new.cost_usd == 2 * CALL_USD
    assert (found.old_cost_usd, found.new_cost_usd) == (4 * CALL_USD, 6 * CALL_USD)
    assert Run.objects.get().cost_usd == run.cost_usd == 4 * CALL_USD
    assert Spending.objects.get().spent_usd == 6 * CALL_USD


def test_an_a_a_pair_has_its_own_answers(
    agent: Caller, project: Project, server: ModelServer
) -> None:
    candidate = version(project, unconfirmed_supporting_threshold=0.4)
    trial = beside_live(project, candidate, aa_rate=1.0)
    work_on(submit(agent))
    server.script[:] = [FAILING, PASSING]

    found = work_once(trial)

    assert len(server.asked) == 3
    assert (found.old, found.new) == ("pass", "pass")
    assert (found.old_again, found.new_again) == ("fail", "pass")
    assert found.old_cost_usd == found.new_cost_usd == CALL_USD
    assert trial.cost_usd == 2 * CALL_USD


def test_a_judge_who_accepts_what_tier_one_rejected_makes_a_false_fail_candidate(
    agent: Caller, project: Project, server: ModelServer
) -> None:
    strict = new_process(project, HARD.replace("severity: error", "enforcement: hard"))
    trial = beside_live(project, version(project, tier3_vote_count=5))
    run = work_on(submit(agent, process="strict", output="There is a TODO in the parser."))
    assert (run.verdict, run.tier_achieved) == ("reject", 1)
    DirtyHour.objects.all().delete()
    softer = unpublished(strict, HARD.replace("severity: error", "enforcement: advisory"))
    Trial.objects.filter(pk=trial.pk).update(candidate_process_version=softer, process=strict)

    found = work_once(trial)

    assert (found.old, found.new) == ("fail", "pass_with_warnings")
    kinds = list(run.events.order_by("seq").values_list("kind", flat=True))
    assert kinds[-2:] == ["verification_false_negative_candidate", "verification_shadow_diff"]
    told = run.events.get(kind="verification_false_negative_candidate")
    assert told.data == {"trial": str(trial.uuid)}
    assert DirtyHour.objects.filter(project=project).exists()


def test_a_worker_lost_between_two_sides_pays_nothing_twice(
    agent: Caller, project: Project, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    candidate = version(project, tier3_vote_count=5)
    trial = beside_live(project, candidate)
    work_on(submit(agent, tier=3))
    finish = storing._finish

    def dying(*given: Any) -> Any:
        monkeypatch.setattr(storing, "_finish", finish)
        raise KeyboardInterrupt

    monkeypatch.setattr(storing, "_finish", dying)
    with pytest.raises(KeyboardInterrupt):
        worked(trial)
    lose(trial)

    found = work_once(trial)

    [new] = beside(trial)
    assert len(server.asked) == 6
    assert trial.cost_usd == 2 * CALL_USD
    assert found.new_evaluation_id == new.pk
    assert new.votes.count() == 5
    assert found.claims == 2


def test_a_candidate_whose_judge_is_away_is_in_doubt(
    agent: Caller, project: Project, server: ModelServer
) -> None:
    trial = beside_live(project, version(project, tier3_vote_count=5))
    work_on(submit(agent, tier=3))
    ModelCall.objects.all().delete()  # as if nothing of the live verification could be shared
    server.script[:] = [Said("away", status=503)]

    found = work_once(trial)

    assert (found.old, found.new, found.diff_class) == ("pass", "undecided", "new_undecided")
    assert found.has_failed
    assert found.error_text == "The verifier could not look into it. It was asked once."


def test_a_trial_stops_when_its_budget_is_spent(
    agent: Caller, project: Project, server: ModelServer
) -> None:
    trial = beside_live(project, version(project, tier3_vote_count=5), budget_usd=CALL_USD)
    for _ in range(2):
        work_on(submit(agent, tier=3))
    asked = len(server.asked)

    worked(trial)

    assert (trial.state, trial.stop_reason) == (TrialState.STOPPED, StopReason.BUDGET)
    assert trial.stop_text == "Its budget of 0.0030 USD is spent: 0.0060 USD so far."
    assert len(server.asked) - asked <= 2
    assert waiting(trial).count() == 0
    assert AuditEntry.objects.filter(verb="trial.stopped", object_id=str(trial.uuid)).count() == 1


def test_a_budget_that_holds_no_call_is_spent_with_the_first_question(
    agent: Caller, project: Project, server: ModelServer
) -> None:
    trial = beside_live(project, version(project, tier3_vote_count=5), budget_usd=0)
    work_on(submit(agent, tier=3))
    asked = len(server.asked)

    worked(trial)

    assert trial.state == TrialState.STOPPED
    assert (trial.cost_usd, len(server.asked)) == (Decimal(0), asked)
    assert not trial.comparisons.exists()


def test_a_stopped_trial_asks_no_further_question(
    agent: Caller, project: Project, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = beside_live(project, version(project, tier3_vote_count=5), aa_rate=1.0)
    run = work_on(submit(agent, tier=3))
    asked = len(server.asked)
    evaluate = evaluating.evaluate

    def stopping(*given: Any, **wish: Any) -> Any:
        Trial.objects.filter(pk=trial.pk).update(state=TrialState.STOPPED)
        return evaluate(*given, **wish)

    monkeypatch.setattr(storing, "evaluate", stopping)
    worked(trial)

    assert len(server.asked) == asked
    assert not trial.comparisons.exists()
    assert Run.objects.get().cost_usd == run.cost_usd


def test_the_side_of_a_run_that_verified_itself_again_costs_what_all_its_tiers_did(
    agent: Caller, project: Project, server: ModelServer, settings: Any
) -> None:
    settings.REVERIFY_DEADLINE_SECONDS = 900
    trial = beside_live(project, version(project, unconfirmed_supporting_threshold=0.4))
    server.script[:] = [PASSING, NOISE]
    run = work_on(submit(agent, tier=3))
    first = run.cost_usd
    server.script[:] = [PASSING]
    make_due(run)
    run = work_on(run)
    assert (run.state, run.verdict) == ("finished", "accept")

    found = work_once(trial)

    reverify = Evaluation.objects.get(run=run, purpose="reverify")
    assert found.old_evaluation_id == reverify.pk
    assert first > CALL_USD
    assert found.old_cost_usd == reverify.cost_usd + CALL_USD
    assert found.new_cost_usd == found.old_cost_usd
