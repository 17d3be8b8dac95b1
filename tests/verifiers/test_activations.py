from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest
from django.conf import LazySettings

from loomverify.accounts.access import SYSTEM, Actor
from loomverify.accounts.models import AuditEntry, Project, Role
from loomverify.errors import Conflict, Issue
from loomverify.guarding import Word
from tests.runs.conftest import Caller, body_of, new_project
from tests.verifiers.racing import at_once
from verification.engine.verifier import LEGACY_FLAGS, Flags, VerifierSpec
from verification.runs import worker
from verification.runs.models import Run
from verification.verifiers import connections, services
from verification.verifiers.activations import MAX_PERIODS, before_active, periods
from verification.verifiers.connections import Terms
from verification.verifiers.guards import ACTIVATING
from verification.verifiers.models import VerifierVersion

ADA, BEN = Actor("Ada (ada)"), Actor("Ben (ben)")


def version_of(project: Project, flags: Flags, **spec: Any) -> VerifierVersion:
    return services.add_version(project=project, spec=VerifierSpec(flags, **spec))


@pytest.fixture
def legacy(project: Project) -> VerifierVersion:
    return version_of(project, LEGACY_FLAGS)


def activate(version: VerifierVersion, reason: str = "So.", **more: Any) -> VerifierVersion:
    return services.activate(
        project=version.project, number=version.number, actor=ADA, reason=reason, **more
    )


def active(project: Project) -> VerifierVersion:
    return VerifierVersion.objects.get(project=project, is_active=True)


def before(project: Project) -> int | None:
    found = before_active(project, active(project))
    return found.number if found else None


def roll_back(project: Project, *, judging: int, reason: str = "Worse.") -> VerifierVersion:
    return services.roll_back(project=project, actor=BEN, active=judging, reason=reason)


def test_what_judged_when_is_known_from_the_first_start_on(
    project: Project, legacy: VerifierVersion
) -> None:
    activate(legacy, "It is better known.")
    roll_back(project, judging=2, reason="It is not.")

    found = periods(project)

    told = [(one.number, one.actor, one.reason, one.is_return) for one in found]
    assert told == [
        (1, "Ben (ben)", "It is not.", True),
        (2, "Ada (ada)", "It is better known.", False),
        (1, "", "", False),
    ]
    assert [one.until for one in found] == [None, found[0].since, found[1].since]


def test_a_project_that_changed_nothing_has_one_period_and_no_way_back(project: Project) -> None:
    assert [(one.number, one.until) for one in periods(project)] == [(1, None)]
    assert before(project) is None
    with pytest.raises(Conflict, match="No other version judged runs before"):
        roll_back(project, judging=1)


def test_the_toggle_goes_back_and_forth(project: Project, legacy: VerifierVersion) -> None:
    activate(legacy)

    went = [roll_back(project, judging=number).number for number in (2, 1, 2)]

    assert went == [1, 2, 1]
    assert active(project).number == 1


def test_the_way_back_leads_over_versions_that_never_judged(
    project: Project, legacy: VerifierVersion
) -> None:
    third = version_of(project, replace(Flags(), tier3_vote_count=5))
    version_of(project, replace(Flags(), tier3_vote_count=7))
    activate(third)

    assert before(project) == 1


def test_another_build_of_the_same_is_no_way_back(project: Project) -> None:
    activate(version_of(project, Flags(), engine_build="0"))
    activate(version_of(project, Flags()), "New engine build.")

    assert before(project) is None


def test_the_way_back_is_taken_in_this_build_where_there_is_such_a_version(
    project: Project,
) -> None:
    older = version_of(project, LEGACY_FLAGS, engine_build="0")
    activate(older)
    activate(version_of(project, replace(Flags(), tier3_vote_count=5)))
    assert before(project) == older.number

    current = version_of(project, LEGACY_FLAGS)

    assert before(project) == current.number


