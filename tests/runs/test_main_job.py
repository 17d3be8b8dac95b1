"""The main job on real parts: an agent submits, a worker verifies, and survives being killed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from tests.faults.dying_once.apps import MARK, VARIABLE
from tests.runs.conftest import body_of
from tests.stack import Stack, running_stack, wait_for

COUNTS = """
    select count(*), min(task.submissions), min(task.attempts_used)
    from runs_evaluation evaluation
    join runs_run run on run.id = evaluation.run_id
    join runs_task task on task.id = run.task_id
    where run.uuid = %s
"""
BROKEN = '{"total": 3,,}\n'


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Its worker kills itself with SIGKILL before it writes its first verdict."""
    with running_stack(
        tmp_path_factory.mktemp("main-job"),
        "web",
        "worker",
        "relay",
        settings="tests.faults.dying_once.settings",
        variables={VARIABLE: "before finish"},
    ) as stack:
        yield stack


def verify(stack: Stack, **fields: Any) -> dict[str, Any]:
    """Submit a run and return it once it is finished."""
    with stack.client() as client:
        run = client.post("/runs", json=body_of(**fields)).json()["id"]
        answer: dict[str, Any] = {}

        def is_finished() -> bool:
            answer.update(client.get(f"/runs/{run}?wait=60").json())
            return bool(answer["state"] == "finished")

        wait_for(is_finished, f"the end of run {run}")
    return answer


def test_a_run_whose_worker_is_killed_is_verified_once_by_another(stack: Stack) -> None:
    run = verify(stack)

    assert (stack.folder / MARK).exists(), "the worker was killed"
    assert run["verdict"] == "accept"
    assert stack.query(COUNTS, run["id"]) == [(1, 1, 0)]


def test_broken_work_is_rejected_with_its_place_in_the_answer_and_on_its_page(stack: Stack) -> None:
    run = verify(stack, files={"budget.json": BROKEN}, task={"expected_outputs": ["budget.json"]})

    [finding] = [one for one in run["findings"] if one["reason_code"] == "syntax_invalid"]
    with closing(stack.browser()) as browser:
        page = browser.get(run["url"])
    assert run["verdict"] == "reject"
    assert (finding["path"], finding["line"]) == ("budget.json", 1)
    assert page.status_code == 200
    assert "budget.json" in page.text
