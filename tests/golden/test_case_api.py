from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from ninja import Schema

from loomverify.accounts.models import AuditEntry, Project, Role
from tests.builders import make_process, make_project, make_run
from tests.golden.builders import as_another, document, make_case, make_replay, make_result
from tests.golden.test_likeness import fill
from tests.openapi import openapi_document
from tests.runs.conftest import Caller, problem
from verification.engine.golden.standing import Standing
from verification.golden.cases import examples, schemas
from verification.golden.cases.selectors import CaseFilters
from verification.golden.models import GoldenCase, GoldenCaseVersion

pytestmark = pytest.mark.django_db
DOCS = Path(__file__).resolve().parents[2] / "docs" / "golden.md"
FILES: dict[str, Any] = {"report.json": '{"total": 3}', "logo.png": {"base64": "iVBORw0KGgo="}}


@pytest.fixture
def project() -> Project:
    project = make_project("ours")
    make_process(project, slug="general")
    return project


@pytest.fixture
def editor(project: Project) -> Caller:
    return Caller(project, Role.EDITOR)


@pytest.fixture
def viewer(project: Project) -> Caller:
    return Caller(project, Role.VIEWER)


def put(caller: Caller, row: GoldenCase, /, **body: Any) -> Any:
    return caller.client.put(
        f"/api/v1/golden/cases/{row.uuid}", body, content_type="application/json"
    )


def names(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [one["name"] for one in answer.json()["items"]]


def test_a_whole_case_is_made_and_read_back(editor: Caller, viewer: Caller) -> None:
    given = document("whole", files=FILES, tags=["canary"])

    made = editor.post("/golden/cases", given)

    assert made.status_code == 201, made.content
    told = made.json()
    assert (told["name"], told["version"], told["origin"]) == ("whole", 1, "own")
    assert (told["standing"], told["near"], told["retired_at"]) == ("not_replayed", [], None)
    assert told["case"] == given
    assert told["url"].endswith(f"/p/ours/golden/cases/{told['id']}/")
    assert viewer.get(f"/golden/cases/{told['id']}").json() == told


def test_a_case_that_is_much_like_another_is_made_and_points_it_out(editor: Caller) -> None:
    given = document("first")
    first = editor.post("/golden/cases", given).json()

    made = editor.post("/golden/cases", {**given, "id": "second"})

    assert made.status_code == 201
    assert made.json()["near"] == [{"id": first["id"], "name": "first", "likeness": 1.0}]


def test_a_run_is_made_a_case_once(editor: Caller, project: Project) -> None:
    run = make_run(project, title="Sum up", output="All is done.")
    wish = {"run": str(run.uuid), "tags": ["false-fail"]}

    made = editor.post("/golden/cases", wish)
    again = editor.post("/golden/cases", wish)

    assert made.status_code == 201, made.content
    assert (made.json()["run"], made.json()["tags"]) == (str(run.uuid), ["false-fail"])
    assert made.json()["case"]["expected"]["outcome"] == "pass"
    assert problem(again) == (409, "golden.made_already", ["body", "run"])


def test_what_is_expected_of_a_run_may_be_said_with_it(editor: Caller, project: Project) -> None:
    run = make_run(project)
    expected = {"outcome": "fail", "verdict": "reject"}

    made = editor.post("/golden/cases", {"run": str(run.uuid), "expected": expected})

    assert made.json()["case"]["expected"] == expected


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"run": str(uuid4())}, (404, "run.unknown", [])),
        ({"run": "x"}, (422, "uuid_parsing", ["body", "run"])),
        ({"run": str(uuid4()), "owner": "x"}, (422, "extra_forbidden", ["body", "owner"])),
        ({"id": "a"}, (422, "missing", ["body", "guards"])),
        (document(expected={}), (422, "case.expects_nothing", ["body", "expected"])),
        (document(run={"tier": 2}), (422, "case.run_field", ["body", "run", "tier"])),
        (document("Not a name"), (422, "string_pattern_mismatch", ["body", "id"])),
    ],
    ids=["no-run", "no-uuid", "field", "missing", "expects-nothing", "run-field", "name"],
)
def test_what_is_wrong_is_told_with_its_place(
    editor: Caller, body: dict[str, Any], found: tuple[int, str, list[str]]
) -> None:
    status, code, loc = problem_of(editor.post("/golden/cases", body))

    assert (status, code, loc) == found


def problem_of(answer: Any) -> tuple[int, str, list[Any]]:
    return problem(answer)


def test_a_body_that_is_no_json_is_malformed(editor: Caller) -> None:
    assert problem(editor.post_raw("/golden/cases", b"{"))[:2] == (400, "json.invalid")