def test_the_reason_of_the_way_back_counts_where_a_guard_objects(
    project: Project, legacy: VerifierVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    activate(legacy)
    issue = Issue("golden.not_replayed", "Nothing was replayed.")
    objection = Word("corpus", issue, "0 of 9.", "", None)
    monkeypatch.setattr(ACTIVATING, "_guards", [lambda _: objection])
    with pytest.raises(Conflict):
        services.activate(project=project, number=1, actor=BEN, reason="Worse.")

    roll_back(project, judging=2)

    entry = AuditEntry.objects.filter(verb="verifier.activated").latest("pk")
    assert entry.diff == {
        "active": [2, 1],
        "corpus": [None, "0 of 9."],
        "corpus_reason": [None, "Worse."],
    }


def test_there_is_no_way_back_to_a_judge_that_was_removed(project: Project) -> None:
    for name in ("one", "two"):
        connections.add_connection(
            project=project, actor=SYSTEM, name=name, model="openai/m", terms=Terms()
        )
        connections.choose_judges(project=project, actor=ADA, primary=name, reason="So.")
    connections.remove_connection(project=project, actor=SYSTEM, name="one")

    with pytest.raises(Conflict, match="names the judge one, which was removed"):
        roll_back(project, judging=active(project).number)


def test_who_knows_of_another_version_than_the_one_that_judges_is_told(
    project: Project, legacy: VerifierVersion
) -> None:
    third = version_of(project, replace(Flags(), tier3_vote_count=5))
    activate(legacy)

    with pytest.raises(Conflict, match="v1 does not judge runs any more: v2 does"):
        activate(third, replaces=1)
    with pytest.raises(Conflict, match="v1 does not judge runs any more"):
        roll_back(project, judging=1)

    assert active(project).number == 2
    assert activate(third, replaces=2).is_active


def test_only_the_last_changes_are_told(project: Project, legacy: VerifierVersion) -> None:
    first = active(project)
    for number in range(MAX_PERIODS + 5):
        activate((legacy, first)[number % 2])
        for one in (legacy, first):
            one.refresh_from_db()

    found = periods(project)

    assert len(found) == MAX_PERIODS
    assert all(later.since == one.until for later, one in itertools.pairwise(found))


# ------------------------------------------------------------------ runs keep theirs


@pytest.fixture
def ours(db: None, settings: LazySettings, tmp_path: Any) -> Project:
    storages: dict[str, Any] = dict(settings.STORAGES)
    evidence = {**storages["evidence"], "OPTIONS": {"location": tmp_path / "evidence"}}
    settings.STORAGES = {**storages, "evidence": evidence}
    return new_project("ours")


def submitted(agent: Caller) -> Run:
    answer = agent.post("/runs", body_of(output="TODO: all of it."))
    return Run.objects.get(uuid=answer.json()["id"])


def test_an_activation_takes_effect_for_runs_that_are_submitted_after_it(ours: Project) -> None:
    agent = Caller(ours, Role.AGENT)
    first, second = VerifierVersion.objects.filter(project=ours).order_by("number")
    waiting = submitted(agent)

    activate(second)
    later = submitted(agent)
    for run in (waiting, later):
        worker.work_on(run.pk)
        run.refresh_from_db()

    assert (waiting.verifier_version, later.verifier_version) == (first, second)
    made = [run.live_evaluation.verifier_version for run in (waiting, later) if run.live_evaluation]
    assert made == [first, second]


def test_a_run_that_was_begun_is_ended_and_verified_again_by_the_version_it_began_with(
    ours: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = Caller(ours, Role.AGENT)
    first, second = VerifierVersion.objects.filter(project=ours).order_by("number")
    run = submitted(agent)
    begin = worker._begin

    def begin_and_activate(lease: Any) -> Any:
        begun = begin(lease)
        activate(second)
        return begun

    monkeypatch.setattr(worker, "_begin", begin_and_activate)
    worker.work_on(run.pk)

    run.refresh_from_db()
    assert active(ours) == second
    assert run.live_evaluation
    assert run.live_evaluation.verifier_version == first


# ------------------------------------------------------------------ two at once


@pytest.mark.django_db(transaction=True)
def test_of_two_who_roll_back_at_once_one_does(project: Project, legacy: VerifierVersion) -> None:
    activate(legacy)

    found = at_once(lambda _: roll_back(project, judging=2).number)

    assert sorted(found, key=str) == [1, "verifier.active_changed"]
    assert active(project).number == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_who_activate_at_once_both_are_told_and_the_last_one_judges(
    project: Project, legacy: VerifierVersion
) -> None:
    third = version_of(project, replace(Flags(), tier3_vote_count=5))

    at_once(lambda number: activate((legacy, third)[number]))

    changes = [
        entry.diff["active"]
        for entry in AuditEntry.objects.filter(verb="verifier.activated").order_by("pk")
    ]
    assert len(changes) == 2
    assert (changes[0][0], changes[1]) == (1, [changes[0][1], active(project).number])


@pytest.mark.django_db(transaction=True)
def test_of_two_who_replace_the_same_version_at_once_one_does(
    project: Project, legacy: VerifierVersion
) -> None:
    third = version_of(project, replace(Flags(), tier3_vote_count=5))

    found = at_once(lambda number: activate((legacy, third)[number], replaces=1).number)

    assert found.count("verifier.active_changed") == 1
    assert active(project).number in found
