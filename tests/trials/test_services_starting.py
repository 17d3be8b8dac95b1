from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import AuditEntry, Project, Role
from loomverify.errors import Conflict, Forbidden, InputError
from tests.builders import SOURCE_TEXT, add_version, make_process, make_project
from tests.tables import check_rows
from tests.trials.at_once import at_once
from tests.trials.builders import (
    POLICY,
    access_to,
    make_candidate,
    make_legacy,
    make_queued,
    make_trial,
    make_trial_replay,
    make_verifier,
)
from verification.engine.verifier import JudgeModels, VerifierSpec
from verification.runs.models import OutboxEvent
from verification.trials.models import Comparison, StopReason, Trial, TrialState
from verification.trials.services import starting, stopping
from verification.verifiers.connections import Terms, add_connection, remove_connection
from verification.verifiers.services import add_version as add_verifier

pytestmark = pytest.mark.django_db


def start(project: Project, **wanted: Any) -> Trial:
    return starting.start(access=access_to(project), **wanted)


def refusal_of(project: Project, **wanted: Any) -> str:
    with pytest.raises(InputError) as refusal:
        start(project, **wanted)
    assert not Trial.objects.filter(project=project).exists()
    return refusal.value.code


def test_what_is_left_out_is_what_judges_now(project: Project) -> None:
    candidate = make_candidate(project)

    trial = start(project, candidate_verifier=candidate)

    assert trial.baseline_verifier == project.verifiers.get(is_active=True)
    assert trial.candidate_verifier == candidate
    assert (trial.process, trial.baseline_process_version) == (None, None)
    assert (trial.state, trial.sample_rate, trial.budget_usd) == ("running", 1.0, None)
    assert trial.title == "policy v2 beside policy v1"
    assert trial.next_at == trial.seen_until


def test_a_version_of_a_process_narrows_the_trial_down_to_it(project: Project) -> None:
    process = project.processes.get()
    first = process.published
    published = add_version(process, SOURCE_TEXT + "# Better.\n")

    trial = start(project, candidate_process_version=first)

    assert trial.process == process
    assert trial.baseline_verifier == trial.candidate_verifier
    assert (trial.baseline_process_version, trial.candidate_process_version) == (published, first)
    assert trial.title == "small-work v1 beside v2"


def test_both_may_differ_and_the_title_says_so(project: Project) -> None:
    process = project.processes.get()
    old, new = process.published, add_version(process, SOURCE_TEXT + "# Better.\n")

    trial = start(
        project,
        candidate_verifier=make_legacy(project),
        baseline_process_version=old,
        candidate_process_version=new,
        sample_rate=0.5,
        budget_usd=Decimal(3),
    )

    assert trial.title == "legacy v2 beside policy v1, small-work v2 beside v1"
    assert (trial.sample_rate, trial.budget_usd) == (0.5, Decimal(3))


def test_a_start_stands_in_the_audit_log(project: Project) -> None:
    trial = start(project, candidate_verifier=make_legacy(project), title=" Legacy\nagain\0 ")

    entry = AuditEntry.objects.get(verb="trial.started")
    assert entry.object_id == str(trial.uuid)
    assert entry.diff["candidate"] == [None, "verifier v2 (legacy)"]
    assert trial.title == "Legacy again\ufffd"


def test_two_sides_that_are_the_same_are_refused(project: Project) -> None:
    process = project.processes.get()
    live = project.verifiers.get(is_active=True)
    same: list[dict[str, Any]] = [
        {},
        {"process": process},
        {"baseline_verifier": live, "candidate_verifier": live},
        # A side that is left open judges by what is published.
        {"candidate_process_version": process.published},
        {"baseline_process_version": process.published},
        {
            "baseline_process_version": process.published,
            "candidate_process_version": process.published,
        },
    ]

    assert {refusal_of(project, **wanted) for wanted in same} == {"trial.same_sides"}


