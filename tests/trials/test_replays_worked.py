"""Replays of trials, worked off by this very process."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from loomverify.accounts.models import Project, Role
from processes.models import ProcessVersion
from tests.golden.builders import make_case
from tests.golden.replayed import FILES
from tests.model_server import ModelServer, model_server
from tests.runs.conftest import Caller, new_project
from tests.runs.judged import PASSING, judged_by, submit, work_on
from tests.trials.builders import access_to, make_trial
from tests.trials.replaying import over_corpus, over_past
from tests.trials.worked import legacy_beside, lose, unpublished, waiting, worked
from verification.engine.verifier import Flags, VerifierSpec
from verification.golden.cases.services import ensure_shipped
from verification.golden.models import GoldenCaseVersion
from verification.trials.models import Comparison, Trial
from verification.trials.replays import selectors, services
from verification.trials.replays.cases import Beside, beside
from verification.trials.working import claiming, making, working
from verification.verifiers.services import add_version

pytestmark = pytest.mark.django_db
CASES = 30
OF_THIS_REPLAY = ("id", "uuid", "replay_id", "created_at", "compared_at", "judged_at", "claims",
                  "old_ms", "new_ms")  # fmt: skip


@pytest.fixture
def server(own_evidence: None, db: None, settings: Any) -> Iterator[ModelServer]:
    settings.REVERIFY_DEADLINE_SECONDS = 0
    with model_server(PASSING) as server:
        yield server


@pytest.fixture
def judged(server: ModelServer) -> Project:
    project = new_project("judged")
    judged_by(project, server)
    return project


def trial_over_cases(project: Project, count: int = CASES) -> Trial:
    for number in range(count):
        make_case(project, f"case-{number:02}", files=FILES)
    return make_trial(project, aa_rate=0)


def work_off(trial: Trial) -> None:
    """To the end, whatever the time of a turn."""
    working.work_on(trial.pk, seconds=math.inf)


def told(trial: Trial) -> list[dict[str, Any]]:
    """All that was stored of the newest replay, by case."""
    rows = Comparison.objects.filter(replay=selectors.replays(trial)[0]).order_by("title").values()
    return [
        {name: value for name, value in row.items() if name not in OF_THIS_REPLAY} for row in rows
    ]


@pytest.mark.extended
def test_the_shipped_cases_differ_as_they_say_they_do(own_evidence: None, db: None) -> None:
    project = new_project("shipped")
    ensure_shipped(project=project)
    trial = legacy_beside(project)
    replay = over_corpus(trial, with_canary=True)

    work_off(trial)

    rows = replay.comparisons.select_related("case_version").defer("old_observed", "new_observed")
    said = {row.title: row.case_version.spec["expected"].get("shadow") for row in rows}  # type: ignore[union-attr]
    found = {row.title: row.diff_class for row in rows if said[row.title]}
    assert len(found) > 20
    assert found == {title: one for title, one in said.items() if one}
    assert not [row.title for row in rows if row.has_failed]
    assert selectors.progress(replay).done == replay.total == len(said)


@pytest.mark.extended
def test_the_corpus_taken_twice_gives_the_same_to_the_last_letter(
    own_evidence: None, db: None
) -> None:
    project = new_project("shipped")
    ensure_shipped(project=project)
    trial = legacy_beside(project)

    stored = []
    for _ in range(2):
        over_corpus(trial, tags=["injection"])
        work_off(trial)
        stored.append(told(trial))

    assert len(stored[0]) > 3
    assert stored[0] == stored[1]


def test_a_lost_workers_cases_are_compared_by_another_and_each_once(project: Project) -> None:
    trial = trial_over_cases(project)
    replay = over_corpus(trial)
    claiming.claim(trial.pk, batch=3)

    working.work_on(trial.pk, seconds=math.inf)
    assert waiting(trial).count() == 3
    lose(trial)
    work_off(trial)

    replay.refresh_from_db()
    claims = Counter(replay.comparisons.values_list("claims", flat=True))
    assert claims == {1: CASES - 3, 2: 3}
    assert not replay.comparisons.exclude(diff_class="no_diff").exists()
    assert replay.finished_at is not None


def test_a_replay_cancelled_while_it_is_worked_on_stores_nothing_more(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = trial_over_cases(project, 5)
    replay = over_corpus(trial)
    making.make(trial, claiming.claim(trial.pk, batch=2))

    def cancelled(comparison: Comparison, trial: Trial) -> Beside:
        services.cancel(access=access_to(project), trial=trial, replay=replay.uuid)
        return beside(comparison, trial)

    monkeypatch.setattr(making, "beside", cancelled)
    working.work_on(trial.pk)

    assert selectors.progress(replay) == selectors.Progress(2, 5)
    assert trial.comparisons.count() == 2


def test_a_case_deleted_while_it_waits_is_said_to_be_gone(project: Project) -> None:
    trial = trial_over_cases(project, 2)
    replay = over_corpus(trial)
    gone = GoldenCaseVersion.objects.get(case__name="case-00")
    gone.case.current = None
    gone.case.save()
    gone.delete()

    work_off(trial)

    rows = replay.comparisons.order_by("title").values_list("diff_class", "error_text")
    assert list(rows) == [("", "This version of the case is gone."), ("no_diff", "")]
    assert selectors.progress(replay) == selectors.Progress(2, 2, not_compared=1)


def with_other_words(project: Project) -> ProcessVersion:
    process = project.processes.get(slug="general")
    assert process.published is not None
    text = process.published.source_text
    found = next(line for line in text.splitlines() if "acceptance_criteria:" in line)
    return unpublished(process, text.replace(found, f"{found.split(':')[0]}: It is short.", 1))


def test_past_runs_ask_no_judge_what_was_answered_in_the_same_words(
    judged: Project, server: ModelServer
) -> None:
    run = work_on(submit(Caller(judged, Role.AGENT)))
    asked = len(server.asked)
    spec = VerifierSpec.from_json(judged.verifiers.get(is_active=True).spec)
    flags = replace(Flags(), unconfirmed_supporting_threshold=0.4)
    candidate = add_version(project=judged, spec=replace(spec, flags=flags))
    trial = make_trial(judged, candidate=candidate, aa_rate=0)
    replay = over_past(trial)

    [found] = worked(trial)

    assert asked > 0
    assert len(server.asked) == asked
    assert (found.replay, found.run, found.diff_class) == (replay, run, "no_diff")
    assert trial.cost_usd == 0
    assert found.new_cost_usd == found.old_cost_usd == run.cost_usd > 0


def test_past_runs_ask_judges_anew_what_the_candidate_asks_otherwise(
    judged: Project, server: ModelServer
) -> None:
    work_on(submit(Caller(judged, Role.AGENT)))
    asked = len(server.asked)
    version = with_other_words(judged)
    trial = make_trial(judged, candidate_process_version=version, aa_rate=0)
    over_past(trial)

    [found] = worked(trial)

    assert len(server.asked) > asked
    assert "It is short." in str(server.asked[-1])
    assert trial.cost_usd == found.new_cost_usd > 0
