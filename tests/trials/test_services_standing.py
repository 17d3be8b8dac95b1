from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project, Role
from tests.builders import make_project
from tests.model_server import model_server
from tests.runs.conftest import Caller, new_project
from tests.runs.judged import PASSING, connect
from tests.trials.at_once import at_once
from tests.trials.builders import make_legacy, make_trial, make_verifier
from tests.trials.worked import worked
from verification.engine.shadow import DiffClass
from verification.engine.verifier import LEGACY_FLAGS, Flags, JudgeModels, VerifierSpec
from verification.runs import relay
from verification.trials.models import StopReason, Trial, TrialState
from verification.trials.services import standing
from verification.trials.services.stopping import close
from verification.verifiers.models import VerifierVersion
from verification.verifiers.services import activate, add_version

pytestmark = pytest.mark.django_db
SEARCH: dict[str, Any] = {
    "process": "research-report",
    "phase": "search",
    "task": {"description": "Write down what was searched."},
    "output": "Three places searched, 2 of 61 hits kept.",
    "tool_calls": [
        {"tool": "web_search", "success": True, "args": {"query": "night shift melatonin"}},
        {"tool": "write_file", "success": True, "files_changed": ["search-log.csv", "sources.csv"]},
    ],
    "files": {
        "search-log.csv": "words,place,day,hits,kept\nmelatonin,PubMed,2026-02-03,61,2\n",
        "sources.csv": (
            "source_id,title,year,location,kind\n"
            "S1,Melatonin for shift workers,2014,"
            "https://doi.org/10.1002/14651858.CD009776.pub2,review\n"
        ),
    },
}
"""Work of a built-in process that is whole for its phase; the list of sources comes later."""
WHY = (
    "no-placeholders: hard → advisory",
    "report-lists-sources: leaked from another phase → skipped",
    "acceptance-criteria: hard → not found",
)


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

    relay.sweep_rooms()

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


def test_classic_false_fails_of_the_old_engine_are_what_a_standing_trial_shows(
    own_evidence: None, db: None, settings: Any
) -> None:
    settings.JUDGE_FIRST_WAIT_SECONDS = 0.01
    project = new_project("fresh")
    agent = Caller(project, Role.AGENT)
    with model_server(f"Happy to help! Here is what I found: {PASSING}") as server:
        connect(project, "first", server)
        judges = JudgeModels("first", "")
        legacy = add_version(project=project, spec=VerifierSpec(LEGACY_FLAGS, judges))
        flags = replace(Flags(), shadow_compare_enabled=True)
        active = add_version(project=project, spec=VerifierSpec(flags, judges))
        make_live(project, active)
        standing.sweep()

        told = [
            agent.submit(output="The rent is 900 EUR.\n- Heating: [TODO]\n", tier=1),
            agent.submit(**SEARCH, tier=1),
            agent.submit(output="The rent is 900 EUR.", tier=2),
        ]
        trial = Trial.objects.get()
        found = worked(trial)

    assert running(project) == [(legacy, active)]
    assert [one["outcome"] for one in told] == ["pass_with_warnings", "pass", "pass"]
    assert [str(one.run.uuid) for one in found if one.run] == [one["id"] for one in told]
    assert [one.diff_class for one in found] == [DiffClass.OLD_FAIL_NEW_PASS] * 3
    for one, why in zip(found, WHY, strict=True):
        assert why in one.summary


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