def test_two_versions_that_only_the_program_tells_apart_are_not_tried(project: Project) -> None:
    spec = VerifierSpec(prompt_version=0, engine_build="0")
    older = add_verifier(project=project, spec=spec)
    oldest = add_verifier(project=project, spec=replace(spec, engine_build="00"))
    process = project.processes.get()
    version = process.published

    for sides in (
        {"candidate_verifier": older},
        {"baseline_verifier": older},
        {"baseline_verifier": oldest, "candidate_verifier": older},
        {"candidate_verifier": older, "candidate_process_version": version},
    ):
        assert refusal_of(project, **sides) == "trial.same_but_program"

    # Something else differs: that is compared.
    add_version(process, SOURCE_TEXT + "# Better.\n")
    assert start(project, baseline_verifier=make_candidate(project), candidate_verifier=older)
    version = process.versions.get(number=1)
    assert start(project, candidate_verifier=older, candidate_process_version=version)


def test_two_versions_that_come_to_the_same_verdicts_are_not_tried(project: Project) -> None:
    beside = make_verifier(project, shadow_compare_enabled=True)
    older = VerifierSpec(replace(POLICY, shadow_compare_enabled=True), engine_build="0")
    by_build_too = add_verifier(project=project, spec=older)

    for candidate in (beside, by_build_too):
        assert refusal_of(project, candidate_verifier=candidate) == "trial.same_but_standing"
    assert refusal_of(project, baseline_verifier=beside) == "trial.same_but_standing"

    # Something else differs as well: that is compared.
    other = make_verifier(project, shadow_compare_enabled=True, tier3_vote_count=5)
    assert start(project, candidate_verifier=other)


@check_rows(
    ("wanted", "code"),
    [
        ({"sample_rate": 0.0}, "trial.sample_rate"),
        ({"sample_rate": 1.01}, "trial.sample_rate"),
        ({"sample_rate": math.nan}, "trial.sample_rate"),
        ({"aa_rate": -0.1}, "trial.aa_rate"),
        ({"aa_rate": math.nan}, "trial.aa_rate"),
        ({"budget_usd": Decimal(0)}, "trial.budget"),
        ({"budget_usd": Decimal("NaN")}, "trial.budget"),
        ({"budget_usd": Decimal("Infinity")}, "trial.budget"),
        ({"budget_usd": Decimal(1_000_001)}, "trial.budget"),
        ({"ends_at": timezone.now() - timedelta(seconds=1)}, "trial.end"),
        ({"ends_at": timezone.now() + timedelta(days=400)}, "trial.end"),
    ],
    rollback=True,
)
def test_what_makes_no_sense_is_refused(
    project: Project, wanted: Mapping[str, Any], code: str
) -> None:
    assert refusal_of(project, candidate_verifier=make_candidate(project), **wanted) == code


def test_what_belongs_to_others_is_refused(project: Project) -> None:
    there = make_project()
    other = make_process(project, slug="other", source_text=SOURCE_TEXT)
    theirs: list[dict[str, Any]] = [
        {"candidate_verifier": make_legacy(there)},
        {"candidate_verifier": make_legacy(project), "process": there.processes.get()},
        {"candidate_process_version": there.processes.get().published},
        {
            "candidate_process_version": other.published,
            "process": project.processes.get(slug="small-work"),
        },
    ]

    told = [refusal_of(project, **wanted) for wanted in theirs]

    assert told == [
        "verifier.unknown", "process.unknown", "process.unknown", "trial.other_process",
    ]  # fmt: skip


def test_a_version_whose_judge_was_removed_is_refused(project: Project) -> None:
    add_connection(project=project, actor=SYSTEM, name="gone", model="openai/m", terms=Terms())
    spec = VerifierSpec(models=JudgeModels(primary="gone"))
    candidate = add_verifier(project=project, spec=spec)
    remove_connection(project=project, actor=SYSTEM, name="gone")

    assert refusal_of(project, candidate_verifier=candidate) == "trial.judge_removed"


def test_only_so_many_run_at_once_and_others_do_not_count(project: Project) -> None:
    candidate = make_candidate(project)
    for _ in range(starting.MAX_RUNNING - 1):
        make_trial(project, candidate=candidate)
    over = make_trial(project, candidate=candidate, state=TrialState.PROMOTED)
    make_trial(project, candidate=candidate, is_standing=True)
    make_trial(project, candidate=candidate, watches=over)
    make_trial(make_project())

    start(project, candidate_verifier=candidate)
    with pytest.raises(Conflict) as refusal:
        start(project, candidate_verifier=candidate)

    assert refusal.value.code == "trial.too_many"


