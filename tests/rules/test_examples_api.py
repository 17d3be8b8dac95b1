from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from loomverify.accounts.models import Project, Role
from tests.builders import SOURCE_TEXT, make_project, make_run
from tests.golden.guarding import version_of
from tests.rules.test_examples import LAXER
from tests.runs.conftest import Caller, problem
from verification.rules.models import Pin

pytestmark = pytest.mark.django_db
EXAMPLES = "/processes/small-work/rules/no-placeholders/examples"


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def editor(project: Project) -> Caller:
    return Caller(project, Role.EDITOR)


def test_examples_are_pinned_listed_and_taken_away(project: Project, editor: Caller) -> None:
    run = make_run(project, files={"a.md": b"File TBD"})
    pasted = {"text": "done", "expected": "caught", "note": "Monday"}

    made = [
        editor.post(EXAMPLES, pasted),
        editor.post(EXAMPLES, pasted),
        editor.post(EXAMPLES, {"run": str(run.uuid), "path": "a.md", "expected": "caught"}),
    ]
    listed = editor.get(EXAMPLES).json()
    away = [editor.client.delete(f"/api/v1{EXAMPLES}/{made[0].json()['id']}") for _ in range(2)]

    assert [answer.status_code for answer in made] == [201, 200, 201]
    assert listed["tried_on"] == "v1"
    shown = [(one["text"], one["path"], one["holds"], one["why"]) for one in listed["items"]]
    assert shown == [
        ("File TBD", "a.md", True, ""),
        ("done", "", False, "passes, must be caught"),
    ]
    assert listed["items"][0]["run"] == str(run.uuid)
    assert [answer.status_code for answer in away] == [204, 204]
    assert [one["text"] for one in editor.get(EXAMPLES).json()["items"]] == ["File TBD"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"text": "x"}, (422, "missing", ["body", "body", "expected"])),
        ({"text": "x", "expected": "perhaps"}, (422, "enum", ["body", "body", "expected"])),
        ({"expected": "caught"}, (422, "example.empty", ["body", "text"])),
        (
            {"text": "\0", "expected": "caught"},
            (422, "string_pattern_mismatch", ["body", "body", "text"]),
        ),
        ({"path": "a", "expected": "caught"}, (422, "example.run", ["body", "run"])),
        (
            {"text": "x", "run": str(uuid4()), "expected": "caught"},
            (422, "example.source", ["body", "text"]),
        ),
        ({"run": str(uuid4()), "expected": "caught"}, (422, "run.unknown", ["body", "run"])),
    ],
)
def test_a_bad_example_is_refused_with_its_place(
    editor: Caller, body: dict[str, Any], expected: tuple[int, str, list[str]]
) -> None:
    assert problem(editor.post(EXAMPLES, body)) == expected
    assert not Pin.objects.exists()


def test_half_a_character_is_refused_and_never_our_fault(editor: Caller) -> None:
    raw = b'{"text": "half \\ud83d", "expected": "caught"}'

    answer = editor.post_raw(EXAMPLES, raw)

    assert 400 <= answer.status_code < 500


def test_a_rules_name_may_hold_any_character(project: Project, editor: Caller) -> None:
    source = SOURCE_TEXT.replace("name: no-placeholders", 'name: "a/b ?&c/examples"')
    version_of(project, source)
    path = "/processes/small-work/rules/a%2Fb%20%3F%26c%2Fexamples/examples"

    made = editor.post(path, {"text": "TBD", "expected": "caught"})

    assert made.status_code == 201
    assert [one["holds"] for one in editor.get(path).json()["items"]] == [None]
    assert editor.get(EXAMPLES.replace("no-", "no%00-")).status_code == 404


def test_publishing_over_the_api_says_which_example_is_broken(
    project: Project, editor: Caller
) -> None:
    admin = Caller(project, Role.ADMIN)
    editor.post(EXAMPLES, {"text": "TBD", "expected": "caught"})
    number = version_of(project, LAXER).number
    publish = f"/processes/small-work/versions/{number}/publish"

    refused = admin.post(publish, {"reason": "Try"})
    done = admin.post(publish, {"reason": "Try", "corpus_reason": "It is allowed"})

    assert problem(refused) == (409, "example.broken", ["body", "corpus_reason"])
    assert "no-placeholders, pinned (must be caught)" in refused.json()["detail"]
    assert done.status_code == 200


def test_strangers_find_nothing(project: Project, editor: Caller) -> None:
    made = editor.post(EXAMPLES, {"text": "TBD", "expected": "caught"}).json()
    stranger = Caller(make_project(), Role.ADMIN)
    other_rule = EXAMPLES.replace("no-placeholders", "figures-have-sources")

    answers = [
        stranger.client.delete(f"/api/v1{EXAMPLES}/{made['id']}"),
        editor.client.delete(f"/api/v1{other_rule}/{made['id']}"),
        editor.client.delete(f"/api/v1{EXAMPLES}/{uuid4()}"),
        editor.post(EXAMPLES.replace("no-", "not-"), {"text": "x", "expected": "caught"}),
    ]

    assert [answer.status_code for answer in answers] == [404] * 4
    assert Pin.objects.get().removed_at is None
