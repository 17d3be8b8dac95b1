from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import AuditEntry, Project, Role
from tests.builders import SOURCE_TEXT, make_process, make_run, make_user, signed_in
from tests.golden.builders import make_case
from tests.tables import check_rows
from tests.trials.builders import (
    fill_open,
    make_candidate,
    make_comparisons,
    make_legacy,
    make_queued,
    make_trial,
    make_trial_replay,
    make_verifier,
)
from tests.trials.paging import list_url, page, queries, start_url, text_of, url
from tests.trials.scene import make_drifted, promote
from tests.trials.worked import unpublished
from verification.golden.models import Replay, ReplayPurpose
from verification.trials.models import Comparison, Trial, TrialReplay, TrialState
from verification.verifiers.services import activate

pytestmark = pytest.mark.django_db


@pytest.fixture
def viewer(project: Project) -> Client:
    return signed_in(make_user(project, Role.VIEWER))


@pytest.fixture
def editor(project: Project) -> Client:
    return signed_in(make_user(project, Role.EDITOR))


@pytest.fixture
def admin(project: Project) -> Client:
    return signed_in(make_user(project, Role.ADMIN))


def form(**changed: object) -> dict[str, Any]:
    usual = {"baseline": "1", "candidate": "2", "rate": "100", "aa": "10", "limit": "1000"}
    return {**usual, **{name: str(value) for name, value in changed.items()}}


# ---------------------------------------------------------------- starting


def test_one_click_compares_the_two_engines_over_past_runs(
    editor: Client, project: Project
) -> None:
    legacy, run = make_legacy(project), make_run(project)
    html = editor.get(list_url(project)).content.decode()
    assert f'name="baseline" value="{legacy.number}"' in html

    answer = editor.post(start_url(project), form(baseline=legacy.number, candidate=1, past="on"))

    trial = Trial.objects.get()
    assert answer["Location"] == url(trial)
    assert (trial.baseline_verifier.engine, trial.candidate_verifier.engine) == ("legacy", "policy")
    assert Comparison.objects.get(trial=trial).run == run
    assert "Past runs 0 of 1" in page(editor, url(trial))


def test_the_form_begins_with_what_judges_now_and_the_newest_other_but_legacy_is_old(
    editor: Client, project: Project
) -> None:
    make_legacy(project)

    answer = editor.get(start_url(project))

    form_of = answer.context["form"]
    assert (form_of["baseline"].value(), form_of["candidate"].value()) == ("2", "1")
    assert "v1, policy engine: judges runs now" in text_of(answer.content)

    candidate = make_candidate(project)
    form_of = editor.get(start_url(project)).context["form"]
    sides = (form_of["baseline"].value(), form_of["candidate"].value())
    assert sides == ("1", str(candidate.number))


def test_a_candidate_can_be_named_in_the_address(editor: Client, project: Project) -> None:
    make_legacy(project)
    candidate = make_candidate(project)

    answer = editor.get(start_url(project, candidate=candidate.number))

    assert answer.context["form"]["candidate"].value() == str(candidate.number)


def test_what_differs_is_told_as_soon_as_the_sides_are_chosen(
    editor: Client, project: Project
) -> None:
    candidate = make_candidate(project)
    part = {"HX-Request": "true", "HX-Target": "differs"}
    make_run(project)

    path = start_url(project, **form(candidate=candidate.number, past="on"))
    html = editor.get(path, headers=part).content.decode()

    assert "<html" not in html
    assert "0.3 0.4" in text_of(html)
    assert "1 past run is taken at once." in text_of(html)


def test_two_sides_that_are_the_same_are_told_and_refused(editor: Client, project: Project) -> None:
    path = start_url(project, **form(candidate=1))
    assert "Both sides are the same" in page(editor, path)

    answer = editor.post(start_url(project), form(candidate=1))

    assert answer.status_code == 422
    assert "Both sides are the same" in str(answer.context["form"].errors["candidate"])
    assert not Trial.objects.exists()


def test_a_version_of_a_process_is_tried_by_the_same_verifier(
    editor: Client, project: Project
) -> None:
    process = project.processes.get()
    version = unpublished(process, SOURCE_TEXT.replace('"TODO|TBD"', '"TODO"'))

    answer = editor.post(
        start_url(project),
        form(
            candidate=1,
            candidate_version=f"small-work:{version.number}",
            rate=25,
            ends=7,
            budget="2.5",
        ),
    )

    trial = Trial.objects.get()
    assert answer.status_code == 302
    assert (trial.process, trial.candidate_process_version) == (process, version)
    assert (trial.sample_rate, trial.budget_usd) == (0.25, Decimal("2.5"))
    assert trial.ends_at is not None


