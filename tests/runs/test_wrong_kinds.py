"""Every field of a submission with every kind of JSON that is wrong there."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from loomverify.errors import InputError
from tests.runs.conftest import Caller, body_of
from tests.tables import check_rows
from tests.tiers import long_search
from verification.runs.intake.description import WHOLE
from verification.runs.intake.reading import parse_body, validate_body
from verification.runs.intake.schemas import RunIn, RunRequest
from verification.runs.models import Blob, Run, RunFile, Task

KINDS: dict[str, Any] = {
    "null": None,
    "truth": True,
    "whole": 7,
    "part": 0.5,
    "text": "text",
    "list": [[]],
    "object": {"unknown": {}},
}
ANY = {("tool_calls", 0, "args"), ("tool_calls", 0, "result"), ("tool_calls", 0, "files_changed")}
RIGHT: dict[type, str] = {str: "text", bool: "truth", int: "whole", list: "none", dict: "none"}
"""A list and an object of these tables are wrong everywhere."""
NOT_NULL = {
    ("process",), ("task",), ("task", "id"), ("task", "description"), ("tool_calls", 0, "tool"),
    ("claims", 0, "text"), ("claims", 0, "label"),
    ("claims", 0, "section"), ("evidence", 0, "id"), ("change", "repository"), ("change", "base"),
    ("change", "bundle", "base64"),
}  # fmt: skip
EVERYTHING: dict[str, Any] = {
    **copy.deepcopy(WHOLE),
    "process_version": 1,
    "phase": "work",
    "alternatives": ["another"],
    "diff": "--- a",
    "change": {
        "repository": "r",
        "base": "main",
        "patch": "--- a",
        "bundle": {"base64": "AAEC"},
        "commit": "c",
    },
    "remediation": "7",
    "base": dict(WHOLE["files"]),
}
EVERYTHING["task"] |= {"plan": "First this.", "is_critical_path": True}
EVERYTHING["evidence"][0] |= {"source_url": "https://example.com"}
EVERYTHING["tool_calls"][0] |= {
    "error": "none",
    "files_changed": ["a"],
    "oddities": ["it is odd"],
}

FILES = ("files", "base")

Place = tuple[str | int, ...]


def places_in(node: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    if place:
        yield place, node
    if place in ANY:
        return
    if isinstance(node, dict | list):
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            yield from places_in(child, (*place, key))


def wrong_kinds() -> list[tuple[Place, str]]:
    found = []
    for place, value in places_in(EVERYTHING):
        if place in ANY:
            continue
        fine = {RIGHT[type(value)]} - ({"whole"} if place == ("tier",) else set())
        if place not in NOT_NULL and not isinstance(place[-1], int) and place[0] not in FILES:
            fine.add("null")
        if place in {("files",), ("base",)}:
            fine.add("null")
        if place[0] in FILES and len(place) == 2:
            fine.add("text")
        found += [(place, kind) for kind in KINDS if kind not in fine]
    return found


def with_value(place: Place, value: Any) -> dict[str, Any]:
    body: Any = copy.deepcopy(EVERYTHING)
    node = body
    for key in place[:-1]:
        node = node[key]
    node[place[-1]] = value
    found: dict[str, Any] = body
    return found


def test_the_tables_hold_every_field() -> None:
    fields = {place[0] for place, _ in places_in(EVERYTHING)}

    assert fields == set(RunIn.model_fields)


@check_rows(("place", "kind"), wrong_kinds(), ids=str)
def test_a_wrong_kind_is_refused_at_its_place(place: Place, kind: str) -> None:
    with pytest.raises(InputError) as caught:
        validate_body(with_value(place, KINDS[kind]))

    locs = [issue.loc for issue in caught.value.issues]
    assert caught.value.status == 422
    assert all(loc[1 : 1 + len(place)] == place for loc in locs), locs


@pytest.mark.extended
def test_nothing_of_a_refused_submission_is_stored(agent: Caller) -> None:
    of_each_field = {
        place[0]: (place, kind)
        for place, kind in wrong_kinds()
        if place[0] != "tool_calls" or len(place) == 1  # a call of any shape is taken
    }

    statuses = {
        agent.post("/runs", with_value(place, KINDS[kind])).status_code
        for place, kind in of_each_field.values()
    }

    assert statuses == {422}
    assert not any(model.objects.exists() for model in (Run, Task, RunFile, Blob))


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.mark.extended
@long_search(150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    changes=st.dictionaries(
        st.sampled_from([*RunRequest.model_fields, "unknown"]), ANYTHING, max_size=5
    )
)
def test_no_submission_is_our_fault(agent: Caller, changes: dict[str, Any]) -> None:
    answer = agent.post("/runs", {**body_of(), **changes})

    assert answer.status_code in {202, 400, 404, 413, 422}, answer.content


@long_search(300)
@given(
    st.binary(max_size=200) | st.text(alphabet='{}[]",:0e-\\u d8tfn', max_size=60).map(str.encode)
)
def test_any_bytes_are_refused_with_a_reason(raw: bytes) -> None:
    with pytest.raises(InputError) as caught:
        validate_body(parse_body(raw))

    assert caught.value.status in {400, 413, 422}
    assert caught.value.issues
