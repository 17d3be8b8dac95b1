from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.builders import SOURCE_TEXT, make_project
from tests.processes.editing import Desk, form_of, new_desk, said
from tests.tables import check_rows

pytestmark = pytest.mark.django_db

BROKEN = SOURCE_TEXT.replace("verification_tier: 2", "verification_tier: nine")
HOSTILE = SOURCE_TEXT.replace("no-placeholders", '"<img src=x>|\\"{{x}}"')


@pytest.fixture
def desk() -> Desk:
    desk = new_desk(make_project())
    desk.begin()
    return desk


def switch(desk: Desk, *, htmx: bool = False, **asked: Any) -> Any:
    return desk.post("draft_toggle", htmx=htmx, switch=json.dumps(asked))


def cell(desk: Desk, rule: str, phase: str, *, on: bool, **how: Any) -> Any:
    index = 0 if rule == "no-placeholders" else 1
    return switch(desk, kind="cell", index=index, rule=rule, phase=phase, on=on, **how)


def test_a_cell_is_switched_by_a_plain_form(desk: Desk) -> None:
    answer = cell(desk, "figures-have-sources", "build", on=True)

    assert answer.status_code == 302
    assert desk.rule("figures-have-sources").applies_to_phases == ("write", "build")
    assert "# the work itself" in desk.draft.source_text


def test_a_cell_switched_in_place_brings_the_matrix_and_the_bar(desk: Desk) -> None:
    answer = cell(desk, "figures-have-sources", "build", on=True, htmx=True)

    page = answer.content.decode()
    assert answer.headers["Draft-Version"] == "2"
    assert "<html" not in page
    assert 'id="draft-bar" hx-swap-oob="true"' in page
    assert 'aria-label="figures-have-sources in build, hard"' in page


def test_two_cells_switched_from_the_same_page_both_count(desk: Desk) -> None:
    cell(desk, "figures-have-sources", "build", on=True, htmx=True)
    cell(desk, "no-placeholders", "write", on=False, htmx=True)

    assert desk.rule("figures-have-sources").applies_to_phases == ("write", "build")
    assert desk.rule("no-placeholders").applies_to_phases == ("build",)


def test_the_last_phase_of_a_rule_is_not_switched_off(desk: Desk) -> None:
    answer = cell(desk, "figures-have-sources", "write", on=False, htmx=True)

    assert "has to name a phase" in said(answer)
    assert desk.draft.source_text == SOURCE_TEXT


def test_rows_and_columns_are_switched_whole(desk: Desk) -> None:
    switch(desk, kind="column", index=1, rule="figures-have-sources", on=True)
    assert desk.rule("figures-have-sources").applies_to_phases == ("*",)

    switch(desk, kind="row", phase="build", on=False)

    assert desk.rule("figures-have-sources").applies_to_phases == ("write",)
    assert desk.rule("no-placeholders").applies_to_phases == ("write",)


@check_rows(
    "asked",
    ["", "[", "[]", '{"kind": "cell"}', '{"kind": "all", "on": true}', "[" * 5000,
     '{"kind": "cell", "on": true, "index": 7, "rule": "x", "phase": "build"}',
     '{"kind": "row", "on": true, "phase": {"a": 1}}'],
)  # fmt: skip
@check_rows("htmx", [False, True], rollback=True)
def test_a_strange_switch_changes_nothing(desk: Desk, asked: str, htmx: bool) -> None:
    answer = desk.post("draft_toggle", htmx=htmx, switch=asked)

    assert answer.status_code in (200, 302)
    assert desk.draft.source_text == SOURCE_TEXT


@check_rows(
    ("name", "args"),
    [("draft_matrix", ()), ("draft_rules", ()), ("draft_rule", (0,)), ("draft_rule_new", ()),
     ("draft_phases", ()), ("draft_phase", (0,)),
     ("draft_process", ()), ("draft_review", ())],
    rollback=True,
)  # fmt: skip
def test_a_broken_text_says_so_with_the_way_back(
    desk: Desk, name: str, args: tuple[Any, ...]
) -> None:
    desk.save(BROKEN)

    answer = desk.get(name, *args)

    assert answer.status_code == 200
    assert "cannot be read here as long as it holds errors" in said(answer)
    assert f"{desk.url('draft_yaml')}#L14" in answer.content.decode()


