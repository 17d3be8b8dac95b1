from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import AuditEntry, Project, Role
from loomverify.errors import Conflict, Forbidden, InputError
from loomverify.guarding import Objected
from processes.models import ProcessVersion, Rule
from processes.services import publish
from tests.builders import SOURCE_TEXT, add_version, make_project, make_user, signed_in
from tests.golden.builders import make_case, make_replay, make_result
from tests.trials.at_once import at_once
from tests.trials.builders import (
    access_to,
    fill_open,
    make_candidate,
    make_comparisons,
    make_cutover_replay,
    make_legacy,
    make_trial,
    make_verifier,
)
from tests.trials.paging import page, url
from verification.engine.cutover import CriterionState
from verification.engine.golden.standing import Change, Standing
from verification.engine.verifier import Flags, VerifierSpec
from verification.golden.replays.selectors import corpus_sha256
from verification.rules.models import Expected, Pin
from verification.trials import selectors
from verification.trials.models import Judged, StopReason, Trial, TrialState
from verification.trials.promoted import still_in_force
from verification.trials.services import promoting, watching
from verification.verifiers.comparing import judge_alike
from verification.verifiers.services import activate, ensure_verifiers
from verification.verifiers.services import add_version as add_verifier

pytestmark = pytest.mark.django_db


def promote(trial: Trial, role: Role = Role.ADMIN, **given: Any) -> Trial:
    wish = {"reason": "Half of the false fails are gone.", **given}
    return promoting.promote(access=access_to(trial.project, role, "ada"), trial=trial, **wish)


def roll_back(trial: Trial, reason: str = "Undecided runs doubled.") -> Trial:
    access = access_to(trial.project, Role.ADMIN, "ada")
    return promoting.roll_back(access=access, trial=trial, reason=reason)


def open_trial(project: Project, **given: Any) -> Trial:
    trial = make_trial(project, **given)
    fill_open(trial)
    return trial


def live(project: Project) -> int:
    return project.verifiers.get(is_active=True).number


def published(project: Project) -> int | None:
    process = project.processes.get()
    return process.published.number if process.published else None


def draft(project: Project) -> ProcessVersion:
    """A version of the process that is not published."""
    process = project.processes.get()
    before = process.published
    version = add_version(process, SOURCE_TEXT + "# Better.\n")
    process.published = before
    process.save(update_fields=["published"])
    return version


def refusal_of(trial: Trial, **given: Any) -> str:
    with pytest.raises(InputError) as refusal:
        promote(trial, **given)
    stored = Trial.objects.get(pk=trial.pk)
    assert (stored.state, stored.promotion) == (trial.state, {}), "nothing was changed"
    assert not AuditEntry.objects.filter(verb="trial.promoted").exists()
    return refusal.value.code


def test_the_rows_of_an_open_gate_open_it(project: Project) -> None:
    gate = selectors.gate_of(open_trial(project))

    assert gate.state == "open", gate


def test_through_an_open_gate_the_candidate_judges_runs(project: Project) -> None:
    trial = open_trial(project)

    promoted = promote(trial)

    assert live(project) == 2
    assert (promoted.state, promoted.stop_reason) == (TrialState.PROMOTED, StopReason.CUTOVER)
    assert promoted.promoted_at == promoted.finished_at
    kept = promoted.promotion
    assert kept["verifier"] == {"before": 1, "after": 2}
    assert (kept["by"], kept["override"]) == ("ada", False)
    assert kept["reason"] == "Half of the false fails are gone."
    assert (kept["gate"]["state"], kept["gate"]["discordant"]) == ("open", 60)


def test_a_promotion_and_its_figures_stand_in_the_audit_log(project: Project) -> None:
    promote(open_trial(project))

    entry = AuditEntry.objects.get(verb="trial.promoted")
    assert entry.diff["verifier"] == [1, 2]
    assert entry.diff["gate"][1].startswith("open: 600 pairs, 60 discordant, p 0.0000.")
    assert "override" not in entry.diff
    assert AuditEntry.objects.get(verb="verifier.activated").reason == entry.reason


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({}, "trial.gate_insufficient_data"),
        ({"judged": Judged.OLD}, "trial.gate_closed"),
    ],
)
def test_through_a_gate_that_is_not_open_nothing_goes_without_an_override(
    project: Project, columns: Mapping[str, Any], code: str
) -> None:
    trial = make_trial(project)
    make_comparisons(trial, {("fail", "pass"): 60}, **columns)

    assert refusal_of(trial) == code
    assert live(project) == 1


