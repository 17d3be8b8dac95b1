from __future__ import annotations

import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomverify.errors import Conflict, InputError
from processes import rule_edits
from processes.definition.load import load
from processes.definition.model import Rule
from tests.tables import check_rows

SOURCE = """\
# How notes are checked.
name: notes
phases:
  - {id: plan, description: Plan}   # first
  - {id: write, description: Write}
  - {id: check, description: Check, verification_tier: 2}
verification:
  policy:
    semantic_checks:
      - {id: tone, check: Is it friendly?}
  rules:
    # one phase, in a flow list
    - name: one
      check: TODO        # spaces
      type: regex
      applies_to_phases: [plan]
    - name: text
      check: TBD
      type: regex
      applies_to_phases: write
    - name: block
      check: "XX"
      type: regex
      applies_to_phases:
        - plan   # why
        - write
    - name: all
      check: Everything is true
      applies_to_phases: "*"
    - name: global
      check: Nothing is false
      scope: global
    - name: unscoped
      check: Is it nice?
"""
PHASES = ("plan", "write", "check")


def rules(source: str) -> dict[str, Rule]:
    definition = load(source).definition
    assert definition is not None
    return {rule.name: rule for rule in definition.rules}


def index_of(name: str, source: str = SOURCE) -> int:
    return list(rules(source)).index(name)


def toggle(name: str, phase: str, *, on: bool, source: str = SOURCE) -> str:
    index = index_of(name, source)
    return rule_edits.toggled(source, index=index, name=name, phase=phase, on=on)


def changed_lines(old: str, new: str) -> list[str]:
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0)
    return [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]


@pytest.mark.parametrize(
    ("name", "phase", "on", "phases", "lines"),
    [
        ("one", "write", True, ("plan", "write"), 2),
        ("text", "plan", True, ("write", "plan"), None),
        ("block", "check", True, ("plan", "write", "check"), 1),
        ("block", "plan", False, ("write",), 1),
        ("all", "plan", False, ("write", "check"), None),
        ("global", "plan", False, ("write", "check"), None),
        ("unscoped", "check", True, ("check",), None),
        ("tone", "check", False, ("plan", "write"), None),
    ],
)
def test_a_cell_switches_one_rule_in_one_phase(
    name: str, phase: str, on: bool, phases: tuple[str, ...], lines: int | None
) -> None:
    source = toggle(name, phase, on=on)

    after = rules(source)
    assert after[name].applies_to_phases == phases
    assert {key: rule.spec for key, rule in after.items() if key != name} == {
        key: rule.spec for key, rule in rules(SOURCE).items() if key != name
    }
    assert lines is None or len(changed_lines(SOURCE, source)) == lines


def test_a_cell_that_is_already_so_changes_nothing() -> None:
    assert toggle("one", "plan", on=True) == SOURCE
    assert toggle("all", "plan", on=True) == SOURCE
    assert toggle("one", "check", on=False) == SOURCE


def test_the_last_phase_of_a_rule_stays_since_without_one_it_would_speak_everywhere() -> None:
    with pytest.raises(InputError, match="has to name a phase"):
        toggle("one", "plan", on=False)


@pytest.mark.parametrize("index", [index_of("text"), 99, -1])
def test_a_rule_that_stands_in_another_place_by_now_is_found_by_its_name(index: int) -> None:
    moved = rule_edits.toggled(SOURCE, index=index, name="one", phase="write", on=True)

    assert moved == toggle("one", "write", on=True)


def test_a_cell_of_a_rule_or_phase_that_is_gone_is_left_alone() -> None:
    with pytest.raises(Conflict):
        rule_edits.toggled(SOURCE, index=0, name="gone", phase="plan", on=True)
    twins = SOURCE.replace("name: text", "name: one")
    with pytest.raises(Conflict):
        rule_edits.toggled(twins, index=99, name="one", phase="plan", on=True)
    with pytest.raises(Conflict):
        toggle("one", "gone", on=True)


def test_a_broken_text_is_not_edited() -> None:
    with pytest.raises(InputError, match="holds errors, first in line"):
        rule_edits.toggled("name: [", index=0, name="one", phase="plan", on=True)


def test_a_column_gives_a_rule_to_every_phase() -> None:
    source = rule_edits.column_toggled(SOURCE, index=index_of("block"), name="block")

    assert rules(source)["block"].applies_to_phases == ("*",)


def test_a_row_gives_every_rule_to_a_phase() -> None:
    source, left = rule_edits.row_toggled(SOURCE, phase="check", on=True)

    applied = [{"*", "check"} & set(rule.applies_to_phases) for rule in rules(source).values()]
    assert all(applied)
    assert left == []


def test_a_row_is_emptied_but_for_rules_that_name_no_other_phase() -> None:
    source, left = rule_edits.row_toggled(SOURCE, phase="plan", on=False)

    assert left == ["one"]
    assert [
        name
        for name, rule in rules(source).items()
        if {"plan", "*"} & set(rule.applies_to_phases) or not rule.is_scoped
    ] == ["one", "unscoped"]


