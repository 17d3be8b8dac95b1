from __future__ import annotations

import json
from typing import Any

import pytest

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import AuditEntry, Project, Role
from tests.openapi import openapi_document
from tests.runs.conftest import Caller, problem
from tests.tables import check_rows
from verification.engine.verifier import LEGACY_FLAGS, Flags, VerifierSpec
from verification.verifiers import connections, examples
from verification.verifiers.connections import Terms
from verification.verifiers.models import VerifierVersion
from verification.verifiers.services import add_version

DOCUMENT = openapi_document()


@pytest.fixture
def caller(project: Project) -> Caller:
    return Caller(project, Role.ADMIN)


@pytest.fixture
def viewer(project: Project) -> Caller:
    return Caller(project, Role.VIEWER)


def connect(project: Project, name: str = "own") -> None:
    connections.add_connection(
        project=project, actor=SYSTEM, name=name, model="openai/m", terms=Terms()
    )


def test_a_version_is_made_and_read_again(project: Project, caller: Caller, viewer: Caller) -> None:
    connect(project)

    answer = caller.post("/verifiers", {**examples.MAKE, "models": {"primary": "own"}})
    made = answer.json()

    assert answer.status_code == 201
    assert (made["number"], made["engine"], made["active"]) == (2, "policy", False)
    assert made["flags"] == examples.VERSION["flags"]
    assert made["limits"] == examples.VERSION["limits"]
    assert made["models"] == {"primary": "own", "alternate": "", "panel": []}
    assert (made["note"], made["created_by"]) == (examples.MAKE["note"], "key admin")
    assert viewer.get("/verifiers/2").json() == made
    assert [one["number"] for one in viewer.get("/verifiers").json()["items"]] == [2, 1]


def test_what_says_the_same_is_answered_with_the_version_there_is(caller: Caller) -> None:
    first = caller.post("/verifiers", examples.MAKE)
    second = caller.post("/verifiers", {**examples.MAKE, "note": "Again."})

    assert [first.status_code, second.status_code] == [201, 200]
    assert first.json() == second.json()


def test_nothing_but_a_body_is_needed_and_then_it_is_the_active_one(caller: Caller) -> None:
    answer = caller.post("/verifiers", {})

    assert (answer.status_code, answer.json()["number"]) == (200, 1)


@check_rows(
    ("body", "place"),
    [
        ({"flags": {"tier3_vote_count": 0}}, ["body", "flags", "tier3_vote_count"]),
        ({"flags": {"tier3_vote_count": None}}, ["body", "flags", "tier3_vote_count"]),
        ({"flags": {"strict": True}}, ["body", "flags", "strict"]),
        ({"flags": {"\x00": True}}, ["body", "flags", "\x00"]),
        ({"flags": {"\ud800": True}}, ["body", "flags", "?"]),
        ({"limits": {"search_seconds": 1e9}}, ["body", "limits", "search_seconds"]),
        ({"limits": {"search_seconds": "1"}}, ["body", "limits", "search_seconds"]),
        ({"limits": {"prompt_chars": 10**30}}, ["body", "limits", "prompt_chars"]),
        ({"models": {"primary": "nobody"}}, ["body", "models", "primary"]),
        ({"models": {"primary": 1}}, ["body", "body", "models", "primary"]),
        ({"models": {"fourth": "own"}}, ["body", "body", "models", "fourth"]),
        ({"models": {"panel": ["own"] * 10_000}}, ["body", "body", "models", "panel"]),
        ({"base": 9}, ["body", "base"]),
        ({"base": 0}, ["body", "body", "base"]),
        ({"base": 10**30}, ["body", "body", "base"]),
        ({"engine": "other"}, ["body", "body", "engine"]),
        ({"note": "x" * 301}, ["body", "body", "note"]),
        ({"reason": "x"}, ["body", "body", "reason"]),
        (
            {"engine": "legacy", "flags": {"policy_engine_enabled": True}},
            ["body", "flags", "policy_engine_enabled"],
        ),
    ],
    rollback=True,
)
def test_what_makes_no_sense_is_refused_with_its_place(
    project: Project, caller: Caller, body: dict[str, Any], place: list[str]
) -> None:
    connect(project)

    answer = caller.post_raw("/verifiers", json.dumps(body).encode())

    status, _, found = problem(answer)
    assert (status, found) == (422, place)
    assert VerifierVersion.objects.count() == 1


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400"])
def test_what_is_no_number_is_none(caller: Caller, number: str) -> None:
    answer = caller.post_raw(
        "/verifiers", b'{"limits": {"vote_temperature": %s}}' % number.encode()
    )

    assert problem(answer)[::2] == (422, ["body", "limits", "vote_temperature"])