def test_an_override_needs_no_open_gate_and_is_on_the_audit_page(project: Project) -> None:
    trial = make_trial(project)

    promoted = promote(trial, override=True, reason="The old one is broken.")

    admin = signed_in(make_user(project, Role.ADMIN))
    audit = page(admin, reverse("settings_audit", args=[project.slug]) + "?verb=trial.promoted")
    assert live(project) == 2
    assert promoted.promotion["override"] is True
    assert "override The old one is broken." in audit
    assert "gate insufficient_data: 0 pairs" in audit


@pytest.mark.extended
def test_an_override_of_an_open_gate_is_none(project: Project) -> None:
    promoted = promote(open_trial(project), override=True)

    assert promoted.promotion["override"] is False
    assert "override" not in AuditEntry.objects.get(verb="trial.promoted").diff


@pytest.mark.extended
@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER, Role.EDITOR])
def test_only_admins_promote_and_roll_back(project: Project, role: Role) -> None:
    trial = open_trial(project)

    with pytest.raises(Forbidden):
        promote(trial, role=role)
    with pytest.raises(Forbidden):
        promoting.roll_back(access=access_to(project, role), trial=trial, reason="No.")


@pytest.mark.extended
def test_a_reason_is_asked_for(project: Project) -> None:
    trial = open_trial(project)

    assert refusal_of(trial, reason=" \n") == "reason.missing"
    assert refusal_of(trial, watch_days=0) == "trial.watch_days"
    assert refusal_of(trial, watch_days=91) == "trial.watch_days"


def test_a_candidate_is_promoted_once(project: Project) -> None:
    trial = promote(open_trial(project))

    with pytest.raises(Conflict) as refusal:
        promote(trial)

    assert refusal.value.code == "trial.promoted"


@pytest.mark.extended
def test_what_judges_meanwhile_is_named_instead(project: Project) -> None:
    trial = open_trial(project)
    other = make_legacy(project)
    activate(project=project, number=other.number, actor=SYSTEM, reason="Try.", corpus_reason="!")

    with pytest.raises(Conflict, match=r"verifier v3 \(legacy\) now") as refusal:
        promote(trial, override=True)

    assert refusal.value.code == "trial.live_changed"
    assert live(project) == 3


@pytest.mark.extended
def test_what_judges_already_needs_no_promotion(project: Project) -> None:
    old = make_legacy(project)
    trial = open_trial(project, baseline=old, candidate=project.verifiers.get(is_active=True))

    assert refusal_of(trial) == "trial.already_live"


@pytest.mark.extended
def test_another_build_of_what_judges_is_not_promoted(project: Project) -> None:
    spec = VerifierSpec(engine_build="0")
    trial = open_trial(project, candidate=add_verifier(project=project, spec=spec))

    assert refusal_of(trial) == "trial.same_but_program"
    assert live(project) == 1


@pytest.mark.extended
def test_what_only_has_legacy_judge_beside_is_activated_and_not_promoted(
    project: Project,
) -> None:
    trial = open_trial(project, candidate=make_verifier(project, shadow_compare_enabled=True))

    assert refusal_of(trial) == "trial.same_but_standing"
    assert live(project) == 1


def test_an_upgrade_is_something_else_that_judges_though_it_judges_alike(
    project: Project,
) -> None:
    spec = VerifierSpec(Flags(tier3_vote_count=5), engine_build="0")
    trial = promote(open_trial(project, candidate=add_verifier(project=project, spec=spec)))
    assert still_in_force([trial]) == {trial.pk}

    upgraded = ensure_verifiers(project=project)
    watch = Trial.objects.get(watches=trial)
    watching.look(watch)

    watch.refresh_from_db()
    assert judge_alike(trial.candidate_verifier, upgraded)
    assert (watch.state, watch.stop_reason) == (TrialState.ENDED, StopReason.REPLACED)
    assert not still_in_force([trial])
    with pytest.raises(Conflict, match="which is not what was promoted"):
        roll_back(trial)


@pytest.mark.extended
def test_a_trial_that_ended_may_be_promoted_still(project: Project) -> None:
    trial = open_trial(project, state=TrialState.ENDED, stop_reason=StopReason.TIME)

    promoted = promote(trial)

    assert (promoted.state, promoted.stop_reason) == (TrialState.PROMOTED, StopReason.TIME)


def test_a_version_of_a_process_is_published(project: Project) -> None:
    trial = open_trial(project, candidate_process_version=draft(project))

    promoted = promote(trial)

    assert (published(project), live(project)) == (2, 1)
    assert promoted.promotion["process"] == {"slug": "small-work", "before": 1, "after": 2}
    assert "verifier" not in promoted.promotion


