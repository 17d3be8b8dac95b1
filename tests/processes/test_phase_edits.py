"""Phases changed by a form: the smallest span of the text changes, and whoever names them goes along."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from loomverify.errors import Conflict, InputError
from processes.definition.load import load
from processes.definition.model import Definition
from processes.phase_edits import NEW, phase_added, phase_changed, phase_deleted, phase_values
from tests.tables import check_rows

SOURCE = """\
name: small   # keep
phases:
  - id: plan
    description: Plan it.
    own_key: stays   # so does this
  - id: build # the work
    description: Build it.
    depends_on: [plan]
    gates: [test, lint]
    score: {threshold: 7}
    max_attempts: 3
  - {id: write, description: Write it., depends_on: [plan, build], advisory: true}
verification:
  rules:
    - {name: a, check: x, type: regex, applies_to_phases: [plan, write]}
    - {name: b, check: y, type: regex, applies_to_phases: build}
    - {name: c, check: z, type: regex, applies_to_phases: ["*"]}
  policy:
    semantic_checks:
      - {id: s, check: Is it so?, applies_to_phases: [build, write]}
"""


def definition(source: str) -> Definition:
    loaded = load(source)
    assert loaded.definition is not None, loaded.errors
    return loaded.definition


def changed(name: str, **fields: Any) -> str:
    phase = definition(SOURCE).phase(name)
    assert phase is not None
    return phase_changed(SOURCE, name=name, values={**phase_values(phase), **fields})


def lines_changed(text: str) -> list[str]:
    old = SOURCE.splitlines()
    return [line.strip() for line in text.splitlines() if line not in old]


@pytest.mark.parametrize("name", ["plan", "build", "write"])
def test_what_is_not_changed_stays_to_the_byte(name: str) -> None:
    assert changed(name) == SOURCE


@check_rows(
    ("name", "fields", "lines"),
    [
        ("build", {"max_attempts": 5}, ["max_attempts: 5"]),
        ("build", {"max_attempts": None}, []),
        ("build", {"gates": ["test", "lint", "run"]}, ["gates: [test, lint, run]"]),
        ("build", {"gates": ["lint"]}, ["gates: [lint]"]),
        ("build", {"gates": []}, []),
        ("build", {"gates_without_sandbox": "medium"}, ["gates_without_sandbox: medium"]),
        ("plan", {"may_lower_tier": True}, ["may_lower_tier: true"]),
        ("build", {"score_threshold": 9.5}, ["score: {threshold: 9.5}"]),
        ("build", {"score_max_iterations": 4}, ["score: {threshold: 7, max_iterations: 4}"]),
        ("build", {"score_threshold": None, "score_max_iterations": None}, []),
        ("build", {"depends_on": []}, []),
        ("plan", {"is_critical_path": True}, ["is_critical_path: true"]),
        ("plan", {"score_threshold": 8.0}, ["score:", "threshold: 8.0"]),
        ("plan", {"confidence_floor": 0.75}, ["confidence_floor: 0.75"]),
        ("plan", {"custom_verifier": "yes: #no"}, ['custom_verifier: "yes: #no"']),
        ("plan", {"description": "One.\nTwo: 'three' \N{SNOWMAN}"}, None),
    ],
)
def test_one_field_changes_one_span(
    name: str, fields: dict[str, Any], lines: list[str] | None
) -> None:
    text = changed(name, **fields)

    found = definition(text).phase(name)
    assert found is not None
    assert {key: phase_values(found)[key] for key in fields} == fields
    assert "own_key: stays   # so does this" in text
    assert "- id: build # the work" in text
    if lines is not None:
        assert lines_changed(text) == lines


def test_who_names_a_phase_goes_along_with_its_new_name() -> None:
    text = changed("build", id="make it")

    said = definition(text)
    assert [phase.id for phase in said.phases] == ["plan", "make it", "write"]
    assert said.phases[2].depends_on == ("plan", "make it")
    assert {rule.name: rule.applies_to_phases for rule in said.rules} == {
        "a": ("plan", "write"), "b": ("make it",), "c": ("*",), "s": ("make it", "write"),
    }  # fmt: skip
    assert "# the work" in text
    assert changed("build", id="build") == SOURCE


def test_a_deleted_phase_is_taken_from_those_that_name_it() -> None:
    text = phase_deleted(SOURCE.replace("applies_to_phases: build", "scope: global"), name="build")

    said = definition(text)
    assert [phase.id for phase in said.phases] == ["plan", "write"]
    assert said.phases[1].depends_on == ("plan",)
    assert {rule.name: rule.applies_to_phases for rule in said.rules} == {
        "a": ("plan", "write"), "b": ("*",), "c": ("*",), "s": ("write",),
    }  # fmt: skip


def test_one_name_that_stands_as_a_text_goes_as_an_entry_does() -> None:
    source = SOURCE.replace("[plan]", "plan").replace("[test, lint]", "test")
    assert source != SOURCE
    phase = definition(source).phase("build")
    assert phase is not None

    deleted = phase_deleted(source.replace("[plan, write]", "[write]"), name="plan")
    emptied = phase_changed(source, name="build", values={**phase_values(phase), "gates": []})

    assert [one.depends_on for one in definition(deleted).phases] == [(), ("build",)]
    assert lines_changed(emptied) == ["depends_on: plan"]
    assert "gates" not in emptied


MERGED = """\
name: small
phases:
  - &base {id: a, description: A., is_critical_path: true, score: {threshold: 7}}
  - {<<: *base, id: b}