@check_rows(
    "wrong",
    [
        {"rate": "0"}, {"rate": "101"}, {"aa": "-1"}, {"budget": "0"}, {"budget": "x"},
        {"candidate": "99"}, {"candidate_version": "nowhere:1"}, {"process": "nowhere"},
        {"ends": "400"}, {"limit": "10001"}, {"since": "x"}, {"rate": "nan"},
    ],
    rollback=True,
)  # fmt: skip
def test_a_form_that_is_wrong_is_shown_again(
    editor: Client, project: Project, wrong: dict[str, str]
) -> None:
    make_legacy(project)

    answer = editor.post(start_url(project), form(**wrong))

    assert answer.status_code == 422
    assert not Trial.objects.exists()


def test_who_looks_on_starts_no_trial(viewer: Client, project: Project) -> None:
    make_legacy(project)

    assert viewer.get(start_url(project)).status_code == 403
    assert viewer.post(start_url(project), form()).status_code == 403
    assert not Trial.objects.exists()


# ---------------------------------------------------------------- acts of editors


ACTS = ["trial_stop", "trial_past", "trial_corpus", "trial_cutover_replay"]


@pytest.mark.parametrize("name", ACTS)
def test_who_looks_on_changes_nothing(viewer: Client, project: Project, name: str) -> None:
    trial = make_trial(project)

    assert viewer.post(url(trial, name)).status_code == 403
    assert viewer.get(url(trial, name)).status_code in (403, 405)


@pytest.mark.extended
@pytest.mark.parametrize("name", ["trial_promote", "trial_roll_back"])
def test_an_editor_neither_promotes_nor_rolls_back(
    editor: Client, project: Project, name: str
) -> None:
    trial = make_trial(project)
    fill_open(trial)

    assert editor.get(url(trial, name)).status_code == 403
    assert editor.post(url(trial, name), {"reason": "x"}).status_code == 403
    assert name.removeprefix("trial_") not in page(editor, url(trial)).lower().split()


def test_a_trial_is_stopped_with_its_replays(editor: Client, project: Project) -> None:
    trial = make_trial(project)
    replay = make_trial_replay(trial, total=1)
    make_queued(trial, replay=replay)

    answer = editor.post(url(trial, "trial_stop"), {"reason": "Seen enough"}, follow=True)

    trial.refresh_from_db()
    assert trial.state == TrialState.STOPPED
    assert "A person stopped it: Seen enough" in text_of(answer.content)
    assert not Comparison.objects.filter(trial=trial).exists()


def test_stopping_twice_says_that_it_was_over(editor: Client, project: Project) -> None:
    trial = make_trial(project, state=TrialState.ENDED)

    answer = editor.post(url(trial, "trial_stop"), follow=True)

    assert "It was over already." in text_of(answer.content)


def test_a_standing_trial_is_not_stopped_by_hand(editor: Client, project: Project) -> None:
    trial = make_trial(project, is_standing=True)
    assert "Stop it" not in page(editor, url(trial))

    answer = editor.post(url(trial, "trial_stop"), follow=True)

    assert "shadow_compare_enabled" in text_of(answer.content)
    trial.refresh_from_db()
    assert trial.is_running


def test_a_trial_is_taken_over_past_runs(editor: Client, project: Project) -> None:
    trial = make_trial(project)
    for _ in range(3):
        make_run(project)

    answer = editor.post(url(trial, "trial_past"), {"since": "7", "limit": "2"}, follow=True)

    assert "Past runs 0 of 2" in text_of(answer.content)
    assert TrialReplay.objects.get().total == 2


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"since": "7", "limit": "5"}, "No finished run fits"),
        ({"since": "", "limit": "0"}, "greater than or equal to 1"),
        ({"since": "x", "limit": "5"}, "not one of the available choices"),
    ],
)
def test_where_no_past_run_can_be_taken_it_is_said(
    editor: Client, project: Project, sent: dict[str, str], told: str
) -> None:
    answer = editor.post(url(make_trial(project), "trial_past"), sent, follow=True)

    assert told in text_of(answer.content)


def test_a_trial_whose_budget_is_spent_takes_no_past_run(editor: Client, project: Project) -> None:
    trial = make_trial(project, budget_usd=Decimal(2), cost_usd=Decimal(2))

    answer = editor.post(url(trial, "trial_past"), {"limit": "5"}, follow=True)

    assert "budget of 2 USD is spent" in text_of(answer.content)


def test_a_trial_is_taken_over_golden_cases(editor: Client, project: Project) -> None:
    trial = make_trial(project)
    empty = editor.post(url(trial, "trial_corpus"), follow=True)
    assert "No golden case fits" in text_of(empty.content)

    make_case(project, "a-case")
    answer = editor.post(url(trial, "trial_corpus"), follow=True)

    assert "Golden corpus 0 of 1" in text_of(answer.content)


