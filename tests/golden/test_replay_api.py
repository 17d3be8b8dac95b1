from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from ninja import Schema

from loomverify.accounts.models import Project, Role
from tests.builders import make_project
from tests.golden.builders import make_case, make_replay, make_result
from tests.golden.replayed import ASKS, FAILS, FILES
from tests.openapi import openapi_document
from tests.runs.conftest import Caller
from tests.tables import check_rows
from verification.engine.golden.standing import Change, Standing
from verification.golden.models import Replay, ReplayResult, ReplayState
from verification.golden.replays import examples, rendering, schemas, selectors, services

pytestmark = pytest.mark.django_db
ALL = "/golden/replays"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = openapi_document()
    return found


@pytest.fixture
def project() -> Project:
    return make_project("ours")


@pytest.fixture
def editor(project: Project) -> Caller:
    return Caller(project, Role.EDITOR)


@pytest.fixture
def viewer(project: Project) -> Caller:
    return Caller(project, Role.VIEWER)


def started(editor: Caller, **body: Any) -> dict[str, Any]:
    answer = editor.post(ALL, body)
    assert answer.status_code == 202, answer.content
    found: dict[str, Any] = answer.json()
    return found


def ended(editor: Caller, **body: Any) -> dict[str, Any]:
    replay = Replay.objects.get(uuid=started(editor, **body)["id"])
    services.run_now(replay)
    found: dict[str, Any] = editor.get(f"{ALL}/{replay.uuid}").json()
    return found


def names(rows: list[dict[str, Any]]) -> list[str]:
    return [row["name"] for row in rows]


def test_a_replay_is_started_and_answers_at_once(project: Project, editor: Caller) -> None:
    make_case(project, "case", files=FILES)

    replay = started(editor)

    assert replay["state"] == "queued"
    assert replay["progress"] == {"done": 0, "total": 1, "share": 0.0}
    assert (replay["counts"], replay["stale_share"], replay["live_line"]) == ({}, None, True)
    assert replay["url"].endswith(f"/p/ours/golden/replays/{replay['id']}/")


def test_a_replay_tells_what_changed_and_how(project: Project, editor: Caller) -> None:
    make_case(project, "held", files=FILES)
    make_case(project, "wrong", files=FILES, expected=FAILS)
    make_case(project, "asked", **ASKS)

    replay = ended(editor)

    assert replay["state"] == "finished"
    assert replay["counts"] == {
        **dict.fromkeys(map(str, Change), 0), "new": 1, "held": 1, "not_judged": 1,
    }  # fmt: skip
    assert [names(replay[change]) for change in ("regressed", "new", "not_judged")] == [
        [], ["wrong"], ["asked"],
    ]  # fmt: skip
    [wrong] = replay["new"]
    assert wrong["differences"] == [{"place": "outcome", "expected": "fail", "observed": "pass"}]
    assert (wrong["case_version"], wrong["process_version"]) == (1, 1)
    assert wrong["legacy"]["verdict"] == "accept"


def test_what_is_asked_for_is_what_is_replayed(project: Project, editor: Caller) -> None:
    make_case(project, "one", files=FILES, tags=["one"])
    make_case(project, "held-set", files=FILES, tags=["canary"])

    assert started(editor, tags=["one"])["total"] == 1
    assert started(editor, canary=True)["total"] == 2
    replay = started(editor, verifier=1, process="small-work", process_version=1, purpose="ci")
    assert (replay["process"], replay["process_version"], replay["purpose"]) == (
        "small-work", 1, "ci",
    )  # fmt: skip
    assert started(editor, process="small-work")["total"] == 1


@check_rows(
    ("body", "status", "code"),
    [
        ({"verifier": 9}, 404, "verifier.unknown"),
        ({"verifier": 0}, 422, "greater_than_equal"),
        ({"process": "unheard-of"}, 404, "process.unknown"),
        ({"process": "small-work", "process_version": 9}, 404, "process_version.unknown"),
        ({"process_version": 1}, 422, "replay.no_process"),
        ({"live": True}, 422, "replay.no_judge"),
        ({"purpose": "publish"}, 422, "literal_error"),
        ({"tags": ["A"]}, 422, "string_pattern_mismatch"),
        ({"tags": "one"}, 422, "list_type"),
        ({"tag": ["one"]}, 422, "extra_forbidden"),
        ({"process": "a\0"}, 422, "string_pattern_mismatch"),
    ],
    ids=str,
    rollback=True,
)
def test_what_makes_no_sense_is_refused_with_its_place(
    editor: Caller, body: dict[str, Any], status: int, code: str
) -> None:
    answer = editor.post(ALL, body)

    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (status, code)
    assert not Replay.objects.exists()


