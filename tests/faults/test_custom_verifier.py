"""A worker dies between a custom verifier's rejection and its commit: one attempt is counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.faults.dying_once.apps import MARK, VARIABLE
from tests.stack import Stack, running_stack, wait_for

pytestmark = pytest.mark.faults

PROCESS = """\
name: totals
phases:
  - id: totals
    description: Add it up
    acceptance_criteria: It adds up
    custom_verifier: totals
"""


@pytest.mark.parametrize(
    ("dies", "calls"),
    [
        ("before _save_tier", 2),  # it said no, and nobody knows
        ("before finish", 1),  # what it said is kept, and is gone on with
        ("after finish", 1),  # all is committed, but the message comes again
    ],
)
def test_a_rejection_counts_once_wherever_the_worker_dies(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, dies: str, calls: int
) -> None:
    noted = tmp_path / "calls"
    variables = {
        VARIABLE: dies,
        "LOOMVERIFY_VERIFIERS": "totals=tests.adapters.operators:rejects_and_notes_it",
        "VERIFIER_NOTES": str(noted),
    }
    folder, settings = tmp_path_factory.mktemp("stack"), "tests.faults.dying_once.settings"
    with running_stack(
        folder, "web", "worker", "relay", settings=settings, variables=variables
    ) as stack:
        _add_process(stack)

        first = _verified(stack, "The total is 11.")
        again = _verified(stack, "The total is 11.")
        other = _verified(stack, "The total is 13.")

        assert (folder / MARK).exists(), "the fault was real"
        assert noted.read_text().splitlines() == ["The total is 11."] * (calls + 1) + [
            "The total is 13."
        ]
        assert {run["reason_code"] for run in (first, again, other)} == {"custom_rejected"}
        assert [run["findings"][0]["message"] for run in (first, other)] == [
            "The total is 11.",
            "The total is 13.",
        ]
        assert stack.query("select attempts_used, submissions, exhausted from runs_task") == [
            (2, 3, False)
        ]
        assert stack.query("select count(*) from runs_evaluation") == [(3,)]


def _add_process(stack: Stack) -> None:
    with stack.client(**{"Content-Type": "application/yaml"}) as client:
        answer = client.post("/processes", content=PROCESS)
    assert answer.status_code == 201, answer.text


def _verified(stack: Stack, output: str) -> dict[str, Any]:
    body = {
        "process": "totals",
        "task": {"id": "t", "description": "Add it up.", "max_attempts": 5},
        "output": output,
    }
    with stack.client() as client:
        run = client.post("/runs", json=body).json()["id"]

        def is_over() -> bool:
            return bool(client.get(f"/runs/{run}").json()["state"] == "finished")

        wait_for(is_over, "the end of the run")
        found: dict[str, Any] = client.get(f"/runs/{run}").json()
    return found
