"""The OpenAPI document, held against what real processes answer: no 5xx, nothing undeclared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.openapi import openapi_document
from tests.runs.conftest import body_of
from tests.stack import Stack, running_stack
from verification.golden.cases.examples import DOCUMENT as DOCUMENT_OF_CASE

pytestmark = pytest.mark.extended

DOCUMENT = openapi_document()
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
FOUND = list(SCHEMA.get_all_operations())
OPERATIONS: dict[str, APIOperation[Any, Any, Any, Any]] = {
    found.ok().label: found.ok() for found in FOUND if isinstance(found, Ok)
}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
ROLES = ("admin", "editor", "agent", "viewer", "")
PATIENCE_SECONDS = 90
EXAMPLES = settings(
    max_examples=10,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
HOOK = {"url": "http://127.0.0.1:9/hook", "topics": ["run.finished"]}
IN_DOUBT = {"tier": 2}
"""No judge is there to ask."""
UNCONFIRMED = {"text": "It grew.", "label": "inferred", "section": "supporting"}
PROCESS = """\
name: contract
phases: [{id: work, description: Work.}]
verification:
  rules:
    - {name: no-todo, type: regex, check: TODO, applies_to_phases: '*'}
"""


@dataclass(frozen=True)
class World:
    """A project in use: `keys` by role, and what stands for each parameter of a path."""

    stack: Stack
    keys: Mapping[str, str]
    known: Mapping[str, Any]

    def headers(self, role: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.keys[role]}"} if role else {}


MAKERS: dict[str, Callable[[World], dict[str, Any]]] = {
    "POST /api/v1/runs": lambda _: {"json": body_of()},
    "POST /api/v1/processes": lambda _: {"content": PROCESS.replace("TODO", uuid4().hex).encode()},
    "POST /api/v1/webhooks": lambda _: {"json": HOOK},
    "POST /api/v1/golden/cases": lambda _: {"json": {**DOCUMENT_OF_CASE, "id": uuid4().hex}},
    "POST /api/v1/reviews/claim": lambda world: {"json": {"without": waiting(world)}},
}
"""What makes something, or finds it, with the rest of its request."""


def waiting(world: World) -> list[str]:
    """Who waited before one more run is in doubt."""
    with world.stack.client() as client:
        before = [one["id"] for one in client.get("/reviews?limit=200").json()["items"]]
        run = client.post("/runs?wait=60", json=body_of(**IN_DOUBT)).json()
    assert run["review"]["state"] == "pending"
    return before


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with running_stack(tmp_path_factory.mktemp("contract"), "web", "worker", "relay") as stack:
        with stack.client() as client:
            for text in (PROCESS, PROCESS.replace("TODO", "FIXME")):
                assert client.post("/processes", content=text.encode()).status_code == 201
            body = body_of(files={"a.txt": "a"}, claims=[UNCONFIRMED])
            run = client.post("/runs?wait=60", json=body).json()
            client.post("/runs?wait=60", json=body_of(**IN_DOUBT))
            review = client.get("/reviews").json()["items"][0]
            webhook = client.post("/webhooks", json=HOOK).json()
            case = client.post("/golden/cases", json=DOCUMENT_OF_CASE).json()
        known = {
            "run_id": run["id"], "path": "a.txt", "slug": "contract", "number": 1,
            "old": 1, "new": 2, "webhook_id": webhook["id"],
            "remediation_id": run["remediations"][0]["id"], "review_id": review["id"],
            "case_id": case["id"],
        }  # fmt: skip
        yield World(stack, {role: stack.make_key(role) for role in ROLES if role}, known)


def test_every_operation_can_be_read() -> None:
    assert len(OPERATIONS) == len(FOUND) == sum(map(len, DOCUMENT["paths"].values()))


@pytest.mark.parametrize("label", OPERATIONS)
@pytest.mark.parametrize("mode", GenerationMode)
def test_every_answer_is_declared(world: World, label: str, mode: GenerationMode) -> None:
    @EXAMPLES
    @given(
        case=OPERATIONS[label].as_strategy(generation_mode=mode),
        role=st.sampled_from(ROLES),
        is_known=st.booleans(),
    )
    def holds(case: Case[Any], role: str, is_known: bool) -> None:
        if is_known:
            known = {name: world.known.get(name, value) for name, value in parameters_of(case)}
            case.path_parameters = known
        answer = case.call(
            base_url=world.stack.url, headers=world.headers(role), timeout=PATIENCE_SECONDS
        )
        case.validate_response(answer, checks=CHECKS)

    holds()


@pytest.mark.parametrize("maker", MAKERS)
def test_what_was_made_is_found_under_every_address_that_its_answer_leads_to(
    world: World, maker: str
) -> None:
    made, links = make(world, maker)

    answers = {
        label: asked(world, "get", path_of(world, label, made)).status_code
        for label in links
        if label.startswith("GET ") and "{path}" not in label
    }

    assert set(answers.values()) <= {200, 409}
    assert links


@pytest.mark.parametrize("maker", MAKERS)
def test_no_order_of_requests_about_one_thing_is_answered_undeclared(
    world: World, maker: str
) -> None:
    @EXAMPLES
    @given(data=st.data())
    def holds(data: st.DataObject) -> None:
        made, links = make(world, maker)
        for label in data.draw(st.lists(st.sampled_from(links), min_size=2, max_size=6)):
            case = data.draw(OPERATIONS[label].as_strategy())
            case.path_parameters = {name: made[name] for name, _ in parameters_of(case)}
            answer = case.call(
                base_url=world.stack.url, headers=world.headers("admin"), timeout=PATIENCE_SECONDS
            )
            case.validate_response(answer, checks=CHECKS)
        for label in links:
            if label.startswith("DELETE "):  # there may be only so many
                asked(world, "delete", path_of(world, label, made))

    holds()


def make(world: World, maker: str) -> tuple[dict[str, Any], list[str]]:
    """What a new thing's answer gives for the parameters of paths, and the operations it leads to."""
    method, path = maker.split()
    request = MAKERS[maker](world)
    answer = asked(world, "post", f"{world.stack.url}{path}", **request)
    declared = DOCUMENT["paths"][path][method.lower()]["responses"][str(answer.status_code)]
    labels = {one.definition.raw["operationId"]: label for label, one in OPERATIONS.items()}
    made = {
        name: answer.json()[where.removeprefix("$response.body#/")]
        for link in declared["links"].values()
        for name, where in link["parameters"].items()
    }
    return made, [labels[link["operationId"]] for link in declared["links"].values()]


def asked(world: World, method: str, url: str, **request: Any) -> httpx.Response:
    headers = world.headers("admin")
    return httpx.request(method, url, headers=headers, timeout=PATIENCE_SECONDS, **request)


def path_of(world: World, label: str, made: Mapping[str, Any]) -> str:
    return world.stack.url + label.split()[1].format(**made)


def parameters_of(case: Case[Any]) -> list[tuple[str, Any]]:
    return list((case.path_parameters or {}).items())
