"""Which rule of a file stands in another one under a new name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from processes.definition.load import load
from processes.definition.model import Definition, Expect
from processes.definition.renaming import renamed
from tests.tables import check_rows

HEAD = "name: p\nphases: [{id: a, description: b}]\nverification:\n  rules:\n"


def rules(*said: str) -> Definition:
    """Each `name check`, a `name check / description`, or `name ? instruction`."""
    lines = []
    for one in said:
        told, _, description = one.partition(" / ")
        name, check = told.split(" ", 1)
        kind = "llm" if check.startswith("?") else "regex"
        lines.append(f"  - {{name: {name}, check: '{check}', type: {kind}, ")
        lines.append(f"     description: '{description}', applies_to_phases: ['*']}}\n")
    definition = load(HEAD + "".join(lines)).definition
    assert definition
    return definition


A, B, C = "a TODO|TBD", "b Revenue", "c N/A"


@check_rows(
    ("new", "found"),
    [
        ([A, B, C], {}),
        ([C, A, "b2 Revenue"], {"b2": "b"}),  # wherever it stands now
        ([A, "b2 Revenues", C], {"b2": "b"}),  # the only one between two that stayed, and alike
        ([A, "b2 ^x$ / of B", C], {}),
        ([A, C, "b2 Revenues"], {}),  # alike, and elsewhere
        ([A, "b2 ? Revenues", C], {}),
        ([A, "b2 Revenue", "b3 Revenue", C], {}),  # which of the two?
        ([A, "b2 Revenues", "b3 Revenuee", C], {}),
        ([A, "b2 Revenue", "b2 Revenue", C], {}),
        ([A, B, C, "d Revenue"], {}),  # a copy of one that stayed
        ([B, A, C], {}),
        (["a2 TODO|TBD", "b2 Revenue", C], {"a2": "a", "b2": "b"}),
    ],
)
def test_a_renamed_rule_is_known_where_it_can_be_no_other(
    new: list[str], found: dict[str, str]
) -> None:
    assert renamed(rules(A, B, C), rules(*new)) == found
    assert renamed(rules(*new), rules(A, B, C)) == {old: name for name, old in found.items()}


def test_what_it_is_for_makes_two_alike() -> None:
    assert renamed(rules("a TODO / No gaps"), rules("b ^$ / No gaps")) == {"b": "a"}


@pytest.mark.parametrize(
    ("old", "new"),
    [(r"a \bTODO\b", r"b \bWIP\b"), (r"a (?i)\b(foo)\b", r"b (?i)\b(bar)\b"), ("a N/A", "b NaN")],
)
def test_signs_of_patterns_make_nothing_alike(old: str, new: str) -> None:
    assert renamed(rules(old), rules(new)) == {}
    assert renamed(rules(old), rules(old.replace("a ", "b ", 1))) == {"b": "a"}


def test_what_must_match_is_no_new_name_of_what_must_not() -> None:
    old, new = rules("a Revenue 2026"), rules("b Revenue 2027")
    assert renamed(old, new) == {"b": "a"}
    turned = replace(new, rules=(replace(new.rules[0], expect=Expect.MATCH),))

    assert renamed(old, turned) == {}
