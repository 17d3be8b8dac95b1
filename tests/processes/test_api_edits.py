from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, cast

import pytest

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import AuditEntry, Project, Role
from loomverify.errors import Conflict
from processes import services
from processes.definition.patch import Edit, SetValue
from processes.definition.stream import MAX_SOURCE_BYTES
from processes.models import Process, ProcessVersion
from tests.processes.callers import Api
from tests.processes.files import SMALL
from tests.processes.patching import STYLES, text_of
from tests.tables import check_rows

pytestmark = pytest.mark.django_db

SEVERE = {"set": ["rules", "no-todo", "severity"], "value": "error"}


def patch(api: Api, body: Any, slug: str = "small") -> Any:
    raw = body if isinstance(body, bytes | str) else json.dumps(body)
    return api.client.patch(f"/api/v1/processes/{slug}", raw, content_type="application/json")


def edit(api: Api, *edits: dict[str, Any], base: int = 1, slug: str = "small") -> Any:
    return patch(api, {"base_version": base, "edits": edits, "note": "for a test"}, slug)


def source_of(slug: str, number: int) -> str:
    return ProcessVersion.objects.get(process__slug=slug, number=number).source_text


def test_an_edit_adds_a_version_that_waits_to_be_published(admin: Api, editor: Api) -> None:
    admin.add(SMALL)

    answer = edit(editor, SEVERE)

    assert (answer.status_code, answer.json()) == (
        201,
        {"slug": "small", "version": 2, "published_version": 1, "warnings": []},
    )
    assert source_of("small", 2) == SMALL.rstrip("\n") + "\n      severity: error\n"
    assert AuditEntry.objects.filter(verb="process_version.added", reason="for a test").exists()


def test_an_entry_is_moved_with_all_that_it_holds(admin: Api) -> None:
    admin.add(SMALL)

    answer = edit(admin, {"move": ["phases", "check"], "to": 0})

    moved = source_of("small", 2)
    assert answer.status_code == 201
    assert moved.index("- id: check") < moved.index("- id: build")
    assert sorted(moved.splitlines()) == sorted(SMALL.splitlines())


def test_everything_else_in_the_file_stays_byte_for_byte(admin: Api) -> None:
    [source] = [text_of(path) for path in STYLES if path.stem == "windows-bom"]
    slug = admin.add(source.encode()).json()["slug"]

    answer = edit(
        admin, {"set": ["verification", "rules", 1, "name"], "value": "renamed"}, slug=slug
    )

    assert answer.status_code == 201
    stored = admin.get(f"/processes/{slug}/versions/2.yaml").content.decode()
    before, _, after = stored.partition("renamed")
    assert source.startswith(before)
    assert source.endswith(after)
    assert "\n" not in source[len(before) : len(source) - len(after)]
    assert admin.get(f"/processes/{slug}/versions/1.yaml").content.decode() == source


def test_a_version_that_cannot_be_read_any_more_is_refused_with_its_line(admin: Api) -> None:
    admin.add(SMALL)
    first = ProcessVersion.objects.get()
    ProcessVersion.objects.create(
        process=first.process, number=2, source_text="name: small\nphases: [\n", sha256="0" * 64
    )

    answer = edit(admin, SEVERE, base=2)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"][:2] == ["body", "base_version"]


def test_edits_are_made_in_order_all_of_them_or_none(admin: Api) -> None:
    admin.add(SMALL)
    renamed = {"set": ["rules", "no-todo", "name"], "value": "no-tbd"}

    made = edit(admin, renamed, {"set": ["rules", "no-tbd", "check"], "value": "TBD"})
    refused = edit(admin, {"remove": ["rules", "no-tbd"]}, SEVERE, base=2)

    assert made.status_code == 201
    assert "- name: no-tbd\n      check: TBD\n" in source_of("small", 2)
    assert refused.status_code == 422
    assert ProcessVersion.objects.filter(process__slug="small").count() == 2