def test_a_replay_is_cancelled_and_what_was_compared_stays(
    editor: Client, project: Project
) -> None:
    trial = make_trial(project)
    replay = make_trial_replay(trial, total=2)
    make_comparisons(trial, {("pass", "pass"): 1}, replay=replay)
    make_queued(trial, replay=replay)
    path = url(trial, "trial_replay_cancel", replay.uuid)

    part = {"HX-Request": "true", "HX-Target": "trial-live"}

    assert "It is cancelled." in text_of(editor.post(path, follow=True).content)
    beside = editor.get(url(trial), headers=part).content  # and figures that move
    assert "Past runs 1 of 2 cancelled" in text_of(beside)
    assert " cancelled it." in text_of(beside)
    assert "It was over already." in text_of(editor.post(path, follow=True).content)
    assert Comparison.objects.filter(trial=trial).count() == 1


def test_a_replay_of_another_trial_is_not_found(editor: Client, project: Project) -> None:
    trial, other = make_trial(project), make_trial_replay(make_trial(project), total=1)

    path = url(trial, "trial_replay_cancel", other.uuid)

    assert editor.post(path).status_code == 404


def test_the_corpus_is_replayed_for_the_gate_and_followed_on_the_page(
    editor: Client, project: Project
) -> None:
    make_case(project, "a-case")
    trial = make_trial(project)

    answer = editor.post(url(trial, "trial_cutover_replay"), follow=True)

    assert Replay.objects.get().purpose == ReplayPurpose.CUTOVER
    assert "its replay is under way" in text_of(answer.content)


# ---------------------------------------------------------------- the cutover and the way back


def test_an_open_gate_promotes_with_a_reason_alone(admin: Client, project: Project) -> None:
    trial = make_trial(project)
    fill_open(trial)
    text = page(admin, url(trial, "trial_promote"))
    assert "Verifier v1 → v2" in text
    assert "override" not in text

    answer = admin.post(
        url(trial, "trial_promote"), {"reason": "Better", "watch_days": "14"}, follow=True
    )

    trial.refresh_from_db()
    assert trial.state == TrialState.PROMOTED
    assert project.verifiers.get(is_active=True) == trial.candidate_verifier
    told = text_of(answer.content)
    assert "It is promoted" in told
    assert "Roll back…" in told
    assert "The old one shadows it" in told


def test_a_gate_that_is_not_open_promotes_by_an_override_alone(
    admin: Client, project: Project
) -> None:
    trial = make_trial(project)
    sent = {"reason": "We must", "watch_days": "14", "corpus_reason": "Known"}
    assert "The gate is not open." in page(admin, url(trial, "trial_promote"))

    refused = admin.post(url(trial, "trial_promote"), sent)
    trial.refresh_from_db()
    assert refused.status_code == 409
    assert "The cutover criteria do not all hold." in text_of(refused.content)
    assert trial.state == TrialState.RUNNING

    answer = admin.post(url(trial, "trial_promote"), {**sent, "override": "on"}, follow=True)

    told = text_of(answer.content)
    assert "By an override: the gate was not open." in told
    assert "Too few pairs before the cutover to compare with: 0, 50 fewer than it takes." in told
    entry = AuditEntry.objects.get(verb="trial.promoted")
    assert entry.diff["override"] == [None, "We must"]
    audit = page(admin, reverse("settings_audit", args=[project.slug]))
    assert "We must" in audit


@pytest.mark.extended
@pytest.mark.parametrize(
    "sent",
    [{"reason": ""}, {"reason": "x", "watch_days": "0"}, {"reason": "x", "watch_days": "91"}],
)
def test_a_promotion_that_lacks_something_is_shown_again(
    admin: Client, project: Project, sent: dict[str, str]
) -> None:
    trial = make_trial(project)
    fill_open(trial)

    assert admin.post(url(trial, "trial_promote"), sent).status_code == 422
    trial.refresh_from_db()
    assert trial.state == TrialState.RUNNING


def test_what_golden_cases_say_stands_on_the_page_until_the_gate_has_heard_them(
    admin: Client, project: Project
) -> None:
    make_case(project, "a-case")
    trial = make_trial(project)

    whole = admin.get(url(trial, "trial_promote")).content
    answer = admin.post(
        url(trial, "trial_promote"), {"reason": "x", "override": "on", "watch_days": "14"}
    )

    assert "1 golden case was not replayed with it yet." in text_of(whole)
    assert b"/golden/guards/" not in whole, "the replay that the criterion asks for is enough"
    assert answer.status_code == 409
    assert "Say why it is to judge runs all the same." in text_of(answer.content)


