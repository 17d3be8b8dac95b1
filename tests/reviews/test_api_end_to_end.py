"""From a submission in doubt to what its agent, and the outside, are told of a person's word."""

from __future__ import annotations

from typing import Any

import pytest

from loomverify.accounts.models import Project, Role
from tests.runs.conftest import Caller, new_project
from verification.actions.models import Delivery
from verification.runs import outbox

HOOK = {"url": "http://127.0.0.1:9/hook", "topics": ["run.decided"]}


@pytest.fixture
def project(db: None, settings: Any, tmp_path: Any) -> Project:
    evidence = {**settings.STORAGES["evidence"], "OPTIONS": {"location": tmp_path / "evidence"}}
    settings.STORAGES = {**settings.STORAGES, "evidence": evidence}
    return new_project("ours")


def test_a_run_in_doubt_is_claimed_decided_and_told(project: Project) -> None:
    agent, reviewer = Caller(project, Role.AGENT), Caller(project, Role.REVIEWER)
    assert Caller(project, Role.ADMIN).post("/webhooks", HOOK).status_code == 201

    run = agent.submit(tier=2)  # no judge is there to ask
    assert (run["verdict"], run["review"]["state"]) == ("undecided", "pending")
    claimed = reviewer.post("/reviews/claim").json()
    assert claimed["run"] == run["id"]
    said = {"outcome": "pass", "comment": "I read it: every quarter is there."}
    decided = reviewer.post(f"/reviews/{claimed['id']}/decide", said)
    assert decided.status_code == 200, decided.content

    after = agent.get(f"/runs/{run['id']}").json()
    assert (after["final_outcome"], after["outcome"]) == ("pass", run["outcome"])
    assert (after["verdict"], after["review"]["state"]) == ("undecided", "decided")
    assert after["review"]["passed"] is True
    assert after["review"]["comment"] == said["comment"]
    kinds = [event["kind"] for event in agent.get(f"/runs/{run['id']}/events").json()["items"]]
    assert "review_decided" in kinds
    outbox.dispatch()
    told = Delivery.objects.get(topic="run.decided").payload
    assert (told["run"], told["final_outcome"], told["passed"]) == (run["id"], "pass", True)
    assert agent.get("/runs?review=decided").json()["items"][0]["id"] == run["id"]
    assert reviewer.get("/reviews").json()["items"] == []