def test_an_edit_of_what_is_not_the_newest_version_is_a_conflict(admin: Api) -> None:
    admin.add(SMALL)
    admin.add(f"{SMALL}risk_level: high\n")

    answer = edit(admin, SEVERE, base=1)

    assert answer.status_code == 409
    (error,) = answer.json()["errors"]
    assert (error["code"], error["loc"]) == ("version.conflict", ["body", "base_version"])
    assert "Version 2" in error["msg"]


def test_a_version_that_comes_while_an_edit_is_made_is_a_conflict(
    admin: Api, project: Project
) -> None:
    admin.add(SMALL)

    def edits() -> Iterator[Edit]:
        admin.add(f"{SMALL}risk_level: high\n")
        yield SetValue(("rules", "no-todo", "severity"), "error")

    with pytest.raises(Conflict, match="Version 2"):
        services.edit_newest(
            process=project.processes.get(slug="small"),
            base_version=1,
            edits=cast("Sequence[Edit]", edits()),
            actor=SYSTEM,
            role=Role.EDITOR,
        )

    stored = ProcessVersion.objects.filter(process__slug="small").order_by("number")
    assert [version.number for version in stored] == [1, 2]


def test_an_edit_that_changes_nothing_answers_200_with_that_version(admin: Api) -> None:
    admin.add(SMALL)

    answer = edit(admin, {"set": ["rules", 0, "check"], "value": "TODO"})

    assert (answer.status_code, answer.json()["version"]) == (200, 1)
    assert ProcessVersion.objects.filter(process__slug="small").count() == 1


@pytest.mark.parametrize(
    ("change", "code", "place"),
    [
        ({"set": ["rules", "nobody", "severity"], "value": "error"}, "patch.missing", 14),
        ({"remove": ["phases", 7]}, "patch.missing", 4),
        ({"remove": ["title"]}, "patch.missing", 2),
        ({"append": ["name"], "value": "x"}, "patch.kind", 2),
        ({"set": ["title"], "value": "a\0b"}, "patch.value", 1),
        ({"set": ["title"], "value": 10**30}, "patch.value", 1),
        ({"set": ["t" * 500], "value": "x" * MAX_SOURCE_BYTES}, "file.too_large", 2),
    ],
)
def test_what_cannot_be_edited_is_told_with_its_place(
    admin: Api, change: dict[str, Any], code: str, place: int
) -> None:
    admin.add(SMALL)

    answer = edit(admin, {"set": ["author"], "value": "A"}, change)

    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["code"] == code
    assert error["loc"][:3] == ["body", "edits", 1]
    assert error["loc"][4] == place


def test_what_the_edited_file_gets_wrong_is_told_with_its_place(admin: Api) -> None:
    admin.add(SMALL)

    answer = edit(admin, {"set": ["phases", "check", "depends_on"], "value": ["nobody"]})

    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert (error["code"], error["loc"]) == ("phase.unknown", ["body", "phases[1].depends_on", 9])


def test_an_edit_cannot_move_a_process_to_another_address(admin: Api) -> None:
    admin.add(SMALL)

    answer = edit(admin, {"set": ["name"], "value": "other"})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["code"] == "name.changed"
    assert Process.objects.count() == 1


