"""A submission never lowers the tier or the critical path of its phase."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from loomverify.accounts.models import Project
from processes.models import Process
from tests.runs.conftest import Caller, body_of, new_process, problem
from verification.runs.models import Run, Task

PROCESS = """\
name: floors
phases:
  - {id: check, description: Check it., verification_tier: 3, is_critical_path: true}
"""
MAY_LOWER = PROCESS.replace(
    "is_critical_path: true", "is_critical_path: true, may_lower_tier: true"
)
OFF_CRITICAL = {"is_critical_path": False}


@pytest.fixture
def process(project: Project) -> Process:
    return new_process(project, PROCESS)


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"tier": 1}, ["tier"]),
        ({"tier": 2}, ["tier"]),
        ({"task": OFF_CRITICAL}, ["task", "is_critical_path"]),
    ],
)
def test_a_submission_below_its_phase_is_refused_at_its_field(
    agent: Caller, process: Process, fields: dict[str, Any], place: list[str]
) -> None:
    body = body_of(process="floors", **fields)

    as_json = agent.post("/runs", body)
    run = SimpleUploadedFile("run.json", json.dumps(body).encode(), "application/json")
    in_parts = agent.post_parts("/runs", run=run)

    assert problem(as_json) == (422, "tier.below_phase", ["body", *place])
    assert problem(in_parts) == (422, "tier.below_phase", ["body", "run", *place])
    assert not Task.objects.exists()


def test_all_values_below_the_phase_are_named_together(agent: Caller, process: Process) -> None:
    answer = agent.post("/runs", body_of(process="floors", tier=1, task=OFF_CRITICAL))

    places = [error["loc"] for error in answer.json()["errors"]]
    assert places == [["body", "tier"], ["body", "task", "is_critical_path"]]


@pytest.mark.parametrize("fields", [{}, {"tier": 3}, {"tier": None}, {"task": {}}])
def test_a_submission_at_its_phase_is_taken(
    agent: Caller, process: Process, fields: dict[str, Any]
) -> None:
    answer = agent.post("/runs", body_of(process="floors", **fields))

    assert (answer.status_code, answer.json()["tier_requested"]) == (202, 3)


def test_a_submission_raises_its_phase(agent: Caller) -> None:
    body = body_of(process="general", tier=2, task={"is_critical_path": True})

    answer = agent.post("/runs", body)

    assert (answer.status_code, answer.json()["tier_requested"]) == (202, 2)


def test_a_phase_may_let_submissions_lower_its_tier(agent: Caller, project: Project) -> None:
    new_process(project, MAY_LOWER)

    answer = agent.post("/runs", body_of(process="floors", tier=1, task=OFF_CRITICAL))

    assert (answer.status_code, answer.json()["tier_requested"]) == (202, 1)


def test_a_repeated_request_gets_its_run_though_the_phase_was_raised_since(
    agent: Caller, project: Project
) -> None:
    new_process(project, MAY_LOWER)
    body, key = body_of(process="floors", tier=1), {"Idempotency-Key": "k-1"}
    first = agent.post("/runs", body, **key)
    raised = new_process(project, PROCESS)
    Process.objects.filter(pk=raised.pk).update(published=raised.versions.latest("number"))

    again, anew = agent.post("/runs", body, **key), agent.post("/runs", body)

    assert again.json()["id"] == first.json()["id"]
    assert problem(anew) == (422, "tier.below_phase", ["body", "tier"])
    assert Run.objects.count() == 1
