"""What a file says of the whole process, changed by a form."""

from __future__ import annotations

from typing import Any

import pytest

from processes.definition.load import load
from processes.head_edits import head_changed, head_values
from tests.builders import SOURCE_TEXT, make_project
from tests.processes.editing import Desk, form_of, new_desk, said
from tests.tables import check_rows

SOURCE = """\
name: small   # keep
version: "1.0"
tags: [one, two]   # mine
risk_level: normal
own_key: stays
phases: [{id: a, description: A.}]
verification:
  policy:
    max_attempts: 5
    static_checks: {tool_success_policy: method_resilient, mine: 1}
"""


def values(source: str) -> dict[str, Any]:
    definition = load(source).definition
    assert definition is not None
    return head_values(definition)


@check_rows(
    ("fields", "lines"),
    [
        ({"title": "Yes: #no"}, ['title: "Yes: #no"']),
        ({"tags": "one"}, ["tags: [one]   # mine"]),
        ({"tags": ""}, []),
        ({"risk_level": "high"}, ["risk_level: high"]),
        ({"version": "1.1"}, ['version: "1.1"']),
        ({"max_attempts": None}, []),
        ({"max_attempts": 9}, ["max_attempts: 9"]),
        ({"tool_success_policy": "all_tools_hard"}, ["static_checks: {mine: 1}"]),
        ({"lint_commands": "plan"},
         ["static_checks: {tool_success_policy: method_resilient, mine: 1, lint_commands: plan}"]),
        ({"gates_without_sandbox": "medium"},
         ["static_checks: {tool_success_policy: method_resilient, mine: 1, "
          "gates_without_sandbox: medium}"]),
        ({"auto_commit": "judge_is_enough"}, ["auto_commit: judge_is_enough"]),
        ({"critical_path_behavior": "queue_follow_up"},
         ["remediation:", "critical_path_behavior: queue_follow_up"]),
        ({"remediation_attempts": 0}, ["remediation:", "retry_budget:", "max_attempts: 0"]),
        ({"remediation_attempts": 2}, []),
    ],
)  # fmt: skip
def test_one_field_changes_one_span(fields: dict[str, Any], lines: list[str]) -> None:
    text = head_changed(SOURCE, {**values(SOURCE), **fields})

    old = SOURCE.splitlines()
    assert [line.strip() for line in text.splitlines() if line not in old] == lines
    assert values(text) == {**values(SOURCE), **fields}


@pytest.fixture
def desk() -> Desk:
    desk = new_desk(make_project())
    desk.begin()
    return desk


@pytest.mark.django_db
def test_the_form_writes_what_differs_and_nothing_else(desk: Desk) -> None:
    sent = {**form_of(desk.get("draft_process")), "title": "Small work", "max_attempts": "4"}

    answer = desk.post("draft_process", **sent)

    assert answer.status_code == 302
    shown = form_of(desk.get("draft_process"))
    assert (shown["title"], shown["max_attempts"]) == ("Small work", 4)
    assert set(SOURCE_TEXT.splitlines()) <= set(desk.draft.source_text.splitlines())


@pytest.mark.django_db
def test_an_input_of_one_line_joins_no_lines_of_the_file(desk: Desk) -> None:
    author = SOURCE_TEXT.replace(
        "name: small-work\n", "name: small-work\nauthor: |\n  Ann\n  Bob\n"
    )
    desk.save(author)
    sent = {**form_of(desk.get("draft_process")), "author": "AnnBob", "title": "T"}

    answer = desk.post("draft_process", **sent)

    assert answer.status_code == 302
    assert "author: |\n  Ann\n  Bob\n" in desk.draft.source_text
    assert "title: T" in desk.draft.source_text


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"max_attempts": "0"}, "greater than or equal to 1"),
        ({"risk_level": "odd"}, "not one of the available choices"),
        ({"title": "x" * 201}, "at most 200 characters"),
        ({"author": "a\0b"}, "Null characters are not allowed"),
    ],
)
def test_what_cannot_be_is_refused_beside_its_field(
    desk: Desk, fields: dict[str, Any], told: str
) -> None:
    answer = desk.post("draft_process", **{**form_of(desk.get("draft_process")), **fields})

    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == list(fields)
    assert told in said(answer)
    assert desk.draft.source_text == SOURCE_TEXT


@pytest.mark.django_db
def test_a_late_form_keeps_what_was_typed_and_tells_what_differs(desk: Desk) -> None:
    sent = form_of(desk.get("draft_process"))
    desk.save(SOURCE_TEXT.replace("Small pieces of work", "THEIRS"))

    late = desk.post("draft_process", **{**sent, "title": "MINE"})
    saved = desk.post("draft_process", **form_of(late))

    assert late.status_code == 409
    assert "saved: THEIRS" in said(late)
    assert saved.status_code == 302
    assert "title: MINE" in desk.draft.source_text
