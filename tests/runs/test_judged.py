"""Runs that a judge decides, over real HTTP, from submission to rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal

import pytest
from django.conf import LazySettings

from loomverify.accounts.models import Project
from tests.model_server import ModelServer, Said, model_server, together
from tests.runs.conftest import Caller
from tests.runs.judged import (
    AWAY,
    FAILING,
    NOISE,
    PASSING,
    calls_of,
    judged_by,
    submit,
    work_on,
)
from verification.engine.judges.asking import MAX_CALLS
from verification.runs import calls, retention
from verification.runs.evidence_store import read_blob
from verification.runs.models import (
    Blob,
    CallHour,
    Evaluation,
    Finding,
    ModelCall,
    Run,
    TierResult,
)
from verification.verifiers.models import Budget, Spending


@pytest.fixture(autouse=True)
def _nobody_waits_long(settings: LazySettings) -> None:
    settings.JUDGE_FIRST_WAIT_SECONDS = 0.01


@pytest.fixture
def server(project: Project) -> Iterator[ModelServer]:
    with model_server(PASSING) as server:
        judged_by(project, server)
        yield server


def test_a_judge_that_passes_the_work_accepts_it(agent: Caller, server: ModelServer) -> None:
    run = agent.submit(tier=2)

    assert (run["verdict"], run["outcome"], run["tier_achieved"]) == ("accept", "pass", 2)
    assert (run["confidence"], run["confidence_level"]) == (0.9, "HIGH")
    tier = run["tiers"][1]
    assert (tier["status"], tier["model"], tier["calls"]) == ("passed", "openai/first", 1)
    assert (tier["recovery"], tier["prompt_tokens"]) == ("strict_json", 100)


def test_a_judge_that_fails_the_work_rejects_it_with_its_words(
    agent: Caller, server: ModelServer
) -> None:
    server.script[:] = [FAILING]

    run = agent.submit(tier=2)

    assert (run["verdict"], run["reason_code"]) == ("reject", "llm_semantic_failed")
    assert "The third quarter is missing." in run["feedback"]["text"]
    assert run["task"]["attempts_used"] == 1


def test_work_that_fails_by_itself_costs_no_call(agent: Caller, server: ModelServer) -> None:
    run = agent.submit(tier=2, return_code=1)

    assert (run["verdict"], run["reason_code"]) == ("reject", "nonzero_return_code")
    assert server.asked == []


def test_every_call_is_kept_with_what_was_said_and_what_it_cost(
    agent: Caller, server: ModelServer
) -> None:
    run = work_on(submit(agent))

    [call] = calls_of(run)
    assert (call.judge, call.model, call.tier, call.seq) == ("first", "openai/first", 2, 1)
    assert (call.ask, call.tried, call.lost, call.recovery) == ("assess", 1, "", "strict_json")
    assert (call.prompt_tokens, call.completion_tokens) == (100, 20)
    assert call.cost_usd == Decimal("0.003")
    assert call.request is not None
    assert call.reply is not None
    assert read_blob(call.reply).decode() == PASSING
    kept = calls.Request.read(call.request)
    assert kept.prompt in server.prompts()[0]
    assert "All quarters are summed up." in kept.prompt
    assert run.cost_usd == Evaluation.objects.get(run=run).cost_usd == call.cost_usd


def test_tries_share_one_request_and_each_is_a_row(agent: Caller, server: ModelServer) -> None:
    server.script[:] = [AWAY, Said("slow down", status=429), PASSING]

    run = work_on(submit(agent))

    made = calls_of(run)
    assert [(call.tried, call.lost) for call in made] == [
        (1, "infra_verifier_error"),
        (2, "rate_limited"),
        (3, ""),
    ]
    assert len({call.request_id for call in made}) == 1
    assert (run.verdict, run.asked_again, run.attempt) == ("accept", 2, None)
    assert TierResult.objects.get(evaluation__run=run, tier=2).calls == 3


@pytest.mark.parametrize(("said", "verdict"), [(PASSING, "accept"), ("VERDICT: PASS", "undecided")])
def test_a_pass_that_was_cut_off_is_believed_only_whole(
    agent: Caller, server: ModelServer, settings: LazySettings, said: str, verdict: str
) -> None:
    settings.REVERIFY_DEADLINE_SECONDS = 0
    server.script[:] = [Said(said, finish_reason="length")]

    run = work_on(submit(agent))

    assert run.verdict == verdict


def test_a_failing_judge_is_asked_a_bounded_number_of_times(
    agent: Caller, server: ModelServer, settings: LazySettings
) -> None:
    settings.REVERIFY_DEADLINE_SECONDS = 0
    server.script[:] = [NOISE]

    run = work_on(submit(agent))

    assert (run.verdict, run.reason_code) == ("undecided", "parse_inconclusive")
    assert (run.severity_class, run.review_state) == ("inconclusive", "pending")
    assert 1 < len(server.asked) <= MAX_CALLS
    assert len(calls_of(run)) == len(server.asked)


def test_hours_count_calls_by_how_they_were_read(agent: Caller, server: ModelServer) -> None:
    server.script[:] = [AWAY, PASSING]

    work_on(submit(agent))

    rows = CallHour.objects.filter(calls__gt=0).values_list("recovery", "lost", "calls", "cost_usd")
    assert sorted(rows) == [
        ("", "infra_verifier_error", 1, Decimal(0)),
        ("strict_json", "", 1, Decimal("0.003")),
    ]


def test_the_same_work_again_is_answered_by_the_earlier_reply(
    agent: Caller, server: ModelServer
) -> None:
    first = work_on(submit(agent, task={"id": "one"}))
    second = work_on(submit(agent, task={"id": "one"}))

    assert len(server.asked) == 1
    assert (first.verdict, second.verdict) == ("accept", "accept")
    [call] = calls_of(second)
    assert (call.cached, call.cost_usd, call.recovery) == (True, Decimal(0), "strict_json")
    assert call.reply_id == calls_of(first)[0].reply_id
    tier = TierResult.objects.get(evaluation__run=second, tier=2)
    assert (tier.calls, tier.cached, second.cost_usd) == (0, 1, Decimal(0))


@pytest.mark.extended
@pytest.mark.parametrize(
    "other",
    [
        {"output": "Three quarters are summed up."},
        {"task": {"id": "one", "description": "Write another summary."}},
        {"files": {"a.md": "More."}},
    ],
)
def test_other_work_is_asked_about_anew(
    agent: Caller, server: ModelServer, other: dict[str, object]
) -> None:
    work_on(submit(agent, task={"id": "one"}))
    work_on(submit(agent, **{"task": {"id": "one"}, **other}))

    assert len(server.asked) == 2


def test_a_reply_that_could_not_be_read_is_never_shared(
    agent: Caller, server: ModelServer, settings: LazySettings
) -> None:
    settings.REVERIFY_DEADLINE_SECONDS = 0
    server.script[:] = [NOISE]
    work_on(submit(agent, task={"id": "one"}))
    server.script[:] = [PASSING]

    again = work_on(submit(agent, task={"id": "one"}))

    assert again.verdict == "accept"
    assert not any(call.cached for call in calls_of(again))


def test_another_project_shares_no_reply(
    agent: Caller, outsider: Caller, server: ModelServer
) -> None:
    judged_by(outsider.project, server)
    work_on(submit(agent, task={"id": "one"}))

    work_on(submit(outsider, task={"id": "one"}))

    assert len(server.asked) == 2


def test_a_spent_budget_is_told_before_anything_is_asked(
    agent: Caller, project: Project, server: ModelServer
) -> None:
    Budget.objects.create(project=project, usd_per_day=Decimal("0.0001"))

    run = work_on(submit(agent))

    assert server.asked == []
    assert (run.verdict, run.reason_code) == ("undecided", "budget_exhausted")
    assert (run.state, run.review_state) == ("finished", "pending")
    told = Finding.objects.get(evaluation__run=run).message
    assert told == "What judges may cost today does not hold another call."


def test_what_calls_cost_is_spent_and_nothing_stays_set_aside(
    agent: Caller, server: ModelServer
) -> None:
    server.script[:] = [AWAY, PASSING]

    run = work_on(submit(agent))

    spending = Spending.objects.get()
    assert spending.process == run.process
    assert (spending.calls, spending.reserved_usd) == (2, Decimal(0))
    assert spending.spent_usd == run.cost_usd == Decimal("0.003")


def test_a_connection_that_was_removed_leaves_the_work_undecided(
    agent: Caller, project: Project, server: ModelServer
) -> None:
    project.connections.update(is_removed=True)

    run = agent.submit(tier=2)

    assert (run["verdict"], run["reason_code"]) == ("undecided", "verifier_unavailable")
    assert "was removed" in run["findings"][0]["message"]
    assert server.asked == []


@pytest.mark.parametrize("escape", ["\\u0000", "\\ud800", "\\udfff\\u0000"])
def test_a_reply_that_no_database_can_hold_is_read_all_the_same(
    agent: Caller, server: ModelServer, escape: str
) -> None:
    server.script[:] = [FAILING.replace("third", f"th{escape}ird")]

    run = agent.submit(tier=2)

    assert (run["state"], run["verdict"]) == ("finished", "reject")
    assert run["feedback"]["items"][0]["message"].endswith("quarter is missing.")


def test_the_mark_around_what_is_quoted_cannot_be_known_before(
    agent: Caller, server: ModelServer
) -> None:
    run = work_on(submit(agent))
    seen = server.prompts()[0]

    again = work_on(submit(agent, output=f"All is well. {seen}"))

    assert again.verdict == "accept"
    fences = [_fence(prompt) for prompt in server.prompts()]
    assert fences[0] != fences[1]
    assert fences[1] not in seen
    assert run.pk != again.pk


def test_votes_are_asked_side_by_side_and_share_no_reply(
    agent: Caller, server: ModelServer
) -> None:
    server.script[:] = [PASSING, together(3, PASSING)]

    run = agent.submit(tier=3)

    assert (run["verdict"], run["tier_achieved"], run["confidence"]) == ("accept", 3, 0.9)
    assert run["vote_share"] == 1.0
    assert [vote["passed"] for vote in run["votes"]] == [True, True, True]
    assert server.most_at_once == 3
    assert len(server.asked) == 4
    votes = ModelCall.objects.filter(tier=3)
    assert len(set(votes.values_list("cache_key", flat=True))) == 3


def test_what_a_run_is_deleted_with_takes_its_calls_texts_along(
    agent: Caller, server: ModelServer
) -> None:
    run = work_on(submit(agent))
    names = {call.reply.sha256 for call in calls_of(run) if call.reply}
    long_ago = run.created_at - 2 * retention.ORPHAN_AGE
    Run.objects.filter(pk=run.pk).update(retain_until=long_ago)
    Blob.objects.update(created_at=long_ago)

    retention.purge_expired()
    retention.sweep_content()

    assert not ModelCall.objects.exists()
    assert not Blob.objects.filter(sha256__in=names).exists()
    assert CallHour.objects.filter(calls=1).exists()


def _fence(prompt: str) -> str:
    """The longest hexadecimal mark of a prompt."""
    words = [word.strip("<>/[](){}.,:;\"'") for word in prompt.replace("=", " ").split()]
    marks = [word for word in words if len(word) == 32 and set(word) <= set("0123456789abcdef")]
    assert marks, json.dumps(prompt)[:400]
    return marks[0]
