"""Filters of lists: those of a closed set say which values they take, and refuse every other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import reverse

from loomverify.accounts.models import Role
from tests.builders import make_project, make_user, signed_in
from tests.openapi import openapi_document
from tests.runs.conftest import Caller
from tests.tables import check_rows

OPEN = {
    "cursor", "finer", "fingerprint", "kind", "model", "phase", "process", "q", "repository",
 "rule", "since", "tag", "task", "until",
}  # fmt: skip
"""Names of text filters that take any value: names, times, searches, free text."""
NONSENSE = "nonsense"
DOCUMENT = openapi_document()


def values_of(schema: dict[str, Any]) -> list[str]:
    """The closed set of a parameter, [] where it takes any value."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return values_of(DOCUMENT["components"]["schemas"][name])
    if "enum" in schema:
        return [value for value in schema["enum"] if value]
    parts = (*schema.get("anyOf", ()), *schema.get("allOf", ()))
    return [value for part in parts for value in values_of(part)]


def is_text(schema: dict[str, Any]) -> bool:
    parts = schema.get("anyOf", [schema])
    return any(part.get("type") == "string" and part.get("format") != "uuid" for part in parts)


def text_parameters() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in DOCUMENT["paths"].items():
        for parameter in item.get("get", {}).get("parameters", ()):
            if parameter["in"] == "query":
                yield path, parameter["name"], parameter["schema"]


CLOSED = [
    (path, name, values)
    for path, name, schema in text_parameters()
    if (values := values_of(schema))
]


def test_every_text_filter_is_open_by_its_name_or_lists_its_values() -> None:
    unlisted = {
        (path, name)
        for path, name, schema in text_parameters()
        if is_text(schema) and not values_of(schema) and name not in OPEN
    }

    assert unlisted == {
        ("/api/v1/shadow/trials/{trial_id}/comparisons", "replay"),  # an id
        ("/api/v1/waivers", "finding"),  # a fingerprint
    }
    assert {("/api/v1/reviews", "reason"), ("/api/v1/runs", "reason_code")} <= {
        (path, name) for path, name, _ in CLOSED
    }


@check_rows(("path", "name", "values"), CLOSED, ids=str)
def test_a_filter_of_a_closed_set_refuses_any_other_value(
    admin: Caller, path: str, name: str, values: list[str]
) -> None:
    where = re.sub(r"\{\w*id\}", "00000000-0000-4000-8000-000000000000", path)
    where = re.sub(r"\{\w+\}", "general", where).removeprefix("/api/v1")

    answer = admin.get(f"{where}?{name}={NONSENSE}")

    assert answer.status_code == 422, answer.content
    [issue] = [one for one in answer.json()["errors"] if one["loc"][1] == name]
    assert issue["loc"][:2] == ["query", name]
    assert [value for value in values if value not in issue["msg"]] == []


@check_rows(
    ("path", "body"),
    [
        ("/reviews/claim", {"reason": NONSENSE}),
        ("/reviews/claim", {"verdict": NONSENSE}),
        ("/deliveries/redeliver", {"topic": NONSENSE}),
    ],
    ids=str,
)
def test_a_body_that_narrows_a_list_refuses_it_as_well(
    admin: Caller, path: str, body: dict[str, Any]
) -> None:
    answer = admin.post(path, body)

    assert answer.status_code == 422, answer.content


PAGES = [
    ("run_list", "outcome", "partial_verified"),
    ("run_list", "reason_code", "tool_failed"),
    ("review_queue", "reason", "low_confidence"),
    ("review_queue", "verdict", "undecided"),
    ("delivery_list", "state", "dead"),
    ("delivery_list", "topic", "webhook.test"),
    ("action_list", "kind", "revert"),
    ("action_list", "standing", "reverted"),
    ("remediation_list", "state", "claimed"),
    ("waiver_list", "state", "expired"),
    ("trial_list", "state", "running"),
    ("golden_cases", "origin", "shipped"),
    ("golden_replays", "change", "regressed"),
    ("review_agreement", "sample", "only"),
    ("rule_search", "enforcement", "observe"),
    ("review_groups", "reason", "low_confidence"),
    ("overview", "since", "30d"),
]


@check_rows(("page", "name", "value"), PAGES, ids=str)
def test_a_page_names_the_values_of_a_filter_that_it_does_not_know(
    admin: Caller, page: str, name: str, value: str
) -> None:
    url = reverse(page, args=[admin.project.slug])
    client = signed_in(make_user(admin.project, Role.ADMIN))

    known, unknown = client.get(url, {name: value}), client.get(url, {name: NONSENSE})

    assert (known.status_code, unknown.status_code) == (200, 400)
    assert f"{name} takes one of" in unknown.content.decode()
    assert value in unknown.content.decode()


@pytest.fixture
def admin(db: None) -> Caller:
    return Caller(make_project(), Role.ADMIN)
