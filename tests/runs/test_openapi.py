from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from ninja import Schema

from tests.runs.conftest import Caller, body_of
from tests.runs.test_archives import tar_gz
from verification.runs.schemas import RunQuery
from verification.runs.selectors import RunFilters


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Client().get("/api/v1/openapi.json").content)
    return found


def bodies(document: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = document["paths"]["/api/v1/runs"]["post"]["requestBody"]["content"]
    return content


def references(node: Any) -> set[str]:
    if isinstance(node, dict):
        own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return own.union(*map(references, node.values()))
    return set().union(*map(references, node)) if isinstance(node, list) else set()


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}

    assert document["openapi"].startswith("3.1")
    assert references(document) <= known


def test_no_two_shapes_share_a_name() -> None:
    """In the document the one read last would stand for both."""
    places: dict[str, set[str]] = defaultdict(set)
    waiting: list[type[Schema]] = [Schema]
    while waiting:
        shape = waiting.pop()
        places[shape.__name__].add(shape.__module__)
        waiting.extend(shape.__subclasses__())

    assert "RunOut" in places
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_every_refusal_is_a_problem_document(document: dict[str, Any]) -> None:
    answers = [
        (status, answer)
        for path in document["paths"].values()
        for operation in path.values()
        for status, answer in operation["responses"].items()
    ]

    kinds = {tuple(answer["content"]) for status, answer in answers if int(status) >= 400}
    assert kinds == {("application/problem+json",)}


def test_every_operation_names_its_refusals(document: dict[str, Any]) -> None:
    statuses = {
        f"{method.upper()} {path.removeprefix('/api/v1')}": set(operation["responses"])
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }

    def without(status: str) -> list[str]:
        return [label for label, named in statuses.items() if status not in named]

    assert without("401") == []
    assert [label for label in without("403") if not label.startswith("GET ")] == [
        "POST /processes/lint"  # every role may
    ]
    assert [label for label in without("404") if "{" in label] == []


@pytest.mark.extended
def test_the_document_is_the_same_each_time(document: dict[str, Any]) -> None:
    assert json.loads(Client().get("/api/v1/openapi.json").content) == document


@pytest.mark.extended
@pytest.mark.parametrize("name", ["smallest", "whole", "messages", "blocks"])
def test_the_examples_of_a_submission_are_taken(
    agent: Caller, document: dict[str, Any], name: str
) -> None:
    example = bodies(document)["application/json"]["examples"][name]["value"]

    assert agent.post("/runs", example).status_code == 202


def test_the_example_in_parts_is_taken_with_a_workspace(
    agent: Caller, document: dict[str, Any]
) -> None:
    example = bodies(document)["multipart/form-data"]["examples"]["smallest"]["value"]
    workspace = tar_gz(("report.md", b"# Report"))
    workspace.name = "workspace.tar.gz"
    workspace.seek(0)

    answer = agent.post_parts("/runs", run=json.dumps(example["run"]), workspace=workspace)

    assert answer.status_code == 202


def test_every_filter_of_the_pages_is_one_of_the_api() -> None:
    assert set(RunFilters.__dataclass_fields__) | {"cursor", "limit"} == set(RunQuery.model_fields)


def test_a_filter_with_a_typing_error_finds_nothing(agent: Caller) -> None:
    answer = agent.get("/runs?outcom=fail")

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["query", "outcom"]


def test_reading_takes_the_same_queries_however_many_runs(agent: Caller) -> None:
    run = agent.submit()["id"]
    agent.get("/runs")  # the first request also loads what the process caches
    few = count_queries(agent, f"/runs/{run}"), count_queries(agent, "/runs")

    for _ in range(5):
        agent.submit()

    assert (count_queries(agent, f"/runs/{run}"), count_queries(agent, "/runs")) == few
    assert few[0] <= 12
    assert few[1] <= 4


def count_queries(agent: Caller, path: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert agent.get(path).status_code == 200
    return len(queries)


def test_a_submission_takes_few_queries(agent: Caller, django_assert_max_num_queries: Any) -> None:
    for _ in range(5):
        agent.submit()

    with django_assert_max_num_queries(20):
        answer = agent.post("/runs", body_of())

    assert answer.status_code == 202
