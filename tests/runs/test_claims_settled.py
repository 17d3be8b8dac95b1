"""Unconfirmed claims over real HTTP: what is confirmed, what is taken out, and what is left to do."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import LazySettings

from loomverify.accounts.models import Project
from tests.model_server import ModelServer, model_server
from tests.runs.conftest import Caller, new_process
from tests.runs.judged import PASSING, judged_by
from verification.runs.models import Artefact, Evaluation, Remediation

OUTPUT = "Prices rose by 4 %.\r\nBuy the house now.\r\nWait for \u00e9t\u00e9.\r\n"
CLAIMS = [
    {"text": "Buy the house now.", "label": "inferred", "section": "recommendation"},
    {
        "text": "Prices rose by 4 %.",
        "label": "confirmed",
        "section": "supporting",
        "evidence": ["e1"],
    },
]
EVIDENCE = [{"id": "e1", "tool": "read_file", "text": "In 2024 prices rose by 4 %."}]
WORK = {"process": "advice", "phase": "advise", "output": OUTPUT, "claims": CLAIMS}


@pytest.fixture(autouse=True)
def _nobody_waits_long(settings: LazySettings) -> None:
    settings.JUDGE_FIRST_WAIT_SECONDS = 0.01


@pytest.fixture(autouse=True)
def _process(project: Project) -> None:
    new_process(
        project,
        "name: advice\n"
        "prompt_contracts: {remediation_instructions: Look for proof.}\n"
        "phases:\n"
        "  - {id: advise, description: d, is_critical_path: true}\n"
        "  - {id: report, description: d, is_synthesis: true}\n"
        "  - {id: look, description: d}\n",
    )


@pytest.fixture
def server(project: Project) -> Iterator[ModelServer]:
    with model_server(PASSING) as server:
        judged_by(project, server)
        yield server


def says(**word: Any) -> Any:
    """The answer of a judge that is asked to confirm one claim."""

    def answer(request: dict[str, Any]) -> str:
        asked = json.dumps(request["messages"])
        token = re.search(r"token: the text (\w+)", asked)
        assert token
        whole = {"index": 1, "confirmed": True, "evidence": "e1", "quote": "prices rose", "why": ""}
        return json.dumps({"token": token[1], "claims": [{**whole, **word}]})

    return answer


def texts_of(run: dict[str, Any], agent: Caller) -> dict[tuple[str, str], bytes]:
    """What was made of the work, downloaded."""
    found = {}
    for row in Artefact.objects.filter(evaluation__run__uuid=run["id"]):
        answer = agent.get(f"/runs/{run['id']}/artefacts/{row.uuid}")
        content = b"".join(answer.streaming_content) if answer.streaming else answer.content
        found[row.kind, row.path] = content
    return found


def kinds_of(run: dict[str, Any], agent: Caller) -> list[str]:
    return [one["kind"] for one in agent.get(f"/runs/{run['id']}/events").json()["items"]]


def test_tier_1_takes_out_what_nothing_confirms_and_leaves_the_rest_byte_for_byte(
    agent: Caller,
) -> None:
    latin = b"\xefBuy the house now.\r\nIt is old.\r\n"
    files = {"notes.md": OUTPUT, "old.txt": {"base64": base64.b64encode(latin).decode()}}

    run = agent.submit(**WORK, evidence=EVIDENCE, tier=1, files=files)

    assert (run["outcome"], run["verdict"]) == ("partial_verified", "accept")
    assert run["reason_code"] == "recommendation_pruned"
    left = OUTPUT.replace("Buy the house now.", "").encode()
    assert texts_of(run, agent) == {
        ("pruned", ""): left,
        ("pruned", "notes.md"): left,
        ("pruned", "old.txt"): latin.replace(b"Buy the house now.", b""),
    }
    assert run["claims"]["recommendation_unconfirmed"] == 0
    assert [one["state"] for one in run["claim_list"]] == ["pruned", "standing"]
    assert "claims_pruned" in kinds_of(run, agent)


def test_what_was_taken_out_is_work_for_an_agent(agent: Caller) -> None:
    run = agent.submit(**WORK, evidence=EVIDENCE, tier=1)

    [row] = Remediation.objects.filter(run__uuid=run["id"])
    assert (row.mode, row.state, row.max_attempts) == ("queue_follow_up", "queued", 2)
    assert row.request["reason_code"] == "recommendation_pruned"
    assert row.request["instructions"] == "Look for proof."
    assert [one["text"] for one in row.request["claims"]] == ["Buy the house now."]


def test_a_judge_confirms_with_the_evidences_own_words(agent: Caller, server: ModelServer) -> None:
    server.script[:] = [PASSING, says()]

    run = agent.submit(**WORK, evidence=EVIDENCE, tier=2)

    assert (run["outcome"], run["verdict"], run["tiers"][1]["calls"]) == ("pass", "accept", 2)
    first = run["claim_list"][0]
    assert (first["label"], first["state"], first["quote"]) == (
        "confirmed",
        "confirmed",
        "prices rose",
    )
    assert not Remediation.objects.exists()


def test_a_quote_that_stands_nowhere_confirms_nothing(agent: Caller, server: ModelServer) -> None:
    server.script[:] = [PASSING, says(quote="Houses are cheap.")]

    run = agent.submit(**WORK, evidence=EVIDENCE, tier=2)

    assert (run["verdict"], run["reason_code"]) == ("accept", "recommendation_pruned")
    assert run["tiers"][1]["calls"] == 3
    assert "does not stand in e1" in server.prompts()[-1]


def test_an_answer_that_cannot_be_read_takes_nothing_out(
    agent: Caller, server: ModelServer
) -> None:
    server.script[:] = [PASSING, "I have read it with interest."]

    run = agent.submit(**WORK, evidence=EVIDENCE, tier=2)

    evaluation = Evaluation.objects.get(run__uuid=run["id"])
    assert (evaluation.verdict, evaluation.reason_code) == ("undecided", "parse_inconclusive")
    assert not Artefact.objects.exists()
    assert not Remediation.objects.exists()


def test_a_synthesis_is_parted_into_two_texts(agent: Caller) -> None:
    run = agent.submit(**{**WORK, "phase": "report"}, evidence=EVIDENCE, tier=1)

    made = texts_of(run, agent)
    verified = OUTPUT.replace("Buy the house now.\r\n", "").encode()
    assert made["verified_findings", ""] == verified
    appendix = made["unconfirmed_appendix", ""].decode()
    assert "- Buy the house now.\n  (inferred, recommendation, no evidence)\n" in appendix


def test_elsewhere_nothing_is_touched_and_a_remediation_is_queued(agent: Caller) -> None:
    run = agent.submit(**{**WORK, "phase": "look"}, evidence=EVIDENCE, tier=1)

    assert (run["verdict"], run["reason_code"]) == ("accept", "unconfirmed_above_threshold")
    assert not Artefact.objects.exists()
    assert [one.mode for one in Remediation.objects.all()] == ["confirm_or_prune"]
