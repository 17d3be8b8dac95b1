from __future__ import annotations

import pytest

from processes.definition.compare import Change, Comparison, compare
from processes.definition.load import load
from tests.processes.files import SMALL, WITH_EVERYTHING


def between(old: str, new: str) -> Comparison:
    before, after = load(old).definition, load(new).definition
    assert before is not None
    assert after is not None
    return compare(before, after)


@pytest.mark.parametrize("source", [SMALL, WITH_EVERYTHING])
def test_a_version_compared_with_itself_changes_nothing(source: str) -> None:
    assert between(source, source).is_empty
    assert between(source, "# a comment\n" + source).is_empty


def test_a_changed_rule_shows_each_changed_field() -> None:
    comparison = between(SMALL, SMALL.replace("check: TODO", "check: TBD"))

    (rule,) = comparison.rules
    assert (rule.name, rule.change) == ("no-todo", Change.CHANGED)
    assert dict(rule.fields) == {"check": ("TODO", "TBD")}
    assert not comparison.phases


def test_a_renamed_rule_is_told_as_one_with_what_else_it_changes() -> None:
    renamed = SMALL.replace("name: no-todo", "name: no-tbd").replace("check: TODO", "check: TODOS")

    (rule,) = between(SMALL, renamed).rules

    assert (rule.name, rule.formerly, rule.change) == ("no-tbd", "no-todo", Change.RENAMED)
    assert dict(rule.fields) == {"check": ("TODO", "TODOS")}


def test_what_came_and_what_went_is_told_by_name() -> None:
    renamed = SMALL.replace("name: no-todo", "name: no-tbd").replace("id: check", "id: prove")
    renamed = renamed.replace("check: TODO", "check: FIXME")

    comparison = between(SMALL, renamed)

    assert [(rule.name, rule.change) for rule in comparison.rules] == [
        ("no-todo", Change.REMOVED),
        ("no-tbd", Change.ADDED),
    ]
    assert [(phase.name, phase.change) for phase in comparison.phases] == [
        ("check", Change.REMOVED),
        ("prove", Change.ADDED),
    ]


def test_examples_are_compared_though_they_do_not_make_another_rule() -> None:
    comparison = between(SMALL, f"{SMALL}      examples: {{fail: [TODO]}}\n")

    (rule,) = comparison.rules
    assert dict(rule.fields) == {
        "examples": ({"pass": [], "fail": []}, {"pass": [], "fail": ["TODO"]})
    }


def test_rules_of_one_name_are_told_apart_by_number() -> None:
    twin = "    - {name: no-todo, check: FIXME, type: regex, applies_to_phases: build}\n"

    comparison = between(SMALL, SMALL + twin)

    assert [(rule.name, rule.change) for rule in comparison.rules] == [
        ("no-todo (2)", Change.ADDED)
    ]


def test_the_head_of_the_file_is_compared_too() -> None:
    comparison = between(SMALL, f"{SMALL}risk_level: high\n")

    assert dict(comparison.process) == {"risk_level": ("medium", "high")}
