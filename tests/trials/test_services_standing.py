from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project
from tests.builders import make_project
from tests.runs.conftest import new_project
from tests.trials.at_once import at_once
from tests.trials.builders import make_legacy, make_trial, make_verifier
from verification.engine.verifier import LEGACY_FLAGS
from verification.runs import outbox
from verification.trials.models import StopReason, Trial, TrialState
from verification.trials.services import standing
from verification.trials.services.stopping import close
from verification.verifiers.models import VerifierVersion
from verification.verifiers.services import activate

pytestmark = pytest.mark.django_db


def make_live(project: Project, version: VerifierVersion) -> None:
    activate(
        project=project, number=version.number, actor=SYSTEM, reason="Try.", corpus_reason="Try."
    )


def flagged(project: Project, **flags: Any) -> VerifierVersion:
    version = make_verifier(project, shadow_compare_enabled=True, **flags)
    make_live(project, version)
    return version


def running(project: Project) -> list[tuple[VerifierVersion, VerifierVersion]]:
    rows = Trial.objects.filter(project=project, is_standing=True, state=TrialState.RUNNING)
    return [(trial.baseline_verifier, trial.candidate_verifier) for trial in rows]


def test_the_flag_alone_sets_legacy_beside_what_judges(project: Project) -> None:
    legacy = make_legacy(project)
    active = flagged(project)

    changed = [standing.sweep() for _ in range(3)]

    trial = Trial.objects.get()
    assert changed == [1, 0, 0]
    assert running(project) == [(legacy, active)]
    assert (trial.sample_rate, trial.process, trial.created_by) == (1.0, None, "system")
    assert trial.title == f"policy v{active.number} beside legacy v{legacy.number}"


def test_in_a_new_project_an_activation_is_all_it_takes(db: None) -> None:
    project = new_project("fresh")
    legacy = project.verifiers.get(engine="legacy")
    active = flagged(project)

    standing.sweep()

    assert running(project) == [(legacy, active)]


def test_the_relay_looks_after_standing_trials(project: Project) -> None:
    make_legacy(project)
    flagged(project)

    outbox.sweep()

    assert len(running(project)) == 1


def test_without_the_flag_nothing_runs(project: Project) -> None:
    make_legacy(project)
    make_verifier(project, shadow_compare_enabled=True)  # not the active one

    assert standing.sweep() == 0
    assert not Trial.objects.exists()


def test_another_active_version_takes_the_trial_over(project: Project) -> None:
    legacy = make_legacy(project)
    flagged(project)
    standing.sweep()
    other = flagged(project, tier3_vote_count=5)

    changed = standing.sweep()

    first = Trial.objects.earliest("pk")
    assert changed == 1
    assert running(project) == [(legacy, other)]
    assert (first.state, first.stop_reason) == (TrialState.ENDED, StopReason.REPLACED)


def test_a_newer_legacy_version_is_the_old_one(project: Project) -> None:
    make_legacy(project)
    active = flagged(project)
    standing.sweep()
    odd = make_verifier(project, LEGACY_FLAGS, tier3_vote_count=5)

    assert standing.sweep() == 0, "the old engine as it was comes before a variant of it"
    assert odd not in running(project)[0]
    assert running(project)[0][1] == active


def test_switched_off_it_ends(project: Project) -> None:
    make_legacy(project)
    flagged(project)
    standing.sweep()
    make_live(project, project.verifiers.get(number=1))

    changed = standing.sweep()

    assert changed == 1
    assert running(project) == []
    assert Trial.objects.get().stop_text == standing.NOT_ASKED_FOR


def test_where_legacy_judges_policy_is_the_new_one(project: Project) -> None:
    make_legacy(project)
    policy = project.verifiers.get(number=1)
    active = make_verifier(project, LEGACY_FLAGS, shadow_compare_enabled=True)
    make_live(project, active)

    standing.sweep()

    assert running(project) == [(active, policy)]


def test_without_a_legacy_version_nothing_can_stand_beside(project: Project) -> None:
    flagged(project)

    assert standing.sweep() == 0


def test_after_stopping_itself_it_rests_for_a_day(project: Project) -> None:
    make_legacy(project)
    flagged(project)
    standing.sweep()
    close(Trial.objects.get(), state=TrialState.STOPPED, reason=StopReason.LATENCY)
    now = timezone.now()

    early, later = standing.sweep(now), standing.sweep(now + standing.REST)

    assert (early, later) == (0, 1)
    assert Trial.objects.count() == 2


def test_peoples_trials_are_left_alone(project: Project) -> None:
    make_legacy(project)
    own = make_trial(project)
    flagged(project)

    standing.sweep()

    assert Trial.objects.get(pk=own.pk).is_running
    assert Trial.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_of_two_relays_one_begins_it() -> None:
    project = make_project()
    make_legacy(project)
    flagged(project)

    told = at_once(standing.sweep, standing.sweep)

    assert sorted(told) == [0, 1]
    assert Trial.objects.count() == 1


def test_a_rest_is_over_when_something_else_judges(project: Project) -> None:
    make_legacy(project)
    flagged(project)
    standing.sweep()
    close(Trial.objects.get(), state=TrialState.STOPPED, reason=StopReason.ERRORS)
    other = flagged(project, tier3_vote_count=5)

    standing.sweep(timezone.now() + timedelta(minutes=1))

    assert running(project)[0][1] == other