@pytest.mark.parametrize("post", ["draft_toggle", "draft_rule", "draft_rule_copy"])
def test_nothing_is_edited_in_a_broken_text(desk: Desk, post: str) -> None:
    desk.save(BROKEN)

    desk.post(
        post, *([0] if post != "draft_toggle" else []), switch='{"kind":"row","phase":"build"}'
    )

    assert desk.draft.source_text == BROKEN


def test_hostile_names_are_shown_as_text(desk: Desk) -> None:
    desk.save(HOSTILE)

    pages = [desk.get(name).content for name in ("draft_matrix", "draft_rules", "draft_publish")]
    pages.append(desk.get("draft_rule", 0).content)

    assert not any(b"<img" in page for page in pages)


def test_a_form_saved_untouched_changes_no_byte(desk: Desk) -> None:
    for index in (0, 1):
        sent = form_of(desk.get("draft_rule", index))

        assert desk.post("draft_rule", index, **sent).status_code == 302

    assert desk.draft.source_text == SOURCE_TEXT
    assert desk.draft.lock_version == 1


def test_a_field_changed_in_the_form_is_seen_in_the_yaml(desk: Desk) -> None:
    sent = form_of(desk.get("draft_rule", 1))

    desk.post("draft_rule", 1, **{**sent, "enforcement": "observe", "check": "Look\r\ntwice"})

    rule = desk.rule("figures-have-sources")
    assert (rule.enforcement, rule.check) == ("observe", "Look\ntwice")
    assert desk.draft.source_text.startswith(SOURCE_TEXT.split("      check: Every", 1)[0])


def test_a_change_in_the_yaml_is_seen_in_the_form(desk: Desk) -> None:
    desk.save(SOURCE_TEXT.replace("TODO|TBD", "FIXME"))

    assert "FIXME" in desk.get("draft_rule", 0).content.decode()


@check_rows(
    ("fields", "complaint"),
    [
        ({"name": ""}, "This field is required."),
        ({"name": "figures-have-sources"}, "Another rule of this process has this name."),
        ({"check": "a(b"}, "Not a pattern"),
        ({"check": "a(?=b)"}, "has no lookahead"),
        ({"check": "  "}, "Say what it looks for."),
        ({"where": "named", "phases": []}, "Mark a phase below"),
        ({"where": "named", "phases": ["nowhere"]}, "not one of the available choices"),
        ({"requires_exact_cardinality": "on"}, "An exact count needs a number."),
        ({"min_count": "-1"}, "greater than or equal to 0"),
        ({"type": "magic"}, "not one of the available choices"),
    ],
    rollback=True,
)
def test_a_wrong_field_is_refused_beside_it(
    desk: Desk, fields: dict[str, Any], complaint: str
) -> None:
    sent = form_of(desk.get("draft_rule", 0))

    answer = desk.post("draft_rule", 0, **{**sent, **fields})

    assert answer.status_code == 422
    assert complaint in said(answer)
    assert desk.draft.source_text == SOURCE_TEXT


def test_a_late_form_keeps_what_was_typed_and_shows_what_differs(desk: Desk) -> None:
    sent = form_of(desk.get("draft_rule", 0))
    desk.save(SOURCE_TEXT.replace("TODO|TBD", "THEIRS"))

    answer = desk.post("draft_rule", 0, **{**sent, "check": "MINE"})
    again = {**sent, "check": "MINE", "lock_version": answer.context["draft"].lock_version}

    assert answer.status_code == 409
    assert "saved: THEIRS" in said(answer)
    assert "MINE" in said(answer)
    assert desk.rule("no-placeholders").check == "THEIRS"
    assert desk.post("draft_rule", 0, **again).status_code == 302
    assert desk.rule("no-placeholders").check == "MINE"


def test_a_late_form_of_a_deleted_rule_becomes_a_new_rule(desk: Desk) -> None:
    sent = form_of(desk.get("draft_rule", 0))
    desk.post("draft_rule_delete", 0, seen_name="no-placeholders")

    answer = desk.post("draft_rule", 0, **sent)
    again = {**sent, "lock_version": answer.context["draft"].lock_version}
    desk.client.post(answer.context["action"], again)

    assert answer.status_code == 409
    assert answer.context["action"] == desk.url("draft_rule_new")
    assert desk.rule("no-placeholders").check == "TODO|TBD"