"""


def test_what_is_merged_in_is_refused_and_stands_in_nothing_elses_way() -> None:
    phase = definition(MERGED).phase("b")
    assert phase is not None
    said = phase_values(phase)

    described = phase_changed(MERGED, name="b", values={**said, "max_attempts": 3})
    with pytest.raises(InputError, match="comes from a merge"):
        phase_changed(MERGED, name="b", values={**said, "is_critical_path": False})

    assert phase_changed(MERGED, name="b", values=said) == MERGED
    assert "{<<: *base, id: b, max_attempts: 3}" in described


def test_a_rule_of_every_phase_names_the_deleted_one_no_more() -> None:
    source = SOURCE.replace(
        "applies_to_phases: build}", "scope: global, applies_to_phases: [build, write]}"
    )

    text = phase_deleted(source, name="build")

    assert "scope: global, applies_to_phases: [write]}" in text
    assert definition(text).rules[1].applies_to_phases == ("*",)


def test_no_rule_is_left_without_a_phase() -> None:
    with pytest.raises(InputError, match="'b' would name no phase any more") as refused:
        phase_deleted(SOURCE, name="build")
    assert refused.value.issues[0].code == "phase.needed"


def test_a_phase_with_rules_of_its_own_is_not_deleted() -> None:
    own = "    rules: [{name: own, check: z, type: regex, applies_to_phases: [plan, write]}]\n"
    source = SOURCE.replace("    max_attempts: 3\n", f"    max_attempts: 3\n{own}")
    assert definition(source).rules[-2].name == "own"

    with pytest.raises(InputError, match="'b', 'own' would name no phase any more, or stand"):
        phase_deleted(source, name="build")


def test_a_rule_under_a_phase_goes_along_with_its_new_name() -> None:
    source = SOURCE.replace("    max_attempts: 3\n", "    rules: [{name: own, check: z}]\n")
    phase = definition(source).phase("build")
    assert phase is not None

    renamed = phase_changed(source, name="build", values={**phase_values(phase), "id": "make"})

    assert {rule.name: rule.applies_to_phases for rule in definition(renamed).rules}["own"] == (
        "make",
    )


def test_the_last_phase_stays() -> None:
    with pytest.raises(InputError, match="at least one phase"):
        phase_deleted("name: x\nphases:\n  - {id: a, description: A.}\n", name="a")


GONE: list[Callable[[], str]] = [
    lambda: phase_deleted(SOURCE, name="gone"),
    lambda: phase_changed(SOURCE, name="gone", values={}),
    lambda: phase_added(SOURCE, values=phase_values(NEW), after="gone"),
]


@pytest.mark.parametrize("change", GONE)
def test_a_phase_that_is_gone_is_a_conflict(change: Callable[[], str]) -> None:
    with pytest.raises(Conflict):
        change()


@pytest.mark.parametrize(
    ("after", "order"),
    [("", ["plan", "build", "write", "new"]), ("plan", ["plan", "new", "build", "write"]),
     ("write", ["plan", "build", "write", "new"])],
)  # fmt: skip
def test_a_phase_is_added_where_it_was_asked_for(after: str, order: list[str]) -> None:
    said = {
        "id": "new", "description": "New.", "deliverables": "a.md \N{EM DASH} A\n\nb.md",
        "gates": ["test"], "score_threshold": 9.0, "depends_on": ["plan"],
    }  # fmt: skip

    text = phase_added(SOURCE, values={**phase_values(NEW), **said}, after=after)

    found = definition(text)
    assert [phase.id for phase in found.phases] == order
    made = found.phase("new")
    assert made is not None
    assert phase_values(made) == {
        **phase_values(NEW), **said, "deliverables": "a.md \N{EM DASH} A\nb.md",
        "score_max_iterations": 10,
    }  # fmt: skip
    assert set(SOURCE.splitlines()) <= set(text.splitlines())
