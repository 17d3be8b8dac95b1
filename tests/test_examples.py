from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project, Role
from loomverify.accounts.services import create_api_key, create_project
from loomverify.submit_command import RUN_FILE
from loomverify.submitting.packing import pack
from loomverify.submitting.selecting import Choice, select_files
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
    workspace = io.BytesIO(pack(select_files(folder, Choice(all_files=True, without=RUN_FILE))))
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


PRICES_HARD = [
    ("records-name-their-source", None, None),
    ("no-rows-left-out", "rejects.csv", 3),
]
PRICES_ADVISED = [
    ("no-spreadsheet-errors", "raw.jsonl", 5),
    ("text-is-not-damaged", "raw.jsonl", 1),
    ("text-is-not-damaged", "raw.jsonl", 2),
]


def test_the_broken_extract_fails_for_what_its_process_knows(client: Client) -> None:
    run = verified(client, "price-lists-broken")

    of_rules = [f for f in run["findings"] if f["rule"] != "syntax"]
    hard, advised = (
        [(f["rule"], f["path"], f["line"]) for f in of_rules if f["enforcement"] == level]
        for level in ("hard", "advisory")
    )
    assert (run["verdict"], run["reason_code"]) == ("reject", "hard_invariant_failed")
    assert hard == PRICES_HARD
    assert sorted(set(advised)) == PRICES_ADVISED
    assert "Instructions: Correct the script rather than the file" in run["feedback"]["text"]


def test_the_files_of_the_broken_extract_parse(client: Client) -> None:
    run = verified(client, "price-lists-broken")

    of_checks = {f["enforcement"] for f in run["findings"] if f["rule"] == "syntax"}
    assert "hard" not in of_checks


@pytest.mark.parametrize("name", ["launch-plan", "price-lists"])
def test_the_corrected_twin_is_accepted_without_a_finding(client: Client, name: str) -> None:
    run = verified(client, name)

    assert (run["outcome"], run["verdict"], run["findings"]) == ("pass", "accept", [])


@pytest.mark.parametrize("name", ["launch-plan", "price-lists"])
def test_both_twins_were_asked_for_the_same_work(name: str) -> None:
    asked = [
        [run[key] for key in ("process", "phase", "task")]
        for twin in (name, f"{name}-broken")
        for run in [json.loads((EXAMPLES / twin / RUN_FILE).read_text())]
    ]

    assert asked[0] == asked[1]


def test_the_good_extract_is_what_it_says() -> None:
    records = (EXAMPLES / "price-lists" / "raw.jsonl").read_text().splitlines()
    run = json.loads((EXAMPLES / "price-lists" / RUN_FILE).read_text())

    by_source = Counter(json.loads(record)["source_id"] for record in records)
    counted = next(call["result"] for call in run["tool_calls"] if "result" in call)
    assert counted == by_source + Counter(S3=1)  # one is in rejects.csv
    assert run["output"].startswith(f"{len(records)} prices")