def test_a_new_rule_stands_at_the_end_with_its_examples(desk: Desk) -> None:
    sent = form_of(desk.get("draft_rule_new"))

    desk.post(
        "draft_rule_new",
        **{
            **sent,
            "name": "no-shouting",
            "type": "regex",
            "check": "!!+",
            "where": "named",
            "phases": ["build", "write"],
            "example_pass": ["fine!", ""],
            "example_fail": ["no!!", ""],
        },
    )

    rule = desk.rule("no-shouting")
    assert desk.draft.source_text.startswith(SOURCE_TEXT)
    assert rule.applies_to_phases == ("build", "write")
    assert (rule.examples.passing, rule.examples.failing) == (("fine!",), ("no!!",))


def test_a_rule_is_copied_whole_under_a_free_name(desk: Desk) -> None:
    desk.post("draft_rule_copy", 1, seen_name="figures-have-sources")
    desk.post("draft_rule_copy", 1, seen_name="figures-have-sources")

    assert desk.rule("figures-have-sources-2").severity == "error"
    assert desk.rule("figures-have-sources-3").applies_to_phases == ("write",)


def test_a_deleted_rule_comes_back_by_undo(desk: Desk) -> None:
    desk.post("draft_rule_delete", 0, seen_name="no-placeholders")
    without = desk.draft.source_text

    desk.post("draft_undo", lock_version=2)

    assert "no-placeholders" not in without
    assert desk.draft.source_text == SOURCE_TEXT


def test_a_rule_that_moved_is_deleted_by_its_name(desk: Desk) -> None:
    desk.post("draft_rule_delete", 0, seen_name="figures-have-sources")
    desk.post("draft_rule_delete", 0, seen_name="gone")

    assert desk.rule("no-placeholders")
    assert "figures-have-sources" not in desk.draft.source_text


@pytest.mark.parametrize("path", ["draft_rule", "draft_phase"])
def test_a_number_without_a_rule_is_not_found(desk: Desk, path: str) -> None:
    assert desk.get(path, 99).status_code == 404


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({"example_pass": ["fine"], "example_fail": ["TODO"]}, "All 2 examples hold."),
        ({"example_pass": ["TODO"], "example_fail": ["fine"]}, "2 of 2 examples broken."),
        ({"expect": "match", "example_pass": ["TODO"]}, "The example holds."),
        ({"min_count": "2", "example_pass": ["TODO TODO"], "example_fail": ["TODO"]}, "All 2"),
        ({"check": "a(", "example_pass": ["x"]}, "Not a pattern: missing )"),
        ({"type": "llm"}, "Instructions are tried by a judge"),
        ({"example_pass": ["x" * 20_000]}, "The example holds"),
    ],
)
def test_examples_are_tried_while_they_are_typed(
    desk: Desk, fields: dict[str, Any], verdict: str
) -> None:
    answer = desk.post("draft_rule_try", **{"type": "regex", "check": "TODO", **fields})

    assert answer.status_code == 200
    assert verdict in said(answer)


def test_trying_without_a_script_answers_with_the_form_and_saves_nothing(desk: Desk) -> None:
    sent = form_of(desk.get("draft_rule", 0))

    answer = desk.post("draft_rule", 0, **{**sent, "check": "X", "example_fail": ["Y"], "try": "1"})

    assert answer.status_code == 200
    assert "1 of 1 example broken" in said(answer)
    assert "data-dirty " in answer.content.decode()
    assert desk.draft.source_text == SOURCE_TEXT


def test_a_phase_saved_untouched_changes_no_byte(desk: Desk) -> None:
    for index in (0, 1):
        desk.post("draft_phase", index, **form_of(desk.get("draft_phase", index)))

    assert desk.draft.source_text == SOURCE_TEXT


def test_a_phase_is_edited_where_it_stands(desk: Desk) -> None:
    sent = form_of(desk.get("draft_phase", 0))
    files = "report.json — the figures\r\nnotes.md"

    answer = desk.post("draft_phase", 0, **{**sent, "verification_tier": 3, "deliverables": files})

    page = desk.get("draft_phases").context["checked"].definition.phases[0]
    assert answer.status_code == 302
    assert page.verification_tier == 3
    assert [one.path for one in page.deliverables] == ["report.json", "notes.md"]
    assert "- id: build   # the work itself" in desk.draft.source_text