@check_rows(
    ("body", "status", "place"),
    [
        (b"", 400, ["body"]),
        (b"{", 400, ["body"]),
        (b"[" * 100_000, 400, ["body"]),
        (b"\xff", 400, ["body"]),
        (b" " * 3 * MAX_SOURCE_BYTES, 413, ["body"]),
        ([], 422, ["body"]),
        ({}, 422, ["body", "base_version"]),
        ({"base_version": "1", "edits": [SEVERE]}, 422, ["body", "base_version"]),
        ({"base_version": True, "edits": [SEVERE]}, 422, ["body", "base_version"]),
        ({"base_version": 2**40, "edits": [SEVERE]}, 422, ["body", "base_version"]),
        ({"base_version": 1, "edits": []}, 422, ["body", "edits"]),
        ({"base_version": 1, "edits": [SEVERE] * 51}, 422, ["body", "edits"]),
        ({"base_version": 1, "edits": [7]}, 422, ["body", "edits", 0]),
        ({"base_version": 1, "edits": [{**SEVERE, "remove": ["a"]}]}, 422, ["body", "edits", 0]),
        ({"base_version": 1, "edits": [{"set": ["a"]}]}, 422, ["body", "edits", 0]),
        ({"base_version": 1, "edits": [{"remove": []}]}, 422, ["body", "edits", 0]),
        ({"base_version": 1, "edits": [{"remove": [1.5]}]}, 422, ["body", "edits", 0]),
        ({"base_version": 1, "edits": [{"remove": [-1]}]}, 422, ["body", "edits", 0]),
        ({"base_version": 1, "edits": [SEVERE], "note": "a\0"}, 422, ["body", "note"]),
        ({"base_version": 1, "edits": [SEVERE], "more": 1}, 422, ["body", "more"]),
    ],
    rollback=True,
)
def test_a_body_that_is_no_list_of_edits_is_refused_with_its_place(
    admin: Api, body: Any, status: int, place: list[Any]
) -> None:
    admin.add(SMALL)

    answer = patch(admin, body)

    assert answer.status_code == status
    assert answer.json()["errors"][0]["loc"][: len(place)] == place
    assert ProcessVersion.objects.filter(process__slug="small").count() == 1


def test_half_of_a_surrogate_pair_is_refused_wherever_it_stands(admin: Api) -> None:
    admin.add(SMALL)

    value = patch(admin, rb'{"base_version": 1, "edits": [{"set": ["a"], "value": "\ud800"}]}')
    key = patch(admin, rb'{"base_version": 1, "edits": [{"set": ["\ud800"], "value": "a"}]}')

    assert {value.status_code, key.status_code} <= {400, 422}


def test_another_projects_process_cannot_be_edited(admin: Api, outsider: Api) -> None:
    admin.add(SMALL)

    assert edit(outsider, SEVERE).status_code == 404


def lint(api: Api, source: str | bytes) -> Any:
    url = "/api/v1/processes/lint"
    return api.client.post(url, source, content_type="application/yaml")


def test_a_lint_says_what_is_wrong_and_stores_nothing(viewer: Api) -> None:
    answer = lint(viewer, f"{SMALL}    - {{name: no-todo, check: x, mood: good}}\n")

    assert answer.status_code == 200
    found = answer.json()
    assert found["errors"] == []
    assert ("rule.duplicate", "verification.rules[1]", 18) in [
        (each["code"], each["path"], each["line"]) for each in found["warnings"]
    ]
    assert found["notes"] == []
    assert {
        "code": "key.unknown",
        "message": "verification.rules[1].mood is not a known key: nothing reads it.",
        "path": "verification.rules[1].mood",
        "line": 18,
        "column": 39,
    } in found["warnings"]
    assert not Process.objects.exists()


@pytest.mark.parametrize(
    ("body", "code"),
    [(b"", "yaml.empty"), (b"a: [", "yaml.syntax"), (b"phases: 7\n", "key.missing")],
)
def test_a_lint_of_what_cannot_be_loaded_lists_its_errors(
    viewer: Api, body: bytes, code: str
) -> None:
    answer = lint(viewer, body)

    assert answer.status_code == 200
    assert answer.json()["errors"][0]["code"] == code


def test_a_lint_shows_a_thousand_complaints_and_counts_the_others(viewer: Api) -> None:
    unknown = "".join(f"k{number}: v\n" for number in range(1_500))

    found = lint(viewer, SMALL + unknown).json()

    assert (len(found["warnings"]), found["left_off"]) == (1_000, 500)


def test_a_lint_of_too_large_a_file_is_refused(viewer: Api) -> None:
    assert lint(viewer, b"x" * (MAX_SOURCE_BYTES + 1)).status_code == 413


def test_a_process_may_be_named_lint(admin: Api) -> None:
    admin.add(SMALL.replace("name: small", "name: lint"))

    assert admin.get("/processes/lint").json()["slug"] == "lint"
    assert edit(admin, SEVERE, slug="lint").status_code == 201
    assert edit(admin, SEVERE, slug="lint", base=2).status_code == 200
