from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loomverify.accounts.models import Project
from tests.adapters.custom_cases import OPERATORS
from tests.runs.conftest import Caller, new_process, problem
from tests.runs.judged import make_due, pass_deadline, submit, work_on
from verification.adapters.custom import InstalledVerifiers
from verification.runs import wording, worker
from verification.runs.models import Review, Run, TierResult

PROCESS = """\
name: totals
phases:
  - id: totals
    description: Add it up
    acceptance_criteria: It adds up
    custom_verifier: {}
"""


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every verifier of the suite, by its own name."""
    listed = {name: f"{OPERATORS}:{name}" for name in vars(_operators())}
    verifiers = InstalledVerifiers(listed, seconds=30, brought={})
    monkeypatch.setattr(worker, "custom", lambda: verifiers)


def _operators() -> Any:
    from tests.adapters import operators

    return operators


def verified(agent: Caller, verifier: str, **fields: Any) -> dict[str, Any]:
    new_process(agent.project, PROCESS.format(verifier))
    return agent.submit(process="totals", **fields)


def test_what_a_verifier_returned_is_the_result_of_the_run(agent: Caller) -> None:
    run = verified(agent, "of_a_dataclass", output='{"x": 1}')

    assert (run["verdict"], run["result"]) == ("accept", {"x": 1, "y": 0})


@pytest.mark.extended
def test_each_run_tells_its_verifier_which_attempt_it_is(agent: Caller) -> None:
    said = [
        verified(agent, "the_attempt", task={"id": "t"}, output=output)["findings"][0]["message"]
        for output in ("a", "b")
    ]

    assert said == ["This is attempt 1.", "This is attempt 2."]


def test_the_same_candidate_counts_once(agent: Caller) -> None:
    used = [
        verified(agent, "rejects", task={"id": "t"}, output=output)["task"]["attempts_used"]
        for output in ("a", "a", "b")
    ]

    assert used == [1, 1, 2]


def test_a_fatal_error_ends_the_task_at_once(agent: Caller) -> None:
    run = verified(agent, "fatal", task={"id": "t"})
    answer = agent.post(
        "/runs", {"process": "totals", "task": {"id": "t", "description": "x"}, "output": "other"}
    )

    assert (run["verdict"], run["reason_code"]) == ("reject", "custom_rejected")
    assert (run["task"]["exhausted"], run["retry"]["rerun_execution"]) == (True, False)
    assert "Summary: The customer does not exist." in run["feedback"]["text"]
    assert "attempt" not in run["feedback"]["text"]
    assert [item["code"] for item in run["feedback"]["items"]] == ["gone"]
    assert problem(answer)[0] == 409
    assert Review.objects.get().state == "pending"


@pytest.mark.parametrize("name", ["breaks_until_told", "dies_until_told"])
def test_a_verifier_that_breaks_or_dies_is_called_again_by_itself_and_costs_no_attempt(
    agent: Caller, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    away = tmp_path / "found"
    monkeypatch.setenv("VERIFIER_NOTES", str(away))
    new_process(project, PROCESS.format(name))

    run = work_on(submit(agent, process="totals", tier=1))
    waiting = agent.get(f"/runs/{run.uuid}").json()
    away.touch()
    make_due(run)
    work_on(run)
    settled = agent.get(f"/runs/{run.uuid}").json()

    assert (waiting["state"], waiting["passed"]) == ("queued", None)
    assert (settled["verdict"], settled["result"]) == ("accept", "found")
    assert settled["task"]["attempts_used"] == 0
    assert not Review.objects.filter(state="pending").exists()


def test_a_verifier_that_stays_broken_asks_a_person(agent: Caller, project: Project) -> None:
    new_process(project, PROCESS.format("breaks"))
    run = work_on(submit(agent, process="totals", tier=1, output="x"))
    pass_deadline(run)
    make_due(run)

    work_on(run)

    shown = agent.get(f"/runs/{run.uuid}").json()
    assert (shown["outcome"], shown["verdict"]) == ("fail", "undecided")
    assert shown["reason_code"] == "infra_verifier_error"
    assert (shown["task"]["attempts_used"], shown["task"]["last_outcome"]) == (0, "system_error")
    assert shown["findings"][0]["message"] == "The verifier breaks broke: KeyError: 'x'"
    assert Review.objects.get().state == "pending"


@pytest.mark.extended
@pytest.mark.parametrize(
    ("verifier", "verdict"),
    [
        ("returns_what_no_database_holds", "accept"),
        ("rejects_with_what_no_database_holds", "reject"),
    ],
)
def test_whatever_a_verifier_says_can_be_stored_and_shown(
    agent: Caller, verifier: str, verdict: str
) -> None:
    run = verified(agent, verifier)

    assert (run["state"], run["verdict"]) == ("finished", verdict)
    assert "\0" not in str(run)


def test_operators_find_the_stack_with_the_tier(agent: Caller, project: Project) -> None:
    new_process(project, PROCESS.format("breaks"))

    run = work_on(submit(agent, process="totals", tier=1))

    kept = TierResult.objects.get(evaluation__run=run).result["detail"]
    assert "Traceback (most recent call last):" in kept
    assert kept.endswith("KeyError: 'All quarters are summed up.'\n")


@pytest.mark.extended
@pytest.mark.parametrize("form", ["findings.sarif", "junit.xml", "report.md"])
def test_a_rejection_leaves_in_every_format(agent: Caller, form: str) -> None:
    run = verified(agent, "rejects", output="The total is 11.")

    answer = agent.get(f"/runs/{run['id']}/{form}")

    assert answer.status_code == 200
    assert b"The total is 11" in answer.content


def test_the_page_says_that_the_verifier_is_missing_and_not_the_judge(agent: Caller) -> None:
    verified(agent, "no_such_verifier")

    said = wording.headline(Run.objects.get())

    assert said.title == "Undecided: the custom verifier that the phase names is not there."
    assert "LOOMVERIFY_VERIFIERS" in said.detail


def test_a_run_of_tier_two_without_a_judge_keeps_what_its_verifier_found(agent: Caller) -> None:
    run = verified(agent, "of_the_submission", tier=2, output="fine")

    assert (run["verdict"], run["reason_code"]) == ("undecided", "verifier_unavailable")
    assert run["result"] == "fine"
    assert Run.objects.get().tier_achieved == 1