@pytest.mark.parametrize(
    ("typed", "path", "description"),
    [
        ("notes.md - what is new", "notes.md", "what is new"),
        ("notes.md -- what is new", "notes.md", "what is new"),
        ("notes.md \N{EN DASH} what is new", "notes.md", "what is new"),
        ("notes - final.md", "notes - final.md", ""),
        ("a-b.md", "a-b.md", ""),
    ],
)
def test_a_hyphen_after_a_file_name_does_for_the_dash(
    desk: Desk, typed: str, path: str, description: str
) -> None:
    desk.post("draft_phase", 0, **{**form_of(desk.get("draft_phase", 0)), "deliverables": typed})

    [one] = desk.get("draft_phases").context["checked"].definition.phases[0].deliverables
    assert (one.path, one.description) == (path, description)


def test_a_phase_that_would_not_load_is_refused_beside_the_field(desk: Desk) -> None:
    sent = form_of(desk.get("draft_phase", 0))

    answer = desk.post("draft_phase", 0, **{**sent, "deliverables": "/etc/passwd"})

    assert answer.status_code == 422
    assert "outside the workspace" in said(answer)
    assert desk.draft.source_text == SOURCE_TEXT


@pytest.mark.parametrize(
    ("page", "field"), [("draft_rule", "check"), ("draft_phase", "description")]
)
def test_a_form_of_a_draft_that_was_put_away_keeps_what_was_typed(
    desk: Desk, page: str, field: str
) -> None:
    sent = form_of(desk.get(page, 0))
    desk.post("draft_discard", lock_version=1)

    answer = desk.post(page, 0, **{**sent, field: "MINE"})

    assert answer.status_code == 409
    assert "MINE" in said(answer)
    assert desk.draft.source_text == SOURCE_TEXT


def test_a_late_phase_form_keeps_what_was_typed(desk: Desk) -> None:
    sent = form_of(desk.get("draft_phase", 0))
    desk.save(f"{SOURCE_TEXT}# theirs\n")

    answer = desk.post("draft_phase", 0, **{**sent, "description": "MINE"})

    assert answer.status_code == 409
    assert "MINE" in said(answer)
    assert desk.draft.source_text == f"{SOURCE_TEXT}# theirs\n"


def test_a_late_phase_form_tells_what_the_saved_one_says_otherwise(desk: Desk) -> None:
    sent = form_of(desk.get("draft_phase", 0))
    desk.save(SOURCE_TEXT.replace("Build what was asked for", "THEIRS"))

    late = desk.post("draft_phase", 0, **{**sent, "acceptance_criteria": "MINE"})
    saved = desk.post("draft_phase", 0, **form_of(late))

    assert "saved: THEIRS" in said(late)
    assert "yours: MINE" in said(late)
    assert saved.status_code == 302
    assert "MINE" in desk.draft.source_text


@pytest.mark.parametrize(
    ("page", "place", "field", "wrong"),
    [("draft_phase", (0,), "max_attempts", "0"), ("draft_rule", (0,), "min_count", "x"),
     ("draft_process", (), "max_attempts", "0"), ("draft_review", (), "cap_per_day", "-1")],
)  # fmt: skip
def test_a_late_form_stays_late_while_it_is_refused(
    desk: Desk, page: str, place: tuple[int, ...], field: str, wrong: str
) -> None:
    sent = form_of(desk.get(page, *place))
    theirs = SOURCE_TEXT.replace("Build what was asked for", "THEIRS")
    desk.save(theirs)

    refused = desk.post(page, *place, **{**sent, field: wrong})
    late = desk.post(page, *place, **{**form_of(refused), field: sent.get(field, "")})

    assert (refused.status_code, late.status_code) == (422, 409)
    assert desk.draft.source_text == theirs


def test_a_new_phase_that_comes_late_is_no_phase_that_is_gone(desk: Desk) -> None:
    sent = {**form_of(desk.get("draft_phase_new")), "id": "ship", "description": "Ship it."}
    desk.save(f"{SOURCE_TEXT}# theirs\n")

    late = desk.post("draft_phase_new", **sent)

    assert late.status_code == 409
    assert "Save adds it to the draft as it is now" in said(late)
    assert "not there any more" not in said(late)


