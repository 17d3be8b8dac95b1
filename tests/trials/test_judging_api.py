from __future__ import annotations

import json
from typing import Any

import pytest

from loomverify.accounts.models import Project, Role
from tests.builders import make_project
from tests.runs.conftest import Caller, problem
from tests.trials.builders import (
    make_acknowledgement,
    make_compared_run,
    make_comparison,
    make_judgement,
    make_trial,
)
from verification.trials.judging import schemas
from verification.trials.models import Acknowledgement, Comparison, Judgement, Trial

pytestmark = pytest.mark.django_db
JUDGE = {"said": "new", "old_first": True}


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def trial(project: Project) -> Trial:
    return make_trial(project)


@pytest.fixture
def tool(project: Project) -> Caller:
    return Caller(project, Role.REVIEWER)


@pytest.fixture
def editor(project: Project) -> Caller:
    return Caller(project, Role.EDITOR)


def path_of(row: Comparison, act: str) -> str:
    return f"/shadow/trials/{row.trial.uuid}/comparisons/{row.uuid}/{act}"


def known_path(trial: Trial) -> str:
    return f"/shadow/trials/{trial.uuid}/acknowledgements"


def delete(caller: Caller, path: str) -> Any:
    return caller.client.delete(f"/api/v1{path}")


def test_who_said_what_and_every_note_are_read(trial: Trial, tool: Caller) -> None:
    row = make_compared_run(trial)
    tool.post(path_of(row, "judge"), {**JUDGE, "note": "An N/A cell."})
    tool.post(path_of(row, "notes"), {"text": "Known."})

    told = tool.get(path_of(row, "judge")).json()

    assert (told["judged"], [one["said"] for one in told["judgements"]]) == ("new", ["new"])
    assert [one["text"] for one in told["notes"]] == ["Known.", "An N/A cell."]


def test_differences_are_told_by_rule_and_by_kind(trial: Trial, tool: Caller) -> None:
    known = make_comparison(trial, "fail", "pass", rules=["tone"], kind="k1", judged="new")
    make_comparison(trial, "pass", "fail", rules=["tone", "todo"], kind="k2")
    made = make_acknowledgement(known)

    told = tool.get(f"/shadow/trials/{trial.uuid}/differences").json()

    assert told["rules"] == [
        {"rule": "tone", "count": 2, "laxer": 1, "stricter": 1, "judged": 1},
        {"rule": "todo", "count": 1, "laxer": 0, "stricter": 1, "judged": 0},
    ]
    by_kind = {one["kind"]: one["acknowledged_until"] for one in told["kinds"]}
    assert by_kind.keys() == {"k1", "k2"}
    assert (by_kind["k1"] is None, by_kind["k2"]) == (made.until is None, None)


def test_a_tool_sends_what_somebody_said_and_in_which_order_they_saw_it(
    trial: Trial, tool: Caller
) -> None:
    row = make_compared_run(trial)
    make_judgement(row, "new", "ann")

    answer = tool.post(path_of(row, "judge"), {**schemas.JUDGE, "old_first": False})

    assert answer.status_code == 200
    body = answer.json()
    assert (body["id"], body["judged"]) == (str(row.uuid), "new")
    assert [one["by"] for one in body["judgements"]] == [
        "ann",
        f"key reviewer #{tool.project.api_keys.get().pk}",
    ]
    assert body["judgements"][1]["old_first"] is False
    assert row.notes.get().text == schemas.JUDGE["note"]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"said": "new"}, ["body", "body", "old_first"]),
        ({"said": "first", "old_first": True}, ["body", "body", "said"]),
        ({"said": "disputed", "old_first": True}, ["body", "body", "said"]),
        ({**JUDGE, "old_first": "maybe"}, ["body", "body", "old_first"]),
        ({**JUDGE, "note": "x" * 4001}, ["body", "body", "note"]),
        ({**JUDGE, "blind": True}, ["body", "body", "blind"]),
        ({}, ["body", "body", "said"]),
    ],
    ids=str,
)
def test_what_is_wrong_is_told_with_its_place(
    trial: Trial, tool: Caller, body: dict[str, Any], place: list[str]
) -> None:
    answer = tool.post(path_of(make_compared_run(trial), "judge"), body)

    status, _, loc = problem(answer)
    assert (status, loc[-1]) == (422, place[-1])
    assert not Judgement.objects.exists()