def test_both_are_changed_in_one_step(project: Project) -> None:
    make_case(project)  # the cutover's replay was by both: it answers both guards
    trial = open_trial(
        project,
        candidate=make_candidate(project),
        candidate_process_version=draft(project),
        baseline_process_version=project.processes.get().published,
    )

    promoted = promote(trial)
    assert (published(project), live(project)) == (2, 2)
    roll_back(promoted)
    assert (published(project), live(project)) == (1, 1)


def test_another_published_version_stands_in_the_way(project: Project) -> None:
    candidate = draft(project)
    trial = open_trial(
        project,
        candidate_process_version=candidate,
        baseline_process_version=project.processes.get().published,
    )
    third = add_version(project.processes.get(), SOURCE_TEXT + "# Best.\n")

    assert refusal_of(trial) == "trial.live_changed"
    assert published(project) == third.number


@pytest.mark.extended
def test_a_published_candidate_is_live_already(project: Project) -> None:
    candidate = draft(project)
    baseline = project.processes.get().published
    trial = open_trial(
        project, candidate_process_version=candidate, baseline_process_version=baseline
    )
    process = project.processes.get()
    publish(process=process, number=2, actor=SYSTEM, reason="Now.", corpus_reason="Now.")

    assert refusal_of(trial) == "trial.already_live"


@pytest.mark.extended
def test_guards_are_heard_and_the_cutovers_replay_answers_them(project: Project) -> None:
    case = make_case(project, tags=["canary"])
    make_case(project)
    trial = open_trial(project)

    promote(trial)

    entry = AuditEntry.objects.get(verb="verifier.activated")
    assert entry.diff["corpus"] == [None, "1 golden case was not replayed with it yet."]
    assert entry.diff["corpus_reason"][1].startswith("Replayed for the cutover: of 12 cases")
    assert case.current is not None


@pytest.mark.extended
def test_a_later_replay_in_which_cases_regressed_is_not_answered(project: Project) -> None:
    case = make_case(project)
    version = project.processes.get().published
    earlier = make_replay(project, created_at=timezone.now() - timedelta(days=1))
    make_result(earlier, case, standing=Standing.HELD)
    trial = open_trial(project)
    later = make_replay(
        project,
        verifier_version=trial.candidate_verifier,
        is_live_line=False,
        corpus_sha256=corpus_sha256(project),
        total=1,
        counts={Change.REGRESSED: 1},
    )
    make_result(
        later, case, standing=Standing.FAILING, change=Change.REGRESSED, process_version=version
    )

    with pytest.raises(Objected) as refusal:
        promote(trial)

    assert (refusal.value.code, live(project)) == ("golden.regressed", 1)


def test_the_cutovers_replay_answers_for_the_corpus_and_not_for_examples(project: Project) -> None:
    make_case(project, tags=["canary"])
    make_case(project)
    rule = Rule.objects.create(process=project.processes.get(), name="no-placeholders")
    Pin.objects.create(rule=rule, expected=Expected.CAUGHT, text="Nothing of the sort.")
    trial = open_trial(project, candidate_process_version=draft(project))

    with pytest.raises(Objected) as refusal:
        promote(trial)
    shown = page(signed_in(make_user(project, Role.ADMIN)), url(trial, "trial_promote"))
    promote(trial, corpus_reason="It is caught elsewhere.")

    assert [one.code for one in refusal.value.issues] == ["example.broken"]
    assert "1 of 1 example broken." in shown
    entry = AuditEntry.objects.get(verb="process.published")
    assert entry.diff["corpus_reason"] == [None, "It is caught elsewhere."]


def test_an_override_passes_no_guard_by_itself(project: Project) -> None:
    make_case(project)
    trial = make_trial(project)

    with pytest.raises(Objected) as refusal:
        promote(trial, override=True)
    assert (refusal.value.code, live(project)) == ("golden.not_replayed", 1)
    promote(trial, override=True, corpus_reason="They say nothing of this.")

    assert live(project) == 2


def test_a_harmed_corpus_closes_the_gate(project: Project) -> None:
    trial = open_trial(project)
    case = make_case(project)
    earlier = make_replay(project, created_at=timezone.now() - timedelta(days=1))
    make_result(earlier, case, standing=Standing.HELD)
    replay = make_cutover_replay(trial, total=1, counts={Change.REGRESSED: 1})
    make_result(
        replay,
        case,
        standing=Standing.FAILING,
        change=Change.REGRESSED,
        process_version=project.processes.get().published,
    )

    assert refusal_of(trial) == "trial.gate_closed"