def test_a_name_is_taken_once(editor: Caller, project: Project) -> None:
    make_case(project, "taken")

    answer = editor.post("/golden/cases", document("taken"))

    assert problem(answer) == (409, "golden.name_taken", ["body", "id"])


def test_a_change_is_a_new_version_with_a_reason(
    editor: Caller, viewer: Caller, project: Project
) -> None:
    given = document("kept", files=FILES)
    case = make_case(project, **as_another(given, "kept"))

    changed = put(editor, case, case={**given, "guards": "More."}, reason="Clearer.", instead_of=1)
    same = put(editor, case, case={**given, "guards": "More."}, reason="Again.")

    assert (changed.status_code, changed.json()["version"]) == (200, 2)
    assert same.json()["version"] == 2
    versions = viewer.get(f"/golden/cases/{case.uuid}/versions").json()["items"]
    assert [(one["number"], one["reason"], one["is_current"]) for one in versions] == [
        (2, "Clearer.", True),
        (1, "", False),
    ]
    before = viewer.get(f"/golden/cases/{case.uuid}/versions/1").json()
    assert before["case"] == given
    assert problem(viewer.get(f"/golden/cases/{case.uuid}/versions/3"))[0] == 404


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"reason": "Why."}, (422, "case.kind", ["body", "case"])),
        ({"case": document("kept")}, (422, "missing", ["body", "reason"])),
        ({"case": document("kept"), "reason": ""}, (422, "string_too_short", ["body", "reason"])),
        ({"case": document("kept"), "reason": " "}, (422, "reason.missing", ["body", "reason"])),
        (
            {"case": document("kept", phase=3), "reason": "Why."},
            (422, "string_type", ["body", "case", "phase"]),
        ),
        (
            {"case": document("other"), "reason": "Why."},
            (422, "golden.renamed", ["body", "case", "id"]),
        ),
        (
            {"case": document("kept"), "reason": "Why.", "instead_of": 7},
            (409, "golden.changed", []),
        ),
    ],
    ids=["no-case", "no-reason", "empty-reason", "blank-reason", "wrong", "renamed", "too-late"],
)
def test_a_change_that_cannot_be_is_told_with_its_place(
    editor: Caller, project: Project, body: dict[str, Any], found: tuple[int, str, list[str]]
) -> None:
    case = make_case(project, "kept")

    assert problem(put(editor, case, **body)) == found


def test_a_case_is_retired_and_restored_as_often_as_one_likes(
    editor: Caller, project: Project
) -> None:
    case = make_case(project, "kept")
    path = f"/api/v1/golden/cases/{case.uuid}"

    retired = [editor.client.delete(f"{path}?reason=Outdated").status_code for _ in range(2)]
    gone = names(editor.get("/golden/cases"))
    restored = [editor.post(f"/golden/cases/{case.uuid}/restore").status_code for _ in range(2)]

    assert (retired, gone, restored) == ([204, 204], [], [200, 200])
    assert names(editor.get("/golden/cases")) == ["kept"]
    told = AuditEntry.objects.filter(verb__startswith="golden_case.").order_by("pk")
    assert [(one.verb, one.reason) for one in told] == [
        ("golden_case.made", ""),
        ("golden_case.retired", "Outdated"),
        ("golden_case.restored", ""),
    ]


@pytest.fixture
def corpus(project: Project) -> None:
    held = make_case(project, "held", tags=["canary"])
    failing = make_case(project, "failing", guards="Valves are counted.", phase="write")
    replay = make_replay(project)
    make_result(replay, held)
    make_result(replay, failing, standing=Standing.FAILING)
    other = make_replay(project, is_live_line=False)
    make_result(other, held, standing=Standing.FAILING)
    GoldenCase.objects.filter(pk=make_case(project, "shipped").pk).update(is_shipped=True)


@pytest.mark.usefixtures("corpus")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["shipped", "failing", "held"]),
        ("?phase=write", ["failing"]),
        ("?process=other", []),
        ("?tag=canary", ["held"]),
        ("?q=VALVES", ["failing"]),
        ("?q=eld", ["held"]),
        ("?origin=shipped", ["shipped"]),
        ("?origin=own", ["failing", "held"]),
        ("?standing=held", ["held"]),
        ("?standing=failing", ["failing"]),
        ("?standing=not_replayed", ["shipped"]),
        ("?retired=only", []),
        ("?retired=too&limit=1", ["shipped"]),
    ],
)
def test_filters_narrow_the_list(viewer: Caller, query: str, found: list[str]) -> None:
    assert names(viewer.get(f"/golden/cases{query}")) == found


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("?proces=x", 422, "parameter.unknown"),
        ("?origin=mars", 422, "enum"),
        ("?cursor=x", 400, "cursor.invalid"),
        ("?q=%00", 422, "string_pattern_mismatch"),
        ("?limit=500", 422, "less_than_equal"),
    ],
)
def test_a_filter_that_is_none_is_refused(
    viewer: Caller, query: str, status: int, code: str
) -> None:
    assert problem(viewer.get(f"/golden/cases{query}"))[:2] == (status, code)


