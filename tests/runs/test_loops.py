"""Runs of a phase that goes by a score: what judges give, what follows, and what it may cost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.conf import LazySettings

from loomverify.accounts.models import Project
from tests.model_server import ModelServer, model_server
from tests.runs.conftest import Caller, new_process
from tests.runs.judged import AWAY, NOISE, judged_by, submit, work_on
from verification.runs.models import Evaluation, Finding, Run, Task

PROCESS = """\
name: scored
phases:
  - id: write
    description: Write it
    acceptance_criteria: It is written
    score: {threshold: 8.0, max_iterations: 10, budget_usd: 0.001}
"""
GIVEN = {"correctness": 3, "completeness": 2, "testing": 1.5, "quality": 2, "practice": 1}
PASSING = json.dumps({"passed": True, "confidence": 0.9, "score": GIVEN})
FAILING = json.dumps({"passed": False, "issues": ["It is not."], "confidence": 0.9, "score": GIVEN})


@pytest.fixture
def server(project: Project) -> Iterator[ModelServer]:
    new_process(project, PROCESS)
    with model_server(PASSING) as server:
        judged_by(project, server)
        yield server


def sent(agent: Caller, output: str, **fields: Any) -> Run:
    about = {"process": "scored", "phase": "write", "task": {"id": "one"}, "output": output}
    return work_on(submit(agent, **{**about, **fields}))


def evaluation(run: Run) -> Evaluation:
    found = run.live_evaluation
    assert found is not None
    return found


def test_what_a_judge_gives_is_kept_by_its_parts_and_adds_up(
    agent: Caller, server: ModelServer
) -> None:
    run = sent(agent, "first")

    told = agent.get(f"/runs/{run.uuid}").json()
    assert (told["score"]["total"], told["score"]["source"]) == (9.5, "semantic")
    assert {one["name"]: one["points"] for one in told["score"]["semantic"]} == GIVEN
    assert told["loop"]["decision"] == "finish"


@pytest.mark.quick_rows(2)
@pytest.mark.parametrize(
    "score", [9, "good", {"correctness": 3}, {**GIVEN, "practice": 2}, None, [GIVEN]]
)
def test_a_score_that_cannot_be_read_blames_no_run(
    agent: Caller, server: ModelServer, settings: LazySettings, score: Any
) -> None:
    settings.REVERIFY_DEADLINE_SECONDS = 0
    server.script[:] = [json.dumps({"passed": True, "confidence": 0.9, "score": score})] * 2

    run = sent(agent, "first")

    assert (run.verdict, run.reason_code) == ("undecided", "score_missing")
    assert (evaluation(run).score or {})["source"] == "neither"
    assert (evaluation(run).loop or {})["decision"] == "stop"


def test_work_that_was_rejected_is_not_finished_however_good_its_score(
    agent: Caller, server: ModelServer
) -> None:
    server.script[:] = [FAILING]
    source = PROCESS.replace(", budget_usd: 0.001", "").replace("scored", "unbounded")
    new_process(agent.project, source)

    run = sent(agent, "first", process="unbounded")

    assert (run.verdict, (evaluation(run).score or {})["total"]) == ("reject", 9.5)
    assert (evaluation(run).loop or {})["decision"] == "iterate"


def test_a_task_whose_loop_has_spent_its_budget_asks_no_judge_any_more(
    agent: Caller, server: ModelServer
) -> None:
    server.script[:] = [FAILING]
    first = sent(agent, "first")

    second = sent(agent, "second")

    assert (first.verdict, len(server.asked)) == ("reject", 1)
    assert (second.verdict, second.outcome) == ("undecided", "fail")
    assert (second.reason_code, second.severity_class) == ("budget_exhausted", "infra")
    assert (second.state, second.rerun_execution) == ("finished", False)
    assert (evaluation(second).loop or {})["decision"] == "stop"
    told = Finding.objects.get(evaluation__run=second).message
    assert told == "Judging this task has cost $0.003 of the $0.001 that its loop may cost."
    assert Task.objects.get().attempts_used == 1


def test_a_loop_waits_where_its_judge_is_asked_again_later(
    agent: Caller, server: ModelServer, settings: LazySettings
) -> None:
    settings.JUDGE_FIRST_WAIT_SECONDS = 0.01
    server.script[:] = [AWAY]

    run = sent(agent, "first")

    assert (run.state, evaluation(run).verdict) == ("queued", "undecided")
    assert evaluation(run).loop is None


def test_the_budget_of_a_loop_is_one_tasks_own(agent: Caller, server: ModelServer) -> None:
    sent(agent, "first")

    other = sent(agent, "second", task={"id": "two"})

    assert (other.verdict, len(server.asked)) == ("accept", 2)


def test_a_call_is_begun_while_less_than_the_budget_is_spent_and_no_later(
    agent: Caller, server: ModelServer
) -> None:
    server.script[:] = [NOISE]

    run = sent(agent, "first")

    assert len(server.asked) == 1, "what it cost left nothing to have it restated"
    assert run.cost_usd >= Decimal("0.001")
    assert evaluation(run).verdict == "undecided"
