"""What an evaluation leaves behind beside its verdict: claims, texts it made, remediations, results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loomverify.accounts.models import Project
from tests.adapters.custom_cases import entry_points_of
from tests.runs.conftest import Caller, body_of, new_process, problem
from verification.runs import retention, worker
from verification.runs.evidence_store import read_blob
from verification.runs.models import Artefact, Blob, Evaluation, Remediation, Run, Task

KEPT = "Revenue rose by 4 %."
DROPPED = "Buy the factory."
CLAIMS = [
    {"text": KEPT, "label": "confirmed", "section": "supporting", "evidence": ["e1"]},
    {"text": DROPPED, "label": "inferred", "section": "recommendation"},
]
EVIDENCE = [{"id": "e1", "text": "Revenue rose by 4 % to 1.3 million."}]
PROCESS = """\
name: claims
phases:
  - {id: core, description: Core., is_critical_path: true}
  - {id: side, description: Side.}
"""
VERIFIER = """\
from loomverify.custom import FatalVerificationError, VerificationRejected


def check(submission):
    if "fatal" in submission.output:
        raise FatalVerificationError("The order was withdrawn.")
    if "bad" in submission.output:
        raise VerificationRejected("The total is wrong.", code="total")
    return {"total": "44.30", "note": "a\\x00b"}
"""


@pytest.fixture
def claims(project: Project) -> str:
    return new_process(project, PROCESS).slug


@pytest.fixture
def _verifier(tmp_path: Path, project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "totals.py").write_text(VERIFIER)
    entry_points_of(tmp_path, "totals", {"totals": "totals:check"})
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    worker.custom.cache_clear()
    new_process(
        project, "name: own\nphases: [{id: only, description: One., custom_verifier: totals}]\n"
    )
    yield
    worker.custom.cache_clear()


def test_pruned_text_is_kept_without_the_claim(agent: Caller, claims: str) -> None:
    run = agent.submit(**_about(claims, "core"))

    assert (run["outcome"], run["reason_code"]) == ("partial_verified", "recommendation_pruned")
    [made] = Artefact.objects.all()
    assert (made.kind, made.path) == ("pruned", "")
    assert DROPPED not in read_blob(made.blob).decode()
    assert KEPT in read_blob(made.blob).decode()


def test_each_claim_is_kept_as_it_counts(agent: Caller, claims: str) -> None:
    run = agent.submit(**_about(claims, "side"))

    kept = Evaluation.objects.get().claim_list
    assert [(one["text"], one["said"], one["label"], one["section"]) for one in kept] == [
        (KEPT, "confirmed", "confirmed", "supporting"),
        (DROPPED, "inferred", "inferred", "recommendation"),
    ]
    assert (run["claims"]["confirmed"], run["claims"]["inferred"]) == (1, 1)


def test_what_is_left_to_do_is_queued_once(agent: Caller, claims: str) -> None:
    run = agent.submit(**_about(claims, "side"))
    agent.post(f"/runs/{run['id']}/reverify")
    agent.verified(run["id"])

    queued = Remediation.objects.get()
    assert (queued.run.uuid.hex, queued.state) == (run["id"].replace("-", ""), "queued")
    assert DROPPED in str(queued.request)


def test_texts_that_were_made_go_with_their_run(agent: Caller, claims: str) -> None:
    run = agent.submit(**_about(claims, "core"))
    made = Artefact.objects.get().blob.sha256
    long_ago = Run.objects.get().created_at - 2 * retention.ORPHAN_AGE
    Blob.objects.update(created_at=long_ago)
    retention.sweep_content()
    assert Blob.objects.filter(sha256=made).exists()

    Run.objects.filter(uuid=run["id"]).update(retain_until=long_ago)
    retention.purge_expired()
    retention.sweep_content()

    assert not Blob.objects.filter(sha256=made).exists()


@pytest.mark.usefixtures("_verifier")
def test_what_a_custom_verifier_returns_is_the_runs_result(agent: Caller) -> None:
    run = agent.submit(process="own", output="fine")

    assert run["verdict"] == "accept"
    assert run["result"] == {"total": "44.30", "note": "a\ufffdb"}


@pytest.mark.usefixtures("_verifier")
def test_a_fatal_error_ends_the_task_at_once(agent: Caller) -> None:
    task = {"id": "one"}
    run = agent.submit(process="own", task=task, output="fatal")

    assert (run["verdict"], run["reason_code"]) == ("reject", "custom_rejected")
    assert (run["task"]["exhausted"], run["task"]["attempts_used"]) == (True, 1)
    assert run["retry"]["rerun_execution"] is False
    assert run["review"]["state"] == "pending"
    assert Task.objects.get().exhausted_reason == "custom_rejected"
    refused = agent.post("/runs", body_of(process="own", task=task, output="fine"))
    assert problem(refused)[:2] == (409, "custom_rejected")


@pytest.mark.usefixtures("_verifier")
def test_a_plain_reject_leaves_attempts(agent: Caller) -> None:
    run = agent.submit(process="own", output="bad")

    assert (run["task"]["exhausted"], run["task"]["attempts_used"]) == (False, 1)
    assert run["retry"]["rerun_execution"] is True


def _about(process: str, phase: str) -> dict[str, Any]:
    return {
        "process": process,
        "phase": phase,
        "output": f"{KEPT}\n\n{DROPPED}\n",
        "claims": CLAIMS,
        "evidence": EVIDENCE,
    }