def test_another_word_of_the_same_key_is_a_conflict(trial: Trial, tool: Caller) -> None:
    row = make_compared_run(trial)
    tool.post(path_of(row, "judge"), JUDGE)

    again = tool.post(path_of(row, "judge"), JUDGE)
    other = tool.post(path_of(row, "judge"), {**JUDGE, "said": "old"})

    assert again.status_code == 200
    assert problem(other)[:2] == (409, "comparison.judged_by_you")


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [("pass", "pass", "comparison.not_asked"), ("fail", "undecided", "comparison.not_asked")],
)
def test_what_nobody_is_asked_about_is_a_conflict(
    trial: Trial, tool: Caller, old: str, new: str, code: str
) -> None:
    answer = tool.post(path_of(make_compared_run(trial, old, new), "judge"), JUDGE)

    assert problem(answer)[:2] == (409, code)


def test_what_was_said_is_taken_back(trial: Trial, tool: Caller) -> None:
    row = make_compared_run(trial)
    tool.post(path_of(row, "judge"), JUDGE)

    taken, nothing = (delete(tool, path_of(row, "judge")) for _ in range(2))

    assert (taken.status_code, nothing.status_code) == (200, 200)
    assert (taken.json()["withdrawn"], taken.json()["again"]) == (True, True)
    assert (taken.json()["judged"], taken.json()["judgements"]) == (None, [])
    assert nothing.json()["withdrawn"] is False


def test_a_note_is_added(trial: Trial, tool: Caller) -> None:
    row = make_comparison(trial)

    made = tool.post(path_of(row, "notes"), {"text": " Known\x00. "})
    blank = tool.post(path_of(row, "notes"), {"text": "  "})

    assert (made.status_code, made.json()["text"]) == (201, "Known\ufffd.")
    assert made.json()["by"] == f"key reviewer #{tool.project.api_keys.get().pk}"
    assert problem(blank)[:2] == (422, "note.empty")


def test_a_difference_is_acknowledged_listed_and_looked_at_again(
    trial: Trial, editor: Caller
) -> None:
    row = make_comparison(trial, "fail", "pass")
    wish = {**schemas.ACKNOWLEDGE, "kind": row.kind}

    made = editor.post(known_path(trial), wish)
    twice = editor.post(known_path(trial), wish)
    listed = editor.get(known_path(trial)).json()["items"]
    ended = delete(editor, f"{known_path(trial)}/{made.json()['id']}")

    assert (made.status_code, made.json()["in_force"]) == (201, True)
    assert problem(twice)[:2] == (409, "acknowledgement.exists")
    assert listed == [made.json()]
    assert ended.status_code == 204
    assert editor.get(known_path(trial)).json() == {"items": []}


@pytest.mark.parametrize(
    "wish",
    [
        {"kind": "x", "reason": "", "days": 7},
        {"kind": "x", "reason": "Known.", "days": 0},
        {"kind": "x", "reason": "Known.", "days": 181},
        {"kind": "", "reason": "Known."},
        {"reason": "Known."},
        {"kind": "x", "reason": "Known.", "until": "2099-01-01"},
    ],
    ids=str,
)
def test_an_acknowledgement_is_within_its_bounds(
    trial: Trial, editor: Caller, wish: dict[str, Any]
) -> None:
    assert problem(editor.post(known_path(trial), wish))[0] == 422
    assert not Acknowledgement.objects.exists()


def test_of_another_trial_and_another_project_nothing_is_found(
    project: Project, trial: Trial, editor: Caller
) -> None:
    row, other = make_compared_run(trial), make_trial(project)
    known = make_acknowledgement(row)
    wrong = f"/shadow/trials/{other.uuid}/comparisons/{row.uuid}/judge"
    stranger = Caller(make_project(), Role.ADMIN)

    answers = [
        editor.post(wrong, JUDGE),
        delete(editor, wrong),
        delete(editor, f"{known_path(other)}/{known.pk}"),
        delete(editor, f"{known_path(trial)}/{10**30}"),
        editor.post(known_path(trial), {"kind": "unknown", "reason": "Known."}),
        stranger.post(path_of(row, "judge"), JUDGE),
        stranger.get(known_path(trial)),
    ]

    assert {answer.status_code for answer in answers} == {404}


def test_an_agents_key_judges_nothing(project: Project, trial: Trial) -> None:
    row, caller = make_compared_run(trial), Caller(project, Role.AGENT)

    answers = [
        caller.post(path_of(row, "judge"), JUDGE),
        delete(caller, path_of(row, "judge")),
        caller.post(path_of(row, "notes"), {"text": "Mine."}),
        caller.post(known_path(trial), {"kind": row.kind, "reason": "Known."}),
    ]

    assert {answer.status_code for answer in answers} == {403}
    assert not Judgement.objects.exists()


def test_the_examples_of_the_description_are_answers_that_come(trial: Trial, tool: Caller) -> None:
    answer = tool.post(path_of(make_compared_run(trial), "judge"), schemas.JUDGE)

    assert set(answer.json()) == set(schemas.JUDGED)
    assert set(answer.json()["judgements"][0]) == set(schemas.SAID)
    assert json.dumps(schemas.ACKNOWLEDGED)