@pytest.mark.extended
def test_processes_that_a_new_verifier_would_judge_untried_are_named(
    admin: Client, project: Project
) -> None:
    make_process(project, slug="other")
    trial = make_trial(project)
    fill_open(trial)

    text = page(admin, url(trial, "trial_promote"))
    make_comparisons(trial, {("pass", "pass"): 1}, process="other")
    tried = page(admin, url(trial, "trial_promote"))

    assert "Of 1 of them this trial compared no run: other. Golden cases alone" in text
    assert "and of each this trial compared runs" in tried


def test_where_something_else_judges_by_now_the_page_says_what(
    admin: Client, project: Project
) -> None:
    trial = make_trial(project)
    promote_another(project)

    text = page(admin, url(trial, "trial_promote"))

    assert "which is not this trial's baseline" in text
    assert "Start such a trial" in text


def promote_another(project: Project) -> Trial:
    other = make_trial(
        project, candidate=make_verifier(project, unconfirmed_supporting_threshold=0.6)
    )
    fill_open(other)
    return promote(other)


def test_a_drift_alarm_proposes_the_way_back(admin: Client, project: Project) -> None:
    trial = make_drifted(project)
    text = page(admin, url(trial))
    assert "Since the cutover runs come out otherwise" in text
    assert "fail: 19.0 % (11.5 to 30.0) of 68 runs, 7.0 % of 600 pairs in the trial" in text
    assert "drift" in page(admin, list_url(project))

    answer = admin.post(url(trial, "trial_roll_back"), {"reason": "Fails rise"}, follow=True)

    trial.refresh_from_db()
    assert trial.state == TrialState.ROLLED_BACK
    assert project.verifiers.get(is_active=True) == trial.baseline_verifier
    told = text_of(answer.content)
    assert "It is rolled back" in told
    assert "Since the cutover runs come out otherwise" not in told


@pytest.mark.extended
def test_the_way_back_says_what_the_runs_were_held_against(admin: Client, project: Project) -> None:
    trial = make_drifted(project)
    of_trial = page(admin, url(trial, "trial_roll_back"))
    watch = Trial.objects.get(watches=trial)
    told = [{**watch.drift[0], "against": "first_runs", "before_n": 50}]
    Trial.objects.filter(pk=watch.pk).update(drift=told)

    of_runs = page(admin, url(trial, "trial_roll_back"))

    assert "fail: 19.0 % of the runs since the cutover, 7.0 % in the trial" in of_trial
    assert "fail: 19.0 % of the runs since the cutover, 7.0 % of the first 50" in of_runs


@pytest.mark.extended
def test_an_alarm_is_over_in_the_list_once_something_else_judges(
    admin: Client, project: Project
) -> None:
    trial = make_drifted(project)
    watch = Trial.objects.get(watches=trial)
    alarmed = queries(admin, list_url(project))
    old, new = trial.baseline_verifier, trial.candidate_verifier
    for _ in range(2):
        more = make_trial(
            project, baseline=old, candidate=new, state=TrialState.PROMOTED,
            promotion=trial.promotion,
        )  # fmt: skip
        make_trial(
            project, baseline=old, candidate=new, watches=more, drift=watch.drift,
            drift_at=watch.drift_at,
        )  # fmt: skip
    assert alarms(admin, project) == 3
    assert queries(admin, list_url(project)) == alarmed

    activate(project=project, number=1, actor=SYSTEM, reason="Back.", corpus_reason="!")

    assert alarms(admin, project) == 0


def alarms(client: Client, project: Project) -> int:
    return client.get(list_url(project)).content.decode().count(">drift<")


@pytest.mark.extended
def test_a_roll_back_needs_a_reason(admin: Client, project: Project) -> None:
    trial = make_drifted(project)

    assert admin.post(url(trial, "trial_roll_back"), {"reason": " "}).status_code == 422
    trial.refresh_from_db()
    assert trial.state == TrialState.PROMOTED


def test_nothing_is_rolled_back_that_was_not_promoted(admin: Client, project: Project) -> None:
    trial = make_trial(project)

    assert "Nothing of this trial judges runs." in page(admin, url(trial, "trial_roll_back"))
    assert admin.post(url(trial, "trial_roll_back"), {"reason": "x"}).status_code == 409


@pytest.mark.extended
def test_a_promoted_trial_is_not_promoted_again(admin: Client, project: Project) -> None:
    trial = make_trial(project)
    fill_open(trial)
    promote(trial)

    assert "It was promoted" in page(admin, url(trial, "trial_promote"))
    assert (
        admin.post(url(trial, "trial_promote"), {"reason": "x", "watch_days": "14"}).status_code
        == 409
    )
