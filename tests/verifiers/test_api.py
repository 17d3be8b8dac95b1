from __future__ import annotations

from typing import Any

import pytest

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project, Role
from tests.runs.conftest import Caller
from verification.verifiers import connections
from verification.verifiers.connections import Terms
from verification.verifiers.models import JudgeConnection


@pytest.fixture
def judge(project: Project) -> JudgeConnection:
    row = connections.add_connection(
        project=project,
        actor=SYSTEM,
        name="own",
        model="openai/gpt-4o",
        base_url="http://10.0.0.7/v1",
        terms=Terms(key_reference="LOOMVERIFY_KEY_OURS"),
    )
    connections.choose_judges(project=project, actor=SYSTEM, primary="own", reason="So.")
    return row


def test_viewers_see_who_judges_and_neither_addresses_nor_keys(
    project: Project, judge: JudgeConnection
) -> None:
    answer = Caller(project, Role.VIEWER).get("/judges")

    assert answer.json()["items"] == [
        {
            "name": "own",
            "model": "openai/gpt-4o",
            "seats": ["primary"],
            "environment": False,
            "input_usd_per_million": "2.5",
            "output_usd_per_million": "10",
            "structured_output": True,
            "test": {
                "state": "none",
                "at": None,
                "detail": "",
                "recovery": None,
                "latency_ms": None,
                "cost_usd": None,
            },
        }
    ]
    assert b"10.0.0.7" not in answer.content
    assert b"LOOMVERIFY_KEY" not in answer.content


@pytest.mark.parametrize("name", ["own", "openai/gpt-4o", "openai/gpt-4o at a host"])
def test_a_test_is_asked_for_by_name_whatever_is_in_it(project: Project, name: str) -> None:
    JudgeConnection.objects.create(project=project, name=name, model="openai/gpt-4o")
    admin = Caller(project, Role.ADMIN)

    answers = [admin.post(f"/judges/{name}/test") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [202, 409]
    assert answers[0].json()["test"]["state"] == "waiting"


def test_a_removed_judge_is_neither_listed_nor_tested(project: Project) -> None:
    given: dict[str, Any] = {"project": project, "actor": SYSTEM, "name": "own"}
    connections.add_connection(**given, model="openai/m", terms=Terms())
    connections.remove_connection(**given)
    admin = Caller(project, Role.ADMIN)

    assert admin.get("/judges").json()["items"] == []
    assert admin.post("/judges/own/test").status_code == 404


@pytest.mark.parametrize("name", ["nobody", "%00", "x" * 5000, "%ED%A0%80", "a/../b", "%0A"])
def test_a_name_of_nobody_is_not_found(project: Project, name: str) -> None:
    assert Caller(project, Role.ADMIN).post(f"/judges/{name}/test").status_code == 404
