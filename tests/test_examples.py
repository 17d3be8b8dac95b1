from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project, Role
from loomverify.accounts.services import create_api_key, create_project
from loomverify.submit_command import RUN_FILE
from loomverify.submitting.packing import pack
from processes.services import ensure_builtin_processes
from verification.runs import worker
from verification.runs.models import Run
from verification.verifiers.services import ensure_verifiers

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


@pytest.fixture
def client(db: None) -> Client:
    project: Project = create_project(name="Ours", slug="ours", actor=SYSTEM)
    ensure_builtin_processes(project=project)
    ensure_verifiers(project=project)
    _, secret = create_api_key(project=project, name="agent", role=Role.AGENT, actor=SYSTEM)
    return Client(headers={"Authorization": f"Bearer {secret}"})


def verified(client: Client, name: str) -> dict[str, Any]:
    folder = EXAMPLES / name
    body = json.loads((folder / RUN_FILE).read_text())
    body["task"]["id"] = name
    workspace = io.BytesIO(pack(folder, without=folder / RUN_FILE))
    workspace.name = "workspace.tar.gz"

    answer = client.post("/api/v1/runs", {"run": json.dumps(body), "workspace": workspace})
    assert answer.status_code == 202, answer.content
    worker.work_on(Run.objects.get().pk)
    run: dict[str, Any] = client.get(f"/api/v1/runs/{answer.json()['id']}").json()
    return run


def test_the_broken_example_fails_for_three_different_reasons(client: Client) -> None:
    run = verified(client, "launch-plan-broken")

    hard = {
        (finding["reason_code"], finding["path"], finding["line"], finding["column"])
        for finding in run["findings"]
        if finding["enforcement"] == "hard"
    }
    assert (run["verdict"], run["retry"]["rerun_execution"]) == ("reject", True)
    assert {found[0] for found in hard} == {"deliverable_missing", "syntax_invalid", "tool_failed"}
    assert ("syntax_invalid", "budget.json", 8, 5) in hard
    assert any(found[:2] == ("deliverable_missing", "risks.md") for found in hard)


def test_the_broken_example_has_advice_that_does_not_count(client: Client) -> None:
    run = verified(client, "launch-plan-broken")

    advised = [f["rule"] for f in run["findings"] if f["enforcement"] == "advisory"]
    assert sorted(advised) == ["no-placeholders", "no-placeholders-in-files"]


def test_the_corrected_twin_is_accepted_without_a_finding(client: Client) -> None:
    run = verified(client, "launch-plan")

    assert (run["outcome"], run["verdict"], run["findings"]) == ("pass", "accept", [])


def test_both_examples_were_asked_for_the_same_work() -> None:
    tasks = [
        json.loads((EXAMPLES / name / RUN_FILE).read_text())["task"]
        for name in ("launch-plan", "launch-plan-broken")
    ]

    assert tasks[0] == tasks[1]