@pytest.mark.django_db(transaction=True)
def test_of_two_who_start_the_last_one_at_once_one_does() -> None:
    project = make_project()
    candidate = make_candidate(project)
    for _ in range(starting.MAX_RUNNING - 1):
        make_trial(project, candidate=candidate)

    def act() -> str:
        return str(start(project, candidate_verifier=candidate).state)

    assert sorted(at_once(act, act)) == ["running", "trial.too_many"]


@pytest.mark.parametrize("role", [Role.VIEWER, Role.AGENT, Role.REVIEWER])
def test_who_is_no_editor_starts_and_stops_nothing(project: Project, role: Role) -> None:
    trial = make_trial(project)
    access = access_to(project, role)

    with pytest.raises(Forbidden):
        starting.start(access=access, candidate_verifier=make_legacy(project))
    with pytest.raises(Forbidden):
        stopping.stop(access=access, trial=trial)
    assert Trial.objects.get().state == "running"


def test_a_trial_is_stopped_once(project: Project) -> None:
    trial = make_trial(project)

    told = [
        stopping.stop(access=access_to(project), trial=trial, reason="We know enough.")
        for _ in range(2)
    ]

    stored = Trial.objects.get()
    assert told == [True, False]
    assert (stored.state, stored.stop_reason) == (TrialState.STOPPED, StopReason.PERSON)
    assert (stored.stop_text, stored.finished_at) == ("We know enough.", trial.finished_at)
    assert AuditEntry.objects.get(verb="trial.stopped").reason == "We know enough."
    assert not OutboxEvent.objects.exists(), "whoever stopped it knows"


def test_a_stopped_trials_replays_are_cancelled(project: Project) -> None:
    trial = make_trial(project)
    replay = make_trial_replay(trial, total=1)
    make_queued(trial, replay=replay)

    stopping.stop(access=access_to(project), trial=trial, reason="It  costs\ntoo much")

    replay.refresh_from_db()
    assert replay.is_cancelled
    assert replay.cancel_text == "ed stopped the trial: It costs too much"
    assert not Comparison.objects.exists()


def test_a_standing_trial_ends_with_its_flag_alone(project: Project) -> None:
    trial = make_trial(project, is_standing=True)

    with pytest.raises(Conflict) as refusal:
        stopping.stop(access=access_to(project), trial=trial)

    assert refusal.value.code == "trial.standing"


@pytest.mark.parametrize("reason", [StopReason.BUDGET, StopReason.ERRORS, StopReason.LATENCY])
def test_the_world_hears_of_a_trial_that_stopped_itself(
    project: Project, reason: StopReason
) -> None:
    trial = make_trial(project, process=project.processes.get())

    stopping.close(trial, state=TrialState.STOPPED, reason=reason, text="It cost too much.")

    event = OutboxEvent.objects.get()
    assert event.topic == "shadow.stopped"
    assert event.payload == {
        "trial": str(trial.uuid),
        "title": trial.title,
        "process": "small-work",
        "baseline_verifier": 1,
        "candidate_verifier": 2,
        "url": f"http://localhost:8000/p/{project.slug}/shadow/{trial.uuid}/",
        "state": "stopped",
        "reason": reason.value,
        "text": "It cost too much.",
    }


@pytest.mark.django_db(transaction=True)
def test_of_a_person_and_the_trial_itself_the_first_one_stops_it() -> None:
    project = make_project()
    trial = make_trial(project)

    told = at_once(
        lambda: stopping.stop(access=access_to(project), trial=Trial.objects.get(pk=trial.pk)),
        lambda: stopping.close(
            Trial.objects.get(pk=trial.pk), state=TrialState.ENDED, reason=StopReason.TIME
        ),
    )

    assert sorted(told) == [False, True]
    assert AuditEntry.objects.filter(verb__in=["trial.stopped", "trial.ended"]).count() == 1