@pytest.mark.extended
def test_a_failing_case_that_the_old_one_never_met_keeps_the_gate_waiting(
    project: Project,
) -> None:
    trial = open_trial(project)
    case = make_case(project, tags=["canary"])
    version = project.processes.get().published
    replay = make_cutover_replay(trial, total=1, counts={Change.NEW: 1})
    failing = Standing.FAILING
    make_result(replay, case, change=Change.NEW, standing=failing, process_version=version)
    [corpus] = [one for one in selectors.gate_of(trial).criteria if one.name == "corpus"]
    assert (corpus.state, refusal_of(trial)) == (
        CriterionState.WAITING,
        "trial.gate_insufficient_data",
    )

    # By what judges now: it failed there too.
    make_result(make_replay(project), case, standing=failing, process_version=version)

    [corpus] = [one for one in selectors.gate_of(trial).criteria if one.name == "corpus"]
    assert corpus.state == CriterionState.HOLDS


@pytest.mark.extended
def test_after_the_cutover_the_old_one_keeps_shadowing(project: Project) -> None:
    trial = open_trial(project, sample_rate=0.5)

    promote(trial, watch_days=7)

    watch = Trial.objects.get(watches=trial)
    assert watch.is_running
    assert (watch.baseline_verifier.number, watch.candidate_verifier.number) == (1, 2)
    assert (watch.sample_rate, watch.aa_rate) == (0.5, 0.0)
    assert watch.title == f"After the cutover: {trial.title}"
    assert watch.ends_at is not None
    assert timedelta(days=6) < watch.ends_at - timezone.now() <= timedelta(days=7)


def test_the_published_version_before_keeps_shadowing(project: Project) -> None:
    trial = open_trial(project, candidate_process_version=draft(project))

    promote(trial)

    watch = Trial.objects.get(watches=trial)
    assert watch.baseline_process_version == project.processes.get().versions.get(number=1)
    assert watch.candidate_process_version == trial.candidate_process_version


def test_one_step_leads_back(project: Project) -> None:
    trial = promote(open_trial(project))

    back = roll_back(trial)

    watch = Trial.objects.get(watches=trial)
    entry = AuditEntry.objects.get(verb="trial.rolled_back")
    assert live(project) == 1
    assert back.state == TrialState.ROLLED_BACK
    assert back.rolled_back_at is not None
    assert entry.reason == "Undecided runs doubled."
    assert (watch.state, watch.stop_reason) == (TrialState.STOPPED, StopReason.PERSON)
    assert watch.stop_text == "The cutover was rolled back: Undecided runs doubled."


@pytest.mark.extended
def test_no_guard_stands_in_the_way_back(project: Project) -> None:
    trial = promote(open_trial(project))
    make_case(project)

    roll_back(trial)

    entry = AuditEntry.objects.filter(verb="verifier.activated").latest("pk")
    assert live(project) == 1
    assert entry.diff["corpus_reason"] == [None, "Roll-back: Undecided runs doubled."]


@pytest.mark.extended
def test_what_was_not_promoted_cannot_be_rolled_back(project: Project) -> None:
    trial = open_trial(project)

    with pytest.raises(Conflict) as refusal:
        roll_back(trial)
    assert refusal.value.code == "trial.not_promoted"

    roll_back(promote(trial))
    with pytest.raises(Conflict) as again:
        roll_back(trial)
    assert again.value.code == "trial.not_promoted"


def test_a_roll_back_never_takes_away_what_came_after(project: Project) -> None:
    trial = promote(open_trial(project))
    other = make_legacy(project)
    activate(project=project, number=other.number, actor=SYSTEM, reason="Try.", corpus_reason="!")

    with pytest.raises(Conflict) as refusal:
        roll_back(trial)

    assert (refusal.value.code, live(project)) == ("trial.live_changed", other.number)
    assert Trial.objects.get(pk=trial.pk).state == TrialState.PROMOTED


@pytest.mark.extended
@pytest.mark.django_db(transaction=True)
def test_of_two_who_promote_at_once_one_does() -> None:
    project = make_project()
    trial = open_trial(project)

    def act() -> str:
        return str(promote(Trial.objects.get(pk=trial.pk)).state)

    assert sorted(at_once(act, act)) == ["promoted", "trial.promoted"]
    assert AuditEntry.objects.filter(verb="trial.promoted").count() == 1
    assert Trial.objects.filter(watches=trial).count() == 1


@pytest.mark.extended
@pytest.mark.django_db(transaction=True)
def test_of_two_candidates_promoted_at_once_one_is() -> None:
    project = make_project()
    trials = [open_trial(project), open_trial(project, candidate=make_legacy(project))]

    told = at_once(*(lambda one=one: str(promote(one).state) for one in trials))

    assert sorted(told) == ["promoted", "trial.live_changed"]