def test_pages_follow_each_other(viewer: Caller, project: Project) -> None:
    for n in range(5):
        make_case(project, f"case-{n}")

    first = viewer.get("/golden/cases?limit=3").json()
    second = viewer.get(f"/golden/cases?limit=3&cursor={first['next']}").json()

    assert [one["name"] for one in first["items"]] == ["case-4", "case-3", "case-2"]
    assert [one["name"] for one in second["items"]] == ["case-1", "case-0"]
    assert second["next"] is None


@pytest.mark.extended
def test_ten_thousand_cases_cost_as_many_queries_as_one(
    viewer: Caller, project: Project, django_assert_max_num_queries: Any
) -> None:
    make_case(project, "first")
    with django_assert_max_num_queries(4):
        viewer.get("/golden/cases")
    fill(project, 10_000)

    with django_assert_max_num_queries(4):
        found = viewer.get("/golden/cases?standing=not_replayed&q=filled")

    assert len(found.json()["items"]) == 50


def test_a_file_is_tried_and_then_taken(editor: Caller, project: Project) -> None:
    given = document("known")
    make_case(project, **as_another(given, "known"))
    make_case(project, "changed")
    lines = [given, document("changed", guards="Now."), {**given, "id": "new"}]
    raw = "\n".join(map(json.dumps, lines)).encode()

    tried = editor.post_raw("/golden/cases/import?dry_run=true", raw).json()
    stored = GoldenCase.objects.count()
    taken = editor.post_raw("/golden/cases/import", raw).json()

    assert stored == 2
    assert (tried["is_stored"], taken["is_stored"]) == (False, True)
    assert {**tried, "is_stored": True} == taken
    assert (taken["created"], taken["changed"], taken["same"]) == (["new"], ["changed"], ["known"])
    assert taken["near"] == {"new": ["known"]}
    assert GoldenCase.objects.get(name="changed").current.number == 2  # type: ignore[union-attr]


def test_a_large_file_costs_few_queries(
    editor: Caller, project: Project, django_assert_max_num_queries: Any
) -> None:
    cases = [document(f"many-{n}", files={"a.md": f"# {n}"}) for n in range(100)]
    raw = json.dumps(cases).encode()

    with django_assert_max_num_queries(16):
        answer = editor.post_raw("/golden/cases/import", raw)

    assert len(answer.json()["created"]) == 100
    assert AuditEntry.objects.get(verb="golden_case.imported").diff == {
        "created": [None, 100],
        "changed": [None, 0],
    }


def test_of_a_file_all_is_taken_or_nothing_and_every_error_told(editor: Caller) -> None:
    raw = b"- {id: a}\n- id: b\n  guards: x\n  process: 3\n"

    answer = editor.post_raw("/golden/cases/import", raw, "application/yaml")

    assert answer.status_code == 422
    told = {(tuple(one["loc"]), one["msg"]) for one in answer.json()["errors"]}
    assert (("body", 0, "guards"), "Line 1, column 3: Field required") in told
    assert (("body", 1, "process"), "Line 4, column 3: Input should be a valid string") in told
    assert not GoldenCase.objects.exists()


def test_a_name_that_was_retired_or_stands_twice_is_refused(
    editor: Caller, project: Project
) -> None:
    case = make_case(project, "gone")
    editor.client.delete(f"/api/v1/golden/cases/{case.uuid}")

    retired = editor.post_raw("/golden/cases/import", json.dumps(document("gone")).encode())
    twice = editor.post_raw("/golden/cases/import", json.dumps([document("a")] * 2).encode())

    assert problem(retired) == (409, "golden.retired", ["body", 0, "id"])
    assert problem(twice) == (422, "case.twice", ["body", 1, "id"])


def test_an_older_case_is_imported(editor: Caller) -> None:
    older = {
        "id": "Old one",
        "context": {"output": "All is summed up."},
        "legacy": {"passed": False},
        "policy": {"passed": True},
        "expected": {"shadow_classification": "no_diff", "retry_strategy": "none"},
    }

    answer = editor.post_raw("/golden/cases/import", json.dumps(older).encode())

    assert answer.json()["created"] == ["old-one"], answer.content