def test_a_phase_that_moved_is_changed_where_it_stands_now(desk: Desk) -> None:
    sent = form_of(desk.get("draft_phase", 1))
    desk.post("draft_phase_move", 1, seen_name="write", step="up")

    answer = desk.post(
        "draft_phase", 1, **{**sent, "lock_version": desk.draft.lock_version, "description": "NEW"}
    )

    assert answer.status_code == 302
    phases = desk.get("draft_phases").context["checked"].definition.phases
    assert (phases[0].id, phases[0].description) == ("write", "NEW")


def test_a_form_of_a_phase_that_is_gone_adds_it_again(desk: Desk) -> None:
    sent = form_of(desk.get("draft_phase", 1))
    desk.save(SOURCE_TEXT.replace("- id: write", "- id: other").replace("[write]", "[other]"))

    late = desk.post("draft_phase", 1, **{**sent, "description": "MINE"})
    added = desk.client.post(late.context["action"], form_of(late))

    assert late.status_code == 409
    assert "Save adds what you typed as a new phase" in said(late)
    assert added.status_code == 302
    assert "description: MINE" in desk.draft.source_text


def test_a_phase_is_added_renamed_and_deleted_and_each_is_undone(desk: Desk) -> None:
    sent = {**form_of(desk.get("draft_phase_new")), "id": "ship", "description": "Ship it."}

    sent |= {"gates": ["build", "test"], "gates_without_sandbox": "medium", "may_lower_tier": "on"}
    desk.post("draft_phase_new", **{**sent, "after": "build"})
    added = desk.get("draft_phases").context["checked"].definition.phases
    renamed = {**form_of(desk.get("draft_phase", 2)), "id": "write-up"}
    desk.post("draft_phase", 2, **renamed)
    named = desk.get("draft_rules").context["checked"].definition.rules[1]
    refused = desk.post("draft_phase_delete", seen_name="write-up")
    desk.post("draft_phase_delete", seen_name="ship")

    assert [(one.id, one.gates) for one in added] == [
        ("build", ()), ("ship", ("build", "test")), ("write", ()),
    ]  # fmt: skip
    assert (added[1].gates_without_sandbox, added[1].may_lower_tier) == ("medium", True)
    assert named.applies_to_phases == ("write-up",)
    assert "would name no phase any more" in said(desk.get("draft_phases"))
    assert refused.status_code == 302
    assert desk.draft.source_text == SOURCE_TEXT.replace("id: write", "id: write-up").replace(
        "[write]", "[write-up]"
    )


@check_rows(
    ("fields", "told"),
    [
        ({"id": "write"}, "Another phase of this process has this name"),
        ({"id": ""}, "This field is required"),
        ({"id": "*"}, "cannot be named *"),
        ({"depends_on": ["write"]}, "wait for each other"),
        ({"depends_on": ["gone"]}, "not one of the available choices"),
        ({"gates": ["deploy"]}, "not one of the available choices"),
        ({"max_attempts": "0"}, "greater than or equal to 1"),
        ({"confidence_floor": "nan"}, "Enter a number"),
        ({"confidence_floor": "1.1"}, "less than or equal to 1"),
        ({"score_threshold": "11"}, "less than or equal to 10"),
        ({"custom_verifier": "a\0b"}, "Null characters are not allowed"),
    ],
    rollback=True,
)
def test_a_phase_that_cannot_be_is_refused_beside_its_field(
    desk: Desk, fields: dict[str, Any], told: str
) -> None:
    [field] = fields
    sent = {**form_of(desk.get("draft_phase", 0)), **fields}

    answer = desk.post("draft_phase", 0, **sent)

    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == [field]
    assert told in said(answer)
    assert desk.draft.source_text == SOURCE_TEXT


def test_every_button_of_the_matrix_says_what_it_is(desk: Desk) -> None:
    page = desk.get("draft_matrix").content.decode()

    assert page.count('name="switch"') == page.count('name="switch" value="{&quot;kind&quot;') > 0
    assert page.count("aria-pressed") == page.count('name="switch"')
    assert reverse("draft_toggle", args=[desk.process.project.slug, "small-work"]) in page


SHOWN = {"enforcement": "", "severity": "warning", "target": "output", "type": "regex"}
OTHER = {**SHOWN, "severity": "error", "type": "llm"}


def set_in_row(desk: Desk, rule: str, *, htmx: bool = True, **chosen: str) -> Any:
    index, shown = (0, SHOWN) if rule == "no-placeholders" else (1, OTHER)
    seen = {f"seen_{name}": value for name, value in shown.items()}
    fields = {**shown, **seen, **chosen, "seen_name": rule}
    return desk.post("draft_rule_set", index, htmx=htmx, **fields)