def test_more_replays_at_once_than_are_allowed_conflict(project: Project, editor: Caller) -> None:
    make_case(project, "case", files=FILES)
    for _ in range(services.MAX_OPEN):
        started(editor)

    assert editor.post(ALL).status_code == 409


def test_below_editor_one_only_reads(project: Project, editor: Caller) -> None:
    make_case(project, "case", files=FILES)
    one, reader = started(editor)["id"], Caller(project, Role.REVIEWER)

    assert reader.post(ALL).status_code == reader.post(f"{ALL}/{one}/cancel").status_code == 403
    for path in ("", f"/{one}", f"/{one}/results"):
        assert reader.get(f"{ALL}{path}").status_code == 200
    assert Replay.objects.get().state == ReplayState.QUEUED


PATHS = ["", "/results", "/junit.xml", "/report.json"]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path or "one")
def test_anothers_replay_is_not_there(project: Project, viewer: Caller, path: str) -> None:
    theirs = make_replay(make_project("theirs"))

    for one in (theirs.uuid, uuid4()):
        answer = viewer.get(f"{ALL}/{one}{path}")
        assert (answer.status_code, answer.json()["errors"][0]["code"]) == (404, "replay.unknown")
    assert Caller(project, Role.ADMIN).post(f"{ALL}/{theirs.uuid}/cancel").status_code == 404


def test_a_replay_is_cancelled_once(project: Project, editor: Caller) -> None:
    make_case(project, "case", files=FILES)
    one = started(editor)["id"]

    answers = [editor.post(f"{ALL}/{one}/cancel").json() for _ in range(2)]

    assert answers == [
        {"id": one, "state": "cancelled", "cancelled": True},
        {"id": one, "state": "cancelled", "cancelled": False},
    ]


def test_replays_are_listed_newest_first_in_pages(project: Project, editor: Caller) -> None:
    make_case(project, "case", files=FILES)
    ids = [started(editor)["id"] for _ in range(3)]

    first = editor.get(f"{ALL}?limit=2").json()
    second = editor.get(f"{ALL}?limit=2&cursor={first['next']}").json()

    assert [row["id"] for row in first["items"] + second["items"]] == ids[::-1]
    assert second["next"] is None
    assert editor.get(f"{ALL}?state=finished").json()["items"] == []
    assert len(editor.get(f"{ALL}?purpose=manual").json()["items"]) == 3


@pytest.mark.parametrize("query", ["state=done", "purpose=x", "cursor=!", "limit=0", "tag=one"])
def test_unknown_filters_are_refused(editor: Caller, query: str) -> None:
    assert editor.get(f"{ALL}?{query}").status_code in {400, 422}


def many(project: Project, count: int) -> Replay:
    replay = make_replay(project, counts={"new": count})
    for number in range(count):
        case = make_case(project, f"case-{number:02}", files=FILES)
        standing = (Standing.FAILING, Standing.HELD)[number % 2]
        make_result(replay, case, standing=standing, differences=[examples.DIFFERENCE])
    return replay


def test_results_come_in_pages_the_most_urgent_first(project: Project, viewer: Caller) -> None:
    replay, found, cursor = many(project, 7), [], ""
    while cursor is not None:
        page = viewer.get(f"{ALL}/{replay.uuid}/results?limit=2&cursor={cursor}").json()
        found += page["items"]
        cursor = page["next"]

    assert names(found) == [
        "case-00", "case-02", "case-04", "case-06", "case-01", "case-03", "case-05",
    ]  # fmt: skip
    assert {row["change"] for row in found[:4]} == {"new"}


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("change=new", 4), ("change=held", 3), ("change=regressed", 0), ("q=-03", 1),
        ("process=small-work", 7), ("process=other", 0), ("change=new&q=03", 0),
    ],
)  # fmt: skip
def test_results_are_narrowed(project: Project, viewer: Caller, query: str, count: int) -> None:
    replay = many(project, 7)

    answer = viewer.get(f"{ALL}/{replay.uuid}/results?{query}")

    assert len(answer.json()["items"]) == count


