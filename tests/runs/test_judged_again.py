"""Runs in doubt: they verify themselves again, until a deadline, and blame nobody meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.utils import timezone

from loomverify.accounts.models import Project
from tests.model_server import ModelServer, Said, model_server
from tests.runs.conftest import Caller
from tests.runs.judged import (
    AWAY,
    FAILING,
    NOISE,
    PASSING,
    calls_of,
    judged_by,
    make_due,
    pass_deadline,
    submit,
    work_on,
)
from verification.runs import relay, reverifying
from verification.runs.models import Evaluation, OutboxEvent, Review, Run, Task, TierResult


@pytest.fixture(autouse=True)
def _nobody_waits_long(settings: LazySettings) -> None:
    settings.JUDGE_FIRST_WAIT_SECONDS = 0.01


@pytest.fixture
def server(project: Project) -> Iterator[ModelServer]:
    """A judge that is away."""
    with model_server(AWAY) as server:
        judged_by(project, server)
        yield server


@pytest.mark.parametrize(
    ("fault", "reason_code"),
    [
        (AWAY, "infra_verifier_error"),
        (Said("slow down", status=429), "rate_limited"),
        (Said(hang_up=True), "infra_verifier_error"),
        (NOISE, "parse_inconclusive"),
    ],
)
def test_a_run_whose_judge_was_lost_does_not_end(
    agent: Caller, server: ModelServer, fault: Said | str, reason_code: str
) -> None:
    server.script[:] = [fault]

    run = work_on(submit(agent))

    shown = agent.get(f"/runs/{run.uuid}").json()
    assert (shown["state"], shown["outcome"], shown["passed"]) == ("queued", None, None)
    assert (shown["undecided"]["reason_code"], shown["undecided"]["tries"]) == (reason_code, 1)
    assert shown["task"]["attempts_used"] == 0
    assert not Review.objects.exists()
    assert not OutboxEvent.objects.exists()


def test_the_evaluation_in_doubt_is_kept_whole(agent: Caller, server: ModelServer) -> None:
    run = work_on(submit(agent))

    evaluation = Evaluation.objects.get(run=run)
    assert (evaluation.verdict, evaluation.reason_code) == ("undecided", "infra_verifier_error")
    assert evaluation.finished_at is not None
    assert [one.reason_code for one in evaluation.findings.all()] == ["infra_verifier_error"]
    assert run.live_evaluation == evaluation
    told = run.events.get(kind="verification_undecided").data
    assert (told["next_at"], told["until"]) == (
        run.next_at.isoformat() if run.next_at else "",
        reverifying.deadline(run.undecided_since or timezone.now()).isoformat(),
    )


def test_what_was_achieved_is_kept_and_only_the_judge_is_asked_again(
    agent: Caller, server: ModelServer
) -> None:
    run = work_on(submit(agent))
    server.script[:] = [PASSING]
    make_due(run)

    work_on(run)

    assert (run.state, run.verdict, run.reverifications) == ("finished", "accept", 1)
    assert (run.attempt, run.review_state) == (None, "not_required")
    first, second = Evaluation.objects.filter(run=run).order_by("id")
    assert [(one.purpose, one.seq, one.verdict) for one in (first, second)] == [
        ("live", 1, "undecided"),
        ("reverify", 1, "accept"),
    ]
    assert second.verifier_version == first.verifier_version
    carried, judged = TierResult.objects.filter(evaluation=second).order_by("tier")
    assert (carried.tier, carried.status, carried.calls) == (1, "passed", 0)
    assert (judged.tier, judged.status, judged.calls) == (2, "passed", 1)
    ended = run.events.filter(kind="tier_finished").order_by("seq")
    assert list(ended.values_list("data__tier", flat=True)) == [1, 2, 2]
    assert OutboxEvent.objects.filter(topic="run.finished").count() == 1


def test_an_answer_that_left_it_in_doubt_is_not_taken_again(
    agent: Caller, server: ModelServer
) -> None:
    server.script[:] = ['{"passed": false}']
    run = work_on(submit(agent))
    assert [call.recovery for call in calls_of(run)] == ["strict_json", "strict_json"]
    server.script[:] = [PASSING]
    make_due(run)

    work_on(run)

    assert (run.verdict, calls_of(run)[-1].cached) == ("accept", False)


@pytest.mark.extended
def test_a_second_doubt_is_waited_for_longer(agent: Caller, server: ModelServer) -> None:
    run = work_on(submit(agent))
    pauses = []
    for _ in range(4):
        pauses.append(_pause(run))
        make_due(run)
        work_on(run)

    usual = [15.0, 30.0, 60.0, 120.0]
    for pause, expected in zip(pauses, usual, strict=True):
        assert expected * 0.8 <= pause <= expected * 1.2
    assert (run.state, run.reverifications) == ("queued", 4)
    assert list(run.evaluations.order_by("seq", "id").values_list("seq", flat=True)) == [
        1, 1, 2, 3, 4,
    ]  # fmt: skip


def test_the_judges_own_word_on_when_to_come_back_counts(
    agent: Caller, server: ModelServer
) -> None:
    server.script[:] = [Said("slow down", status=429, headers={"Retry-After": "300"})]

    run = work_on(submit(agent))

    assert _pause(run) == 300
    assert len(server.asked) == 1


def test_the_last_turn_is_at_the_deadline(agent: Caller, server: ModelServer) -> None:
    run = work_on(submit(agent))
    begun = timezone.now() - timedelta(seconds=880)
    Run.objects.filter(pk=run.pk).update(undecided_since=begun)
    make_due(run)

    work_on(run)

    assert run.next_at == begun + timedelta(seconds=900)


def test_at_the_deadline_a_person_is_asked(agent: Caller, server: ModelServer) -> None:
    run = work_on(submit(agent))
    pass_deadline(run)

    work_on(run)

    assert (run.state, run.verdict, run.outcome) == ("finished", "undecided", "fail")
    assert (run.reason_code, run.review_state) == ("infra_verifier_error", "pending")
    assert Review.objects.get().reasons == ["infra_verifier_error"]
    task = Task.objects.get()
    assert (task.attempts_used, task.submissions, task.last_outcome) == (0, 0, "system_error")


def test_a_deadline_of_nothing_asks_a_person_at_once(
    agent: Caller, server: ModelServer, settings: LazySettings
) -> None:
    settings.REVERIFY_DEADLINE_SECONDS = 0

    run = work_on(submit(agent))

    assert (run.state, run.verdict, run.review_state) == ("finished", "undecided", "pending")


@pytest.mark.parametrize("fields", [{"tier": 3}, {"tier": 2}])
def test_what_time_does_not_heal_is_not_waited_for(
    agent: Caller, project: Project, server: ModelServer, fields: dict[str, Any]
) -> None:
    project.connections.update(is_removed=True)

    run = work_on(submit(agent, **fields))

    assert (run.state, run.reason_code) == ("finished", "verifier_unavailable")


def test_no_message_wakes_a_run_before_its_time(agent: Caller, server: ModelServer) -> None:
    run = work_on(submit(agent))
    asked = len(server.asked)

    work_on(run)
    relay.sweep_runs()
    work_on(run)

    assert (run.state, len(server.asked)) == ("queued", asked)


def test_the_relay_wakes_it_when_its_time_has_come(agent: Caller, server: ModelServer) -> None:
    run = work_on(submit(agent))
    server.script[:] = [PASSING]
    make_due(run)

    woken = relay.sweep_runs()

    assert woken == 1
    assert work_on(run).verdict == "accept"


def test_a_later_reject_counts_like_any_other(agent: Caller, server: ModelServer) -> None:
    run = work_on(submit(agent))
    server.script[:] = [FAILING]
    make_due(run)

    work_on(run)

    task = Task.objects.get()
    assert (run.verdict, run.attempt) == ("reject", 1)
    assert (task.attempts_used, task.submissions, task.last_outcome) == (1, 1, "rejected")
    assert run.rerun_execution is True


def test_a_run_that_waits_can_be_cancelled(agent: Caller, server: ModelServer) -> None:
    run = work_on(submit(agent))

    answer = agent.post(f"/runs/{run.uuid}/cancel")
    make_due(run)
    work_on(run)

    assert answer.json()["cancelled"] is True
    assert (run.state, run.outcome) == ("cancelled", None)
    assert agent.get(f"/runs/{run.uuid}").json()["undecided"] is None


def test_the_review_is_withdrawn_when_the_judge_is_back(agent: Caller, server: ModelServer) -> None:
    run = work_on(submit(agent))
    pass_deadline(run)
    work_on(run)
    server.script[:] = [PASSING]

    agent.post(f"/runs/{run.uuid}/reverify")
    work_on(run)

    assert (run.verdict, run.review_state) == ("accept", "not_required")
    assert Review.objects.get().state == "withdrawn"


def test_a_run_that_is_being_verified_cannot_be_asked_again(
    agent: Caller, server: ModelServer
) -> None:
    run = submit(agent)

    assert agent.post(f"/runs/{run.uuid}/reverify").status_code == 409


def test_costs_of_every_evaluation_add_up(agent: Caller, server: ModelServer) -> None:
    server.script[:] = [Said(NOISE, prompt_tokens=1000)]
    run = work_on(submit(agent))
    server.script[:] = [PASSING]
    make_due(run)

    work_on(run)

    of_calls = sum(call.cost_usd for call in calls_of(run))
    assert run.cost_usd == of_calls > 0
    assert sum(one.cost_usd for one in run.evaluations.all()) == of_calls


def _pause(run: Run) -> float:
    """Seconds from the end of the last evaluation to the next."""
    at, evaluation = run.next_at, run.live_evaluation
    assert isinstance(at, datetime)
    assert evaluation is not None
    assert evaluation.finished_at is not None
    return (at - evaluation.finished_at).total_seconds()
