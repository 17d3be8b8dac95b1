"""Both sides of a run: what they come to, what is stored of them, and what nothing is done to."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.forms.models import model_to_dict

from loomverify.accounts.models import Project, Role
from tests.runs.conftest import Caller, new_process, new_project
from tests.trials.builders import make_trial, make_verifier
from tests.trials.worked import (
    PLACEHOLDER,
    beside,
    legacy_beside,
    unpublished,
    work_once,
    worked,
)
from verification.engine import climb as engine
from verification.engine.shadow import DiffClass
from verification.engine.verifier import ENGINE_BUILD, PhaseScope, VerifierSpec
from verification.runs.beside import evaluating
from verification.runs.models import (
    Evaluation,
    Event,
    Finding,
    OutboxEvent,
    Remediation,
    Review,
    Run,
    Task,
    TierResult,
)
from verification.trials import sides
from verification.verifiers.services import add_version

pytestmark = pytest.mark.django_db
Captured = Callable[..., AbstractContextManager[Any]]
TWO_PHASES = """\
name: two-phases
phases:
  - id: plan
    description: Plan it
    acceptance_criteria: There is a plan
  - id: build
    description: Build it
    acceptance_criteria: It is built
verification:
  rules:
    - name: no-costs-yet
      check: "EUR"
      type: regex
      enforcement: hard
      applies_to_phases: [plan]