@check_rows("htmx", [True, False])
@check_rows(
    ("field", "value", "line"),
    [("enforcement", "hard", "enforcement: hard"), ("severity", "error", "severity: error"),
     ("target", "evidence", "target: evidence"), ("type", "llm", "type: llm")],
    rollback=True,
)  # fmt: skip
def test_one_field_of_a_rule_is_set_in_its_row(
    desk: Desk, field: str, value: str, line: str, htmx: bool
) -> None:
    answer = set_in_row(desk, "no-placeholders", htmx=htmx, **{field: value})

    place = '      applies_to_phases: ["*"]\n'
    expected = SOURCE_TEXT.replace(place, f"{place}      {line}\n")
    if field == "type":
        expected = SOURCE_TEXT.replace("type: regex", line)
    assert answer.status_code == (200 if htmx else 302)
    assert desk.draft.source_text == expected


def test_fields_set_in_two_windows_all_count(desk: Desk) -> None:
    set_in_row(desk, "no-placeholders", severity="error")
    desk.post("draft_rule_move", 1, seen_name="figures-have-sources", step="up", htmx=True)
    set_in_row(desk, "no-placeholders", enforcement="observe")
    answer = set_in_row(desk, "figures-have-sources", enforcement="advisory")

    rule, moved = desk.rule("no-placeholders"), desk.rule("figures-have-sources")
    assert (rule.severity, rule.enforcement) == ("error", "observe")
    assert (moved.enforcement, moved.severity) == ("advisory", "error")
    assert answer.headers["Draft-Version"] == "5"


def test_of_one_field_set_in_two_windows_the_first_stays_and_the_second_is_told(
    desk: Desk,
) -> None:
    set_in_row(desk, "no-placeholders", target="evidence")
    before = desk.draft.source_text

    late = set_in_row(desk, "no-placeholders", target="deliverables")
    assert "target was set to evidence in another window" in said(late)
    assert desk.draft.source_text == before
    same = set_in_row(desk, "no-placeholders", target="evidence")
    assert "another window" not in said(same)


def test_a_text_that_is_no_pattern_does_not_become_one_in_its_row(desk: Desk) -> None:
    desk.save(SOURCE_TEXT.replace("Every figure", "(every figure"))
    before = desk.draft.source_text

    answer = set_in_row(desk, "figures-have-sources", type="regex")

    assert "cannot be a pattern" in said(answer)
    assert "line 22" in said(answer)
    assert desk.draft.source_text == before


@check_rows(
    "fields",
    [{"type": "python"}, {"severity": ""}, {"enforcement": "\0"}, {"seen_name": "gone"},
     {"target": "x" * 9999}, {"seen_severity": "none"}],
)  # fmt: skip
@check_rows("htmx", [True, False], rollback=True)
def test_a_strange_row_changes_nothing(desk: Desk, fields: dict[str, str], htmx: bool) -> None:
    rule = fields.get("seen_name", "no-placeholders")
    desk.post(
        "draft_rule_set",
        0,
        htmx=htmx,
        **{**SHOWN, "severity": "error", "seen_name": rule, **fields},
    )

    assert desk.draft.source_text == SOURCE_TEXT


def move(desk: Desk, index: int, name: str, **how: Any) -> Any:
    return desk.post("draft_rule_move", index, seen_name=name, **how)


def test_a_rule_is_moved_and_undo_brings_it_back(desk: Desk) -> None:
    page = move(desk, 1, "figures-have-sources", step="up", htmx=True).content.decode()

    assert page.index("figures-have-sources") < page.index("no-placeholders")
    assert sorted(desk.draft.source_text) == sorted(SOURCE_TEXT)
    desk.post("draft_undo", lock_version=desk.draft.lock_version, then="rules")
    assert desk.draft.source_text == SOURCE_TEXT


def test_a_rule_is_dropped_on_another_by_name(desk: Desk) -> None:
    move(desk, 0, "no-placeholders", beside=1, beside_name="figures-have-sources")

    text = desk.draft.source_text
    assert text.index("figures-have-sources") < text.index("no-placeholders")