switches = st.lists(
    st.tuples(st.sampled_from(list(rules(SOURCE))), st.sampled_from(PHASES), st.booleans()),
    max_size=12,
)


@pytest.mark.extended
@settings(deadline=None, max_examples=40)
@given(switches)
def test_any_row_of_switches_does_what_it_says_and_keeps_every_comment(
    asked: list[tuple[str, str, bool]],
) -> None:
    source = SOURCE
    wanted = {
        name: set(PHASES if "*" in rule.applies_to_phases else rule.applies_to_phases)
        for name, rule in rules(SOURCE).items()
    }
    for name, phase, on in asked:
        after = wanted[name] | {phase} if on else wanted[name] - {phase}
        if after or not wanted[name]:
            source = source if not after else toggle(name, phase, on=on, source=source)
            wanted[name] = after
        else:
            with pytest.raises(InputError):
                toggle(name, phase, on=on, source=source)

    assert {
        name: set(PHASES if "*" in rule.applies_to_phases else rule.applies_to_phases)
        for name, rule in rules(source).items()
    } == wanted
    for comment in (
        "# How notes are checked.",
        "# first",
        "# one phase, in a flow list",
        "# spaces",
    ):
        assert comment in source


FIELDS: dict[str, object] = {
    "name": "text",
    "description": "",
    "type": "regex",
    "check": "TBD",
    "expect": "no_match",
    "target": "output",
    "min_count": None,
    "requires_exact_cardinality": False,
    "severity": "warning",
    "enforcement": "",
    "suggestion": "",
    "failure_class": "",
    "remediation_mode": "",
    "applies_to_phases": ["write"],
    "examples": {"pass": [], "fail": []},
}


def edited(source: str, name: str, /, **fields: object) -> str:
    text = rule_edits.text_of(source)
    rule = rules(source)[name]
    same = {**rule.spec, "enforcement": rule.enforcement or ""}
    same["applies_to_phases"] = list(rule.applies_to_phases)
    same["examples"] = {"pass": list(rule.examples.passing), "fail": list(rule.examples.failing)}
    return text.patched(rule_edits.rule_edits(text, rule, {**same, **fields}))


@pytest.mark.parametrize("name", list(rules(SOURCE)))
def test_a_form_that_changes_nothing_changes_no_byte(name: str) -> None:
    assert edited(SOURCE, name) == SOURCE


@check_rows(
    ("field", "value"),
    [
        ("check", "a: b # c\nd"),
        ("name", "other"),
        ("severity", "error"),
        ("enforcement", "observe"),
        ("min_count", 0),
        ("requires_exact_cardinality", True),
        ("target", "deliverables"),
        ("description", "Why: it is so"),
        ("failure_class", "semantic"),
    ],
)
@check_rows("name", ["one", "block", "tone"])
def test_a_field_is_changed_and_nothing_else(name: str, field: str, value: object) -> None:
    source = edited(SOURCE, name, **{field: value})

    after = rules(source)
    changed = after.pop("other" if field == "name" else name)
    assert changed.spec == {**rules(SOURCE)[name].spec, field: value}
    assert all(rule.spec == rules(SOURCE)[key].spec for key, rule in after.items())


def test_a_field_that_is_emptied_leaves_the_file() -> None:
    source = edited(SOURCE, "one", severity="error", enforcement="hard")

    assert edited(source, "one", severity="warning", enforcement="") in (
        SOURCE,
        source.replace("severity: error", "severity: warning").replace(
            "      enforcement: hard\n", ""
        ),
    )


def test_old_files_that_write_the_target_as_scope_keep_that_key() -> None:
    old = SOURCE.replace("scope: global", "scope: evidence\n      applies_to_phases: [plan]")

    source = edited(old, "global", target="deliverables")

    assert "scope: deliverables" in source
    assert rules(source)["global"].target == "deliverables"


def test_examples_are_added_changed_and_taken_away() -> None:
    one = edited(SOURCE, "one", examples={"pass": ["fine\n  text"], "fail": ["TODO"]})
    two = edited(one, "one", examples={"pass": ["fine"], "fail": ["TODO", "a TODO"]})
    three = edited(two, "one", examples={"pass": [], "fail": ["TODO"]})
    none = edited(three, "one", examples={"pass": [], "fail": []})

    assert rules(one)["one"].examples.passing == ("fine\n  text",)
    assert rules(two)["one"].examples.passing == ("fine",)
    assert rules(two)["one"].examples.failing == ("TODO", "a TODO")
    assert rules(three)["one"].examples.failing == ("TODO",)
    assert none == SOURCE


def test_a_new_rule_writes_only_what_is_said() -> None:
    assert rule_edits.new_rule(FIELDS) == {
        "name": "text",
        "type": "regex",
        "check": "TBD",
        "applies_to_phases": ["write"],
    }
