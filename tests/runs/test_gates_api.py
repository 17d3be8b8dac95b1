from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from loomverify.accounts.models import Project, Role
from tests.builders import make_project, make_run
from tests.gates import PROBLEMS, TESTS, going, make_gate, make_progress
from tests.judged import live_of
from tests.runs.conftest import Caller
from verification.engine.outcome import Status
from verification.runs.models import GateProgress, RunState

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def caller(project: Project) -> Caller:
    return Caller(project, Role.VIEWER)


def told(caller: Caller, path: str) -> dict[str, Any]:
    answer = caller.get(path)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def path_of(url: str) -> str:
    return url.partition("/api/v1")[2]


def test_a_gate_tells_when_it_ran_what_it_counted_and_where_its_log_is(
    project: Project, caller: Caller
) -> None:
    run = make_run(project)
    make_gate(live_of(run), tests=TESTS, started_ms=300, changed_lines=(3, 5), log=b"\x1b[1mran\n")
    make_gate(live_of(run), "lint", status=Status.FAILED, problems=PROBLEMS, log=None)

    test, lint = told(caller, f"/runs/{run.uuid}")["gates"]

    assert (test["started_ms"], test["duration_ms"]) == (300, 1_500)
    assert (test["new_lines"], test["problems"]) == ([3, 5], None)
    assert (lint["new_lines"], lint["problems"], lint["log_url"]) == (None, 2, None)
    log = caller.get(path_of(test["log_url"]))
    assert log.content == b"\x1b[1mran\n"
    assert log["Content-Disposition"].startswith("attachment")


def test_a_run_tells_of_its_gates_while_they_run(project: Project, caller: Caller) -> None:
    run = make_run(project, state=RunState.RUNNING)
    evaluation = going(run)
    make_progress(evaluation, "build", status="passed", ended_at=timezone.now())
    row = make_progress(evaluation, "test", tail="one\ntw")

    build, test = told(caller, f"/runs/{run.uuid}")["running"]

    assert (build["gate"], build["status"], build["ended_at"] is None) == ("build", "passed", False)
    assert (test["gate"], test["component"]) == ("test", ". (python)")
    assert (test["status"], test["written"], test["ended_at"]) == (None, 6, None)
    output = path_of(test["output_url"])
    assert told(caller, output) == {"text": "one\ntw", "left_out": 0, "next": 6, "status": None}
    row.tail, row.written, row.status = "o\nthree\n", 106, "failed"
    row.save()
    assert told(caller, f"{output}?since=6") == {
        "text": "o\nthree\n",
        "left_out": 92,
        "next": 106,
        "status": "failed",
    }
    assert told(caller, f"{output}?since=106")["text"] == ""


def test_a_run_that_is_over_has_no_gate_that_runs(project: Project, caller: Caller) -> None:
    run = make_run(project)

    assert told(caller, f"/runs/{run.uuid}")["running"] == []
    assert caller.get(f"/runs/{run.uuid}/gates/running/7/output").status_code == 404


@pytest.mark.parametrize("query", ["?since=-1", "?since=x", f"?since={10**30}"])
def test_a_place_that_is_none_is_refused(project: Project, caller: Caller, query: str) -> None:
    run = make_run(project, state=RunState.RUNNING)
    row = make_progress(going(run))

    assert caller.get(f"/runs/{run.uuid}/gates/running/{row.pk}/output{query}").status_code == 422


def test_what_gates_of_another_project_wrote_does_not_exist(caller: Caller) -> None:
    run = make_run(make_project(), state=RunState.RUNNING)
    row = make_progress(going(run))
    over = make_run(make_project())
    gate = make_gate(live_of(over))
    log = f"/runs/{over.uuid}/gates/{gate.evaluation.uuid}/{gate.position}/log"

    assert caller.get(f"/runs/{run.uuid}/gates/running/{row.pk}/output").status_code == 404
    assert caller.get(log).status_code == 404


@pytest.mark.parametrize("number", [40_000, 10**30])
def test_a_gate_that_never_was_does_not_exist(
    project: Project, caller: Caller, number: int
) -> None:
    run = make_run(project)
    live = live_of(run)

    assert caller.get(f"/runs/{run.uuid}/gates/{live.uuid}/{number}/log").status_code == 404
    assert caller.get(f"/runs/{run.uuid}/gates/running/{number}/output").status_code == 404
    assert not GateProgress.objects.exists()