@pytest.mark.parametrize("format", ["yaml", "jsonl"])
def test_what_is_exported_is_the_same_when_it_is_imported(
    viewer: Caller, editor: Caller, project: Project, format: str
) -> None:
    make_case(project, "a", files=FILES, tags=["canary"])
    make_case(project, "b", run={"output": "# Title\n\nyes: no\n"})
    make_case(project, "left-out", phase="write")

    file = viewer.get(f"/golden/cases/export?format={format}&phase=build")
    back = editor.post_raw("/golden/cases/import", file.content)

    assert back.json()["same"] == ["a", "b"], back.content
    other = Caller(make_project("theirs"), Role.EDITOR)
    assert other.post_raw("/golden/cases/import", file.content).json()["created"] == ["a", "b"]


def test_an_export_has_a_bound(viewer: Caller, project: Project) -> None:
    fill(project, 1_001)

    assert problem(viewer.get("/golden/cases/export"))[:2] == (422, "export.too_large")


def test_below_editor_nothing_is_written(project: Project) -> None:
    case = make_case(project, "kept")
    caller = Caller(project, Role.REVIEWER)
    path = f"/golden/cases/{case.uuid}"

    answers = [
        caller.post("/golden/cases", document("new")),
        put(caller, case, case=document("kept"), reason="Why."),
        caller.client.delete(f"/api/v1{path}"),
        caller.post(f"{path}/restore"),
        caller.post_raw("/golden/cases/import", json.dumps(document("new")).encode()),
    ]

    assert {one.status_code for one in answers} == {403}
    assert GoldenCaseVersion.objects.count() == 1


def test_anothers_case_is_not_there(project: Project) -> None:
    case = make_case(project, "kept")
    path = f"/golden/cases/{case.uuid}"
    caller = Caller(make_project("theirs"), Role.ADMIN)

    answers = [
        caller.get(path),
        caller.get(f"{path}/versions"),
        put(caller, case, case=document("kept"), reason="Why."),
        caller.client.delete(f"/api/v1{path}"),
        caller.post(f"{path}/restore"),
    ]

    assert [problem(one)[:2] for one in answers] == [(404, "golden_case.unknown")] * 5
    assert names(caller.get("/golden/cases")) == []


@pytest.fixture
def paths() -> dict[str, Any]:
    found = openapi_document()["paths"]
    return {path: one for path, one in found.items() if path.startswith("/api/v1/golden/cases")}


def test_every_filter_of_the_pages_is_one_of_the_api() -> None:
    pages = set(CaseFilters.__dataclass_fields__)

    assert pages | {"cursor", "limit"} == set(schemas.CaseQuery.model_fields)
    assert pages | {"format"} == set(schemas.ExportQuery.model_fields)


@pytest.mark.parametrize(
    ("answer", "example"),
    [
        (schemas.GoldenCasePage, examples.CASES),
        (schemas.GoldenCaseWhole, examples.WHOLE),
        (schemas.GoldenCaseVersions, examples.VERSIONS),
        (schemas.GoldenCaseVersionWhole, examples.VERSION_WHOLE),
        (schemas.GoldenImported, examples.IMPORTED),
    ],
)
def test_the_example_of_an_answer_is_a_whole_one(
    answer: type[Schema], example: dict[str, Any]
) -> None:
    assert answer(**example).model_dump(mode="json") == example


def test_the_examples_of_what_is_sent_are_taken(editor: Caller, project: Project) -> None:
    run = make_run(project, uuid=examples.RUN_ID)

    of_run = editor.post("/golden/cases", examples.OF_RUN)
    whole = editor.post("/golden/cases", examples.DOCUMENT)
    case = GoldenCase.objects.get(name=examples.DOCUMENT["id"])
    changed = put(editor, case, **examples.CHANGE)
    imported = editor.post_raw("/golden/cases/import?dry_run=true", examples.YAML_FILE.encode())

    answers = [of_run, whole, changed, imported]
    assert [one.status_code for one in answers] == [201, 201, 200, 200], whole.content
    assert of_run.json()["run"] == str(run.uuid)


@pytest.mark.extended
def test_the_manuals_table_names_every_operation(paths: dict[str, Any]) -> None:
    part = DOCS.read_text().partition("### Over the API")[2].partition("\n### ")[0]

    named = set()
    for row in re.findall(r"^\| (`(?:GET|POST|PUT|DELETE) .+?) \|", part, re.MULTILINE):
        [method, first], *more = (one.split() for one in re.findall(r"`([^`]+)`", row))
        named |= {(method, first), *((method, f"{first}{last}") for [last] in more)}
    known = {
        (method.upper(), path.removeprefix("/api/v1").replace("case_id", "id"))
        for path, methods in paths.items()
        for method in methods
    }
    assert named == known
