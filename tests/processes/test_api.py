from __future__ import annotations

import pytest
from django.test import Client

from loomverify.accounts.models import AuditEntry
from processes.definition.stream import MAX_SOURCE_BYTES
from processes.models import Process
from tests.processes.callers import Api
from tests.processes.files import SMALL, with_rule

pytestmark = pytest.mark.django_db

PATHS = [
    "/processes/small",
    "/processes/small/versions",
    "/processes/small/versions/1.yaml",
    "/processes/small/versions/1...1",
]


def test_a_first_file_is_published_at_once_by_an_admins_key(admin: Api) -> None:
    answer = admin.add(with_rule(type="regex"))

    assert answer.status_code == 201
    assert answer.json() == {
        "slug": "small",
        "version": 1,
        "published_version": 1,
        "warnings": [
            {
                "code": "rule.unscoped",
                "message": "The rule 'r' names no phase: it applies only where the process has a "
                'single phase. Name its phases, or "*" for every phase.',
                "path": "verification.rules[0]",
                "line": 7,
                "column": 7,
            }
        ],
    }


def test_an_editors_first_file_waits(editor: Api) -> None:
    added = editor.add(SMALL).json()

    assert (added["version"], added["published_version"]) == (1, None)
    process = editor.get("/processes/small").json()
    assert process["published_version"] is None
    assert (process["phases"], process["rules"]) == ([], [])


def test_the_same_text_again_answers_200_with_that_version(admin: Api) -> None:
    admin.add(SMALL)

    again = admin.add(SMALL)

    assert (again.status_code, again.json()["version"]) == (200, 1)


def test_every_error_is_answered_with_path_and_line(admin: Api) -> None:
    answer = admin.add("name: x\nphases: 7\nauthor: []\n")

    assert answer.status_code == 422
    assert answer["Content-Type"] == "application/problem+json"
    assert [(entry["loc"], entry["code"]) for entry in answer.json()["errors"]] == [
        (["body", "phases", 2], "value.kind"),
        (["body", "author", 3], "value.kind"),
    ]
    assert not Process.objects.exists()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"\xff\xfe\x00", 422),
        (b"a: \x00", 422),
        (b"- " * 500, 422),
        (b"x" * (MAX_SOURCE_BYTES + 1), 413),
        (b"x" * (3 * MAX_SOURCE_BYTES), 413),
    ],
)
def test_a_body_that_is_no_process_file_is_the_callers_mistake(
    admin: Api, body: bytes, status: int
) -> None:
    assert admin.add(body).status_code == status


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_source_comes_back_byte_for_byte(admin: Api, end: str) -> None:
    raw = ("\ufeff" + SMALL + "# ü  \n\n\n").replace("\n", end).encode()
    admin.add(raw)

    answer = admin.get("/processes/small/versions/1.yaml")

    assert answer.content == raw
    assert answer["Content-Type"] == "application/yaml"


def test_a_process_shows_its_phases_and_rules(admin: Api, viewer: Api) -> None:
    admin.add(SMALL)

    process = viewer.get("/processes/small").json()

    assert (process["slug"], process["title"], process["published_version"]) == (
        "small",
        "Small",
        1,
    )
    assert [phase["id"] for phase in process["phases"]] == ["build", "check"]
    (rule,) = process["rules"]
    assert (rule["name"], rule["type"], rule["enforcement"]) == ("no-todo", "regex", "advisory")


def test_processes_come_in_pages(admin: Api, viewer: Api) -> None:
    for name in ("one", "two", "three"):
        admin.add(SMALL.replace("name: small", f"name: {name}"))

    first = viewer.get("/processes?limit=2").json()
    second = viewer.get(f"/processes?limit=2&cursor={first['next']}").json()

    assert [process["slug"] for process in first["items"]] == ["three", "two"]
    assert second == {
        "items": [{"slug": "one", "title": "One", "published_version": 1}],
        "next": None,
    }


def test_versions_come_newest_first_and_say_which_is_published(admin: Api, viewer: Api) -> None:
    admin.add(SMALL)
    admin.add(f"{SMALL}risk_level: high\n")

    page = viewer.get("/processes/small/versions").json()

    assert [(version["number"], version["published"]) for version in page["items"]] == [
        (2, False),
        (1, True),
    ]


def test_two_versions_are_compared_by_rule_and_phase(admin: Api, viewer: Api) -> None:
    admin.add(SMALL)
    admin.add(SMALL.replace("check: TODO", "check: TBD").replace("id: check", "id: prove"))

    comparison = viewer.get("/processes/small/versions/1...2").json()

    assert comparison["rules"] == [
        {
            "rule": "no-todo",
            "change": "changed",
            "formerly": "",
            "fields": {"check": {"before": "TODO", "after": "TBD"}},
        }
    ]
    assert [(entry["phase"], entry["change"]) for entry in comparison["phases"]] == [
        ("check", "removed"),
        ("prove", "added"),
    ]


def test_publishing_forward_and_back_asks_for_a_reason(admin: Api) -> None:
    admin.add(SMALL)
    admin.add(f"{SMALL}risk_level: high\n")

    forward = admin.post("/processes/small/versions/2/publish", {"reason": "stricter"})
    back = admin.post("/processes/small/versions/1/publish", {"reason": "too strict"})

    assert (forward.status_code, forward.json()["published_version"]) == (200, 2)
    assert (back.status_code, back.json()["published_version"]) == (200, 1)
    assert AuditEntry.objects.filter(reason="too strict").count() == 1


@pytest.mark.parametrize(
    ("body", "status"),
    [({"reason": ""}, 422), ({}, 422), ({"reason": "a\0b"}, 422), ([], 422), ("{", 400)],
)
def test_publishing_without_a_reason_is_refused(admin: Api, body: object, status: int) -> None:
    admin.add(SMALL)

    assert admin.post("/processes/small/versions/1/publish", body).status_code == status


@pytest.mark.parametrize(
    "path",
    [
        "/processes/nothing",
        "/processes/small/versions/9.yaml",
        "/processes/small/versions/99999999999999999999.yaml",
        "/processes/small/versions/1...9",
        "/processes/small/versions/9...1",
        "/processes/nothing/versions",
        "/processes/%00",
    ],
)
def test_what_is_not_there_is_404(admin: Api, path: str) -> None:
    admin.add(SMALL)

    assert admin.get(path).status_code == 404


@pytest.mark.parametrize("path", PATHS)
def test_another_projects_process_is_404(admin: Api, outsider: Api, path: str) -> None:
    admin.add(SMALL)

    assert admin.get(path).status_code == 200
    assert outsider.get(path).status_code == 404


def test_another_projects_process_is_neither_listed_nor_published_nor_extended(
    admin: Api, outsider: Api
) -> None:
    admin.add(SMALL)

    publication = outsider.post("/processes/small/versions/1/publish", {"reason": "r"})

    assert publication.status_code == 404
    assert outsider.get("/processes").json() == {"items": [], "next": None}
    assert outsider.add(SMALL).json()["version"] == 1
    assert Process.objects.count() == 2


@pytest.mark.parametrize("path", ["/processes", *PATHS])
def test_without_a_key_there_is_no_answer(path: str) -> None:
    assert Client().get(f"/api/v1{path}").status_code == 401


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "limit=x"])
def test_a_page_has_bounds(viewer: Api, query: str) -> None:
    assert viewer.get(f"/processes?{query}").status_code == 422


def test_a_cursor_that_is_not_ours_is_refused(viewer: Api) -> None:
    assert viewer.get("/processes?cursor=zzz").status_code == 400