"""


@pytest.fixture
def project(own_evidence: None, db: None) -> Project:
    return new_project("ours")


@pytest.fixture
def agent(project: Project) -> Caller:
    return Caller(project, Role.AGENT)


def run_of(told: dict[str, Any]) -> Run:
    return Run.objects.get(uuid=told["id"])


def test_a_placeholder_that_the_old_engine_rejects_is_a_laxer_move(
    agent: Caller, project: Project
) -> None:
    trial = legacy_beside(project)
    told = agent.submit(output=PLACEHOLDER)

    found = work_once(trial)

    assert told["outcome"] == "pass_with_warnings"
    assert found.diff_class == DiffClass.OLD_FAIL_NEW_PASS
    assert (found.old, found.new) == ("fail", "pass_with_warnings")
    assert found.old_reason == "incomplete_deliverable_placeholder"
    assert (found.rules, found.summary) == (
        ["no-placeholders"], "no-placeholders: hard → advisory",
    )  # fmt: skip
    assert (found.process, found.phase, found.title) == ("general", "work", told["task"]["id"])
    assert len(found.kind) == 16


def test_a_rule_of_another_phase_speaks_in_the_old_engine_alone(
    agent: Caller, project: Project
) -> None:
    new_process(project, TWO_PHASES)
    trial = legacy_beside(project)
    agent.submit(process="two-phases", phase="build", output="It costs 5 EUR.")

    found = work_once(trial)

    assert (found.diff_class, found.rules) == (DiffClass.OLD_FAIL_NEW_PASS, ["no-costs-yet"])
    assert "scope" in found.finer


def test_the_side_that_judged_the_run_is_not_evaluated_again(
    agent: Caller, project: Project
) -> None:
    trial = legacy_beside(project)
    run = run_of(agent.submit(output=PLACEHOLDER))

    found = work_once(trial)

    [old] = beside(trial)
    assert found.new_evaluation_id == run.live_evaluation_id
    assert found.old_evaluation_id == old.pk
    assert (old.purpose, old.seq, old.run_id, old.process_version_id) == (
        "shadow", 1, run.pk, run.process_version_id,
    )  # fmt: skip
    assert (old.outcome, old.verdict, old.tier_achieved) == ("fail", "reject", 1)
    assert old.finished_at is not None


def test_a_side_beside_is_stored_as_whole_as_the_live_one(agent: Caller, project: Project) -> None:
    live = project.verifiers.get(is_active=True)
    older = add_version(project=project, spec=VerifierSpec(engine_build="0"))
    trial = make_trial(project, baseline=live, candidate=older)
    run = run_of(agent.submit(output=PLACEHOLDER, return_code=1))

    found = work_once(trial)

    [new] = beside(trial)
    old = run.evaluations.get(purpose="live")
    assert new.engine_build == ENGINE_BUILD  # which ran, whatever made the version
    assert found.run_key == run.pk
    named = ("id", "uuid", "purpose", "trial_id", "seq", "verifier_version", "duration_ms",
             "started_at", "finished_at", "run")  # fmt: skip
    assert model_to_dict(new, exclude=named) == model_to_dict(old, exclude=named)
    assert _findings(new) == _findings(old)
    assert len(_findings(new)) == 2
    assert _tiers(new) == _tiers(old)
    assert (found.diff_class, found.finer, found.kind) == (DiffClass.NO_DIFF, [], "")


def _findings(evaluation: Evaluation | None) -> list[dict[str, Any]]:
    rows = Finding.objects.filter(evaluation=evaluation).order_by("position")
    return [model_to_dict(row, exclude=("id", "evaluation")) for row in rows]


def _tiers(evaluation: Evaluation | None) -> list[dict[str, Any]]:
    rows = TierResult.objects.filter(evaluation=evaluation).order_by("tier")
    told = [model_to_dict(row, exclude=("id", "evaluation", "duration_ms")) for row in rows]
    return [{**one, "result": {**one["result"], "duration_ms": 0}} for one in told]


def test_what_a_trial_makes_of_a_run_changes_nothing_that_counts(
    agent: Caller, project: Project
) -> None:
    trial = legacy_beside(project)
    agent.submit(output=PLACEHOLDER)
    agent.submit(return_code=1, task={"id": "again"})
    agent.submit(return_code=1, task={"id": "again"}, output="Something else.")
    before = _all_that_counts(agent)

    worked(trial)
    after = _all_that_counts(agent)

    assert len(beside(trial)) == 3
    assert after == before


def _all_that_counts(agent: Caller) -> list[Any]:
    tables = (Run, Task, Review, Remediation, OutboxEvent)
    told = [list(table._default_manager.order_by("pk").values()) for table in tables]
    counting = Evaluation.objects.filter(purpose__in=("live", "reverify")).order_by("pk")
    events = Event.objects.exclude(kind="verification_shadow_diff").order_by("pk")
    said = [agent.get(f"/runs/{run.uuid}").json() for run in Run.objects.order_by("pk")]
    return [*told, list(counting.values()), list(events.values()), said]


def test_the_runs_history_tells_of_a_difference_and_of_nothing_else(
    agent: Caller, project: Project
) -> None:
    trial = legacy_beside(project)
    differs, same = run_of(agent.submit(output=PLACEHOLDER)), run_of(agent.submit())

    worked(trial)

    last = differs.events.order_by("seq").last()
    assert last is not None
    assert (last.kind, last.data) == ("verification_shadow_diff", {
        "trial": str(trial.uuid), "class": "old_fail_new_pass",
        "old": "fail", "new": "pass_with_warnings",
    })  # fmt: skip
    assert not same.events.filter(kind="verification_shadow_diff").exists()
    seqs = list(differs.events.order_by("seq").values_list("seq", flat=True))
    assert seqs == list(range(1, len(seqs) + 1))


def test_neither_side_has_to_be_the_live_one(agent: Caller, project: Project) -> None:
    old = project.verifiers.get(engine="legacy")
    new = make_verifier(project, phase_scope_default=PhaseScope.GLOBAL)
    trial = make_trial(project, baseline=old, candidate=new)
    run = run_of(agent.submit(output=PLACEHOLDER))

    found = work_once(trial)

    first, second = beside(trial)
    assert (first.seq, first.verifier_version_id) == (1, old.pk)
    assert (second.seq, second.verifier_version_id) == (2, new.pk)
    assert (found.old_evaluation_id, found.new_evaluation_id) == (first.pk, second.pk)
    assert run.live_evaluation_id not in (first.pk, second.pk)
    assert (found.old, found.new) == ("fail", "pass_with_warnings")


def test_a_version_of_the_process_may_be_the_candidate(agent: Caller, project: Project) -> None:
    process = new_process(project, TWO_PHASES)
    relaxed = TWO_PHASES.replace("enforcement: hard", "enforcement: advisory")
    version = unpublished(process, relaxed)
    trial = make_trial(project, candidate_process_version=version)
    run = run_of(agent.submit(process="two-phases", phase="plan", output="It costs 5 EUR."))
    agent.submit()

    found = work_once(trial)

    [new] = beside(trial)
    assert trial.process == process
    assert (new.run_id, new.process_version_id) == (run.pk, version.pk)
    assert (found.old, found.new) == ("fail", "pass_with_warnings")
    assert list(new.findings.values_list("rule", "enforcement")) == [("no-costs-yet", "advisory")]


def test_a_candidate_that_cannot_verify_is_stored_as_doubt_and_said_to_have_failed(
    agent: Caller, project: Project
) -> None:
    process = new_process(project, TWO_PHASES)
    without = unpublished(process, TWO_PHASES.replace("id: build", "id: make"))
    trial = make_trial(project, candidate_process_version=without)
    agent.submit(process="two-phases", phase="build")

    found = work_once(trial)

    [new] = beside(trial)
    assert (found.old, found.new, found.new_reason) == ("pass", "undecided", "infra_verifier_error")
    assert (found.diff_class, found.has_failed) == (DiffClass.NEW_UNDECIDED, True)
    assert "phase build is not in version" in found.error_text
    assert (new.verdict, new.reason_code, new.severity_class) == (
        "undecided", "infra_verifier_error", "infra",
    )  # fmt: skip
    [tier] = new.tiers.all()
    assert (tier.status, tier.detail) == ("error", found.error_text)


def test_a_fault_of_ours_in_one_side_takes_no_other_comparison_with_it(
    agent: Caller, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = legacy_beside(project)
    agent.submit(output="Everything breaks here.")
    agent.submit()
    climb = engine.climb

    def breaking(case: Any, *rest: Any) -> Any:
        if "breaks" in case.submission.output:
            raise RuntimeError("a bug of ours")
        return climb(case, *rest)

    monkeypatch.setattr(evaluating, "climb", breaking)
    broken, whole = worked(trial)

    assert (broken.old, broken.new, broken.has_failed) == ("undecided", "pass", True)
    assert broken.diff_class == DiffClass.OLD_UNDECIDED
    assert broken.error_text == "RuntimeError in the verifier: a bug of ours"
    assert (whole.old, whole.has_failed, whole.error_text) == ("pass", False, "")


def test_an_a_a_pair_asks_both_sides_twice(agent: Caller, project: Project) -> None:
    trial = legacy_beside(project, aa_rate=1.0)
    agent.submit(output=PLACEHOLDER)

    found = work_once(trial)

    assert found.is_aa
    assert (found.old_again, found.new_again) == (found.old, found.new)
    assert [(one.purpose, one.seq, one.outcome) for one in beside(trial)] == [
        ("aa", 1, "fail"), ("aa", 2, "pass_with_warnings"), ("shadow", 1, "fail"),
    ]  # fmt: skip


def test_the_same_work_sent_again_and_again_is_the_same_reason_on_both_sides(
    agent: Caller, project: Project
) -> None:
    trial = legacy_beside(project)
    for _ in range(3):
        told = agent.submit(task={"id": "stuck"}, return_code=1)

    found = worked(trial)

    assert told["reason_code"] == "repeated_candidate"
    assert [(one.old_reason, one.new_reason) for one in found] == [
        ("nonzero_return_code", "nonzero_return_code"),
        ("nonzero_return_code", "nonzero_return_code"),
        ("repeated_candidate", "repeated_candidate"),
    ]
    assert {one.diff_class for one in found} == {DiffClass.NO_DIFF}
    actions = [one.action for one in beside(trial)]
    assert actions == ["retry", "retry", "revert"]


def test_both_sides_are_read_back_in_two_queries_however_many_they_are(
    agent: Caller, project: Project, django_assert_num_queries: Captured
) -> None:
    trial = legacy_beside(project)
    for number in range(5):
        agent.submit(output=f"{PLACEHOLDER} for {number}")
    found = worked(trial)
    ids = [pk for one in found for pk in (one.old_evaluation_id, one.new_evaluation_id) if pk]

    with django_assert_num_queries(2):
        full = sides.full_of(ids)

    assert len(full) == 10
    assert {len(one.findings) for one in full.values()} == {1}
    assert all(one.trace for one in full.values())


def test_a_batch_costs_as_many_queries_as_one_comparison(
    agent: Caller, project: Project, django_assert_max_num_queries: Captured
) -> None:
    from verification.trials.working import claiming, making, sampling

    trial = legacy_beside(project)
    for _ in range(12):
        agent.submit(output=PLACEHOLDER)
    sampling.take_new(trial)
    making.make(trial, claiming.claim(trial.pk, batch=1))
    claimed = claiming.claim(trial.pk, batch=50)

    with django_assert_max_num_queries(20):
        making.make(trial, claimed)

    assert len(claimed) == 11
    assert trial.comparisons.filter(compared_at__isnull=False).count() == 12
