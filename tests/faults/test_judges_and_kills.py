"""Workers killed in the middle of a judge's answers: each run ends once, no answer is paid twice."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from tests.model_server import ModelServer, Said, model_server
from tests.runs.judged import NOISE, PASSING
from tests.stack import Stack, wait_for

pytestmark = pytest.mark.faults

_times = itertools.count(1)
SLOW = Said(PASSING, seconds=20)


@pytest.fixture(scope="module")
def judge() -> Iterator[ModelServer]:
    with model_server(PASSING) as server:
        yield server


@pytest.fixture(scope="module")
def stack(judge: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    stack = Stack(
        tmp_path_factory.mktemp("stack"),
        settings="tests.faults.judged_settings",
        variables={
            "LOOMVERIFY_JUDGE_MODEL": "openai/judge",
            "LOOMVERIFY_JUDGE_API_BASE": judge.url,
            "LOOMVERIFY_JUDGE_API_KEY": "none",
        },
    )
    try:
        stack.prepare()
        stack.migrate()
        stack.start("web", "worker", "relay")
        yield stack
    finally:
        stack.stop()


@pytest.fixture(autouse=True)
def _nothing_asked_yet(judge: ModelServer) -> None:
    judge.asked.clear()


def test_a_worker_killed_while_its_judge_thinks(stack: Stack, judge: ModelServer) -> None:
    judge.script[:] = [SLOW, PASSING]
    run = _submit(stack, tier=2)
    wait_for(lambda: judge.asked, "the first question")

    _kill_worker(stack)

    assert _ended(stack, run)["verdict"] == "accept"
    assert len(judge.asked) == 2
    assert _calls(stack, run) == [(2, "assess", 1, "", "strict_json")]
    _assert_ended_once(stack, run)


def test_a_worker_killed_behind_an_answer_that_could_not_be_read(
    stack: Stack, judge: ModelServer
) -> None:
    judge.script[:] = [NOISE, SLOW, PASSING]
    run = _submit(stack, tier=2)
    wait_for(lambda: len(judge.asked) == 2, "the question to restate it")

    _kill_worker(stack)

    assert _ended(stack, run)["verdict"] == "accept"
    assess, restate, restate_again, assess_later = judge.prompts()
    assert (assess, restate) == (assess_later, restate_again)
    assert [(ask, recovery) for _, ask, _, _, recovery in _calls(stack, run)] == [
        ("assess", "unreadable"),
        ("restate", "unreadable"),
        ("assess", "strict_json"),
    ]
    _assert_costs_add_up(stack, run)


def test_a_worker_killed_between_votes(stack: Stack, judge: ModelServer) -> None:
    judge.script[:] = [PASSING, PASSING, PASSING, SLOW, PASSING]
    run = _submit(stack, tier=3)
    wait_for(lambda: len(_calls(stack, run)) == 3, "two of three votes")
    wait_for(lambda: len(judge.asked) == 4, "the question for the third")

    _kill_worker(stack)

    ended = _ended(stack, run)
    assert [vote["passed"] for vote in ended["votes"]] == [True, True, True]
    assert len(judge.asked) == 5
    assert [tier for tier, *_ in _calls(stack, run)] == [2, 3, 3, 3]
    assert ended["tiers"][2]["calls"] == 3
    _assert_ended_once(stack, run)


def test_a_broker_emptied_while_a_run_waits_for_its_judge(stack: Stack, judge: ModelServer) -> None:
    judge.script[:] = [Said("try later", status=503)]
    run = _submit(stack, tier=2)
    wait_for(lambda: _waits(stack, run), "the pause")
    judge.script[:] = [PASSING]

    for message in list((stack.folder / "broker" / "queue").iterdir()):
        message.unlink(missing_ok=True)

    ended = _ended(stack, run)
    assert (ended["verdict"], ended["purpose"]) == ("accept", "reverify")
    assert ended["task"]["attempts_used"] == 0


def _submit(stack: Stack, **fields: Any) -> str:
    body = {
        "process": "general",
        "task": {"id": "task", "description": "Survive."},
        "output": f"Nothing is lost, said for the {next(_times)}. time.",
        **fields,
    }
    with stack.client() as client:
        answer = client.post("/runs", json=body)
    assert answer.status_code == 202, answer.text
    run: str = answer.json()["id"]
    return run


def _kill_worker(stack: Stack) -> None:
    stack.kill("worker")
    stack.start("worker")


def _ended(stack: Stack, run: str) -> dict[str, Any]:
    def look() -> dict[str, Any]:
        with stack.client() as client:
            found: dict[str, Any] = client.get(f"/runs/{run}").json()
        return found

    wait_for(lambda: look()["state"] == "finished", "the end of the run")
    return look()


def _waits(stack: Stack, run: str) -> bool:
    return bool(
        stack.query(
            "select 1 from runs_run where uuid = %s and state = 'queued'"
            " and undecided_since is not null",
            run,
        )
    )


def _calls(stack: Stack, run: str) -> list[tuple[Any, ...]]:
    return stack.query(
        "select call.tier, call.ask, call.tried, call.lost, call.recovery"
        " from runs_modelcall call join runs_evaluation e on e.id = call.evaluation_id"
        " join runs_run run on run.id = e.run_id where run.uuid = %s order by call.id",
        run,
    )


def _assert_ended_once(stack: Stack, run: str) -> None:
    ends = stack.query(
        "select count(*) from runs_event event join runs_run run on run.id = event.run_id"
        " where run.uuid = %s and event.kind like 'verification_%%'",
        run,
    )

    assert ends == [(1,)]
    _assert_costs_add_up(stack, run)


def _assert_costs_add_up(stack: Stack, run: str) -> None:
    [(of_run, of_evaluations, of_calls)] = stack.query(
        "select run.cost_usd,"
        " (select sum(e.cost_usd) from runs_evaluation e where e.run_id = run.id),"
        " (select sum(call.cost_usd) from runs_modelcall call"
        "  join runs_evaluation e on e.id = call.evaluation_id where e.run_id = run.id)"
        " from runs_run run where uuid = %s",
        run,
    )

    assert of_run == of_evaluations == of_calls