@pytest.mark.parametrize(
    "how",
    [{"step": "up"}, {"step": "sideways"}, {}, {"beside": "9" * 20}, {"beside_name": "gone"},
     {"beside": "0", "beside_name": "no-placeholders"}],
)  # fmt: skip
def test_a_move_to_nowhere_changes_nothing(desk: Desk, how: dict[str, str]) -> None:
    answer = move(desk, 0, "no-placeholders", **how)

    assert answer.status_code == 302
    assert desk.draft.source_text == SOURCE_TEXT


def test_a_rule_does_not_move_into_the_list_of_semantic_checks(desk: Desk) -> None:
    extra = "  policy:\n    semantic_checks:\n      - {id: honest, check: Is it honest?}\n"
    desk.save(SOURCE_TEXT + extra)

    answer = move(desk, 0, "no-placeholders", beside=2, beside_name="honest", htmx=True)

    assert "lists of their own" in said(answer)


def test_phases_are_put_in_order(desk: Desk) -> None:
    desk.post("draft_phase_move", 1, seen_name="write", step="up", htmx=True)
    moved = desk.draft.source_text
    desk.post("draft_phase_move", 0, seen_name="build", beside=0, beside_name="write")

    assert moved.index("id: write") < moved.index("id: build")
    assert desk.draft.source_text == SOURCE_TEXT


def test_the_lists_take_as_many_queries_for_many_rules_as_for_few(desk: Desk) -> None:
    rules = "".join(
        f"    - {{name: r{n}, check: c, applies_to_phases: [build]}}\n" for n in range(60)
    )
    desk.save(SOURCE_TEXT + "# changed\n")
    with CaptureQueriesContext(connection) as few:
        desk.get("draft_rules")
    desk.save(SOURCE_TEXT + rules)
    with CaptureQueriesContext(connection) as many:
        desk.get("draft_rules")

    assert len(many) == len(few) > 0


def key_of(desk: Desk, name: str) -> str:
    return next(
        str(one["key"])
        for one in desk.get("draft_matrix").context["columns"]
        if one["name"] == name
    )


def test_a_row_set_in_the_matrix_brings_the_matrix(desk: Desk) -> None:
    key = key_of(desk, "no-placeholders")

    part = set_in_row(desk, "no-placeholders", severity="error", view="matrix", open=key)
    page = set_in_row(desk, "no-placeholders", htmx=False, view="matrix", open=key)

    assert 'id="matrix-rule"' in part.content.decode()
    assert part.headers["Draft-Version"] == "2"
    assert desk.rule("no-placeholders").severity == "error"
    assert page.url == f"{desk.url('draft_matrix')}?rule={key}#row-{key}"


def test_a_stale_row_of_the_matrix_changes_nothing_and_shows_what_is_there(desk: Desk) -> None:
    key = key_of(desk, "no-placeholders")
    set_in_row(desk, "no-placeholders", enforcement="hard")
    before = desk.draft.source_text

    answer = set_in_row(desk, "no-placeholders", enforcement="observe", view="matrix", open=key)

    assert "in another window meanwhile" in said(answer)
    assert desk.draft.source_text == before


@pytest.mark.parametrize("opened", ["", "x", "\0", "a" * 5000, '"><script>', "☃"])
def test_settings_of_no_rule_are_simply_not_open(desk: Desk, opened: str) -> None:
    shown = desk.client.get(desk.url("draft_matrix"), {"rule": opened})
    switched = cell(desk, "figures-have-sources", "build", on=True)
    posted = desk.post("draft_rule_move", 1, seen_name="x", view="matrix", open=opened)

    assert b"matrix-rule" not in shown.content
    assert (switched.status_code, posted.status_code) == (302, 302)
    assert "<" not in posted.url
    assert len(posted.url) < 500


def test_a_matrix_of_hundreds_of_rules_has_one_set_of_controls(desk: Desk) -> None:
    phases = "".join(f"\n  - id: phase-{n}\n    description: P" for n in range(20))
    rules = "".join(
        f"\n    - {{name: rule-{n}, type: regex, check: x{n}, applies_to_phases: [phase-1]}}"
        for n in range(200)
    )
    desk.save(f"name: small-work\nphases:{phases}\nverification:\n  rules:{rules}\n")
    key = key_of(desk, "rule-7")

    page = desk.get("draft_matrix", query=f"?rule={key}").content.decode()

    assert page.count('name="switch"') == 200 * 20 + 220
    assert page.count("<select") == 4
    assert page.count("hx-post") == 1