@pytest.mark.parametrize(
    ("query", "status"),
    [("change=x", 422), ("cursor=9", 400), ("cursor=1-x", 400), ("verdict=pass", 422),
     ("cursor=1-99999999999999999999", 400), ("limit=201", 422)],
)  # fmt: skip
def test_unknown_filters_of_results_are_refused(
    project: Project, viewer: Caller, query: str, status: int
) -> None:
    replay = make_replay(project)

    assert viewer.get(f"{ALL}/{replay.uuid}/results?{query}").status_code == status


def test_long_lists_are_cut_where_they_are_told_beside_the_replay(
    project: Project, viewer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rendering, "MAX_LISTED", 3)
    monkeypatch.setattr(rendering, "MAX_DIFFERENCES", 2)
    replay = many(project, 10)
    long = [{"place": f"feedback[{n}]", "expected": "x" * 9_000, "observed": []} for n in range(9)]
    ReplayResult.objects.filter(replay=replay).update(differences=long)

    told = viewer.get(f"{ALL}/{replay.uuid}").json()

    assert len(told["new"]) == 3
    assert [len(row["differences"]) for row in told["new"]] == [2, 2, 2]
    assert len(told["new"][0]["differences"][0]["expected"]) == rendering.MAX_VALUE_CHARS


@pytest.mark.parametrize(
    ("share", "warns"), [(None, False), (0.0, False), (0.2, False), (0.21, True), (1.0, True)]
)
def test_more_than_a_fifth_of_stale_questions_is_a_warning(
    project: Project, viewer: Caller, share: float | None, warns: bool
) -> None:
    replay = make_replay(project, stale_share=share)

    told = viewer.get(f"{ALL}/{replay.uuid}").json()

    assert (told["stale_share"], told["stale_warning"]) == (share, warns)


def test_whatever_number_there_is_is_read_with_as_many_queries(
    project: Project, viewer: Caller
) -> None:
    def counted(path: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert viewer.get(path).status_code == 200
        return len(queries)

    few, lots = many(project, 2), many_more(project)
    counted(ALL)  # the key's first use is written down
    for path in ("", "/results", "/report.json", "/junit.xml"):
        assert counted(f"{ALL}/{few.uuid}{path}") == counted(f"{ALL}/{lots.uuid}{path}")
    before = counted(ALL)
    for _ in range(5):
        make_replay(project)
    assert counted(ALL) == before


def many_more(project: Project) -> Replay:
    replay = make_replay(project, counts={"new": 20})
    for number in range(20):
        case = make_case(project, f"more-{number:02}", files=FILES)
        standing = (Standing.FAILING, Standing.HELD)[number % 2]
        make_result(replay, case, standing=standing)
    return replay


def operations(document: dict[str, Any]) -> dict[str, Any]:
    return {
        f"{method.upper()} {path}": operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if path.startswith("/api/v1/golden/replays")
    }


def test_who_starts_a_replay_finds_everything_that_can_be_done_with_it(
    document: dict[str, Any],
) -> None:
    links = operations(document)["POST /api/v1/golden/replays"]["responses"]["202"]["links"]

    led_to = {link["operationId"].rpartition("_api_")[2] for link in links.values()}
    assert led_to == {
        "get_replay", "list_results", "cancel_replay", "export_replay_junit",
        "export_replay_report",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "example"),
    [
        (schemas.ReplayOut, examples.REPLAY),
        (schemas.ReplayPage, examples.PAGE),
        (schemas.ReplayResultPage, examples.RESULTS),
        (schemas.ReplayCancelled, examples.CANCELLED),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_example_of_an_answer_is_a_whole_one(
    answer: type[Schema], example: dict[str, Any]
) -> None:
    assert json.loads(answer(**example).model_dump_json()) == example


def test_the_example_of_a_wish_is_taken(project: Project, editor: Caller) -> None:
    make_case(project, "case", files=FILES, tags=["injection"])

    assert started(editor, **examples.START)["total"] == 1


def test_every_filter_of_results_is_one_of_the_api() -> None:
    filters = set(selectors.ResultFilters.__dataclass_fields__)

    assert filters | {"cursor", "limit"} == set(schemas.ReplayResultQuery.model_fields)