def test_any_number_of_flags_is_answered_shortly(caller: Caller) -> None:
    flags = {f"flag-{number}": True for number in range(20_000)}

    answer = caller.post("/verifiers", {"flags": flags})

    assert answer.status_code == 422
    assert len(answer.content) < 20_000


def test_a_note_is_kept_whatever_stands_in_it(caller: Caller) -> None:
    made = caller.post("/verifiers", {**examples.MAKE, "note": "a\x00b\n <b>"}).json()

    assert made["note"] == "a\ufffdb <b>"


def test_only_admins_make_versions(project: Project) -> None:
    answer = Caller(project, Role.EDITOR).post("/verifiers", examples.MAKE)

    assert problem(answer)[:2] == (403, "role.insufficient")
    assert VerifierVersion.objects.count() == 1


def test_two_versions_are_compared_by_what_differs(
    project: Project, caller: Caller, viewer: Caller
) -> None:
    add_version(project=project, spec=VerifierSpec(LEGACY_FLAGS))
    caller.post("/verifiers", examples.MAKE)

    assert viewer.get("/verifiers/1...3").json() == examples.COMPARISON
    found = viewer.get("/verifiers/1...2").json()["differences"]
    same = viewer.get("/verifiers/2...2").json()["differences"]

    assert {one["name"] for one in found} == {
        name for name in Flags.__slots__ if getattr(Flags(), name) != getattr(LEGACY_FLAGS, name)
    }
    assert same == []


@pytest.mark.parametrize("path", ["/verifiers/9", "/verifiers/1...9", f"/verifiers/{10**30}"])
def test_what_is_not_there_is_not_found(viewer: Caller, path: str) -> None:
    assert viewer.get(path).status_code == 404


def test_a_version_of_before_there_were_limits_tells_the_usual_ones(
    project: Project, viewer: Caller
) -> None:
    spec = VerifierSpec().to_json()
    del spec["limits"]
    VerifierVersion.objects.create(project=project, number=2, engine="policy", spec=spec)

    assert viewer.get("/verifiers/2").json()["limits"]["judge_calls"] == 8
    assert viewer.get("/verifiers/1...2").json()["differences"] == []


def test_an_activation_says_what_it_replaces(project: Project, caller: Caller) -> None:
    add_version(project=project, spec=VerifierSpec(LEGACY_FLAGS))

    answers = [
        caller.post("/verifiers/2/activate", {"reason": "So.", "replaces": number})
        for number in (2, 1)
    ]

    assert problem(answers[0]) == (409, "verifier.active_changed", ["body", "replaces"])
    assert (answers[1].status_code, answers[1].json()["active"]) == (200, True)
    assert AuditEntry.objects.get(verb="verifier.activated").diff == {"active": [1, 2]}


def test_the_description_names_every_flag_limit_and_bound() -> None:
    body = DOCUMENT["components"]["schemas"]["VerifierIn"]["properties"]

    assert set(body["flags"]["properties"]) == set(examples.VERSION["flags"])
    assert body["limits"]["properties"]["judge_calls"]["maximum"] == 40
    assert body["limits"]["additionalProperties"] is False
