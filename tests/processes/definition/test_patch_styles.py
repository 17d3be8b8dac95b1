"""Every place of files in many styles, edited in many ways."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from processes.definition.load import load
from processes.definition.patch import Append, Edit, Remove, SetValue, Unpatchable, patch
from tests.processes.patching import (
    BUILT_IN,
    STYLES,
    is_same,
    lines_of,
    meant,
    places,
    read,
    text_of,
)

SHARED = {"patch.alias", "patch.merged", "patch.shared"}
TEXTS = (
    "other words",
    "- a",
    "yes",
    "1.0",
    "null",
    "a: b",
    "x # y",
    "it's",
    'say "no" \\ or so',
    "",
    " led by a space",
    "2026-11-21",
    "*",
    "\N{LINE SEPARATOR} and \a",
)
LONG_TEXTS = ("two\nlines", "two\nlines\n", "  led\nby spaces\n", "trailed \n\n", "\n", "a\r\nb")
OTHERS: tuple[Any, ...] = (7, -1, True, False, None, 1.5, 1e20, [], {})
FILLED = (
    ["a", "b c"],
    {"k": "v", "list": ["m", {"of": "o\np\n"}]},
    [["a"], {"b": []}],
)
RULE = {"name": "new", "check": "one\ntwo\n", "type": "regex", "applies_to_phases": ["*"]}
MAX_PLACES = 40
styles = pytest.mark.parametrize("path", STYLES, ids=lambda path: path.stem)
files = pytest.mark.parametrize("path", [*STYLES, *BUILT_IN], ids=lambda path: path.stem)


@lru_cache(maxsize=1)
def document_of(source: str) -> Any:
    return read(source)


def some(found: Iterable[Any]) -> list[Any]:
    """Of a long file, take places from all over it."""
    every = list(found)
    return every[:: 1 + len(every) // MAX_PLACES]


def patched(source: str, edit: Edit) -> str | None:
    """Return the edited text, checked against what was meant; None: refused as shared."""
    try:
        result = patch(source, [edit])
    except Unpatchable as refused:
        problem = refused.problem
        if problem.code not in SHARED or problem.line < 1 or "&" not in source:
            raise
        return None
    assert is_same(read(result), meant(document_of(source), edit)), edit
    return result


def assert_near(source: str, result: str, path: tuple[str | int, ...]) -> None:
    """Outside the lines of the entry, its own comments and its list's, nothing changed."""
    first, last = lines_of(source, path)
    lines = source.splitlines(keepends=True)
    while first > 0 and lines[first - 1].lstrip().startswith(("#", "-", "?")):
        first -= 1
    before, after = "".join(lines[: max(first - 1, 0)]), "".join(lines[last + 2 :])
    assert result.startswith(before), path
    assert result.endswith(after), path


@styles
def test_each_place_takes_each_kind_of_value(path: Path) -> None:
    source = text_of(path)
    texts, more = cycle(TEXTS), cycle((*LONG_TEXTS, *OTHERS, *FILLED))

    for place, _old in some(places(read(source))):
        for value in (next(texts), next(more)):
            result = patched(source, SetValue(place, value))
            if result is not None:
                assert_near(source, result, place)


@styles
def test_each_entry_can_be_removed(path: Path) -> None:
    source = text_of(path)

    for place, _old in some(places(read(source))):
        result = patched(source, Remove(place))
        if result is not None:
            assert_near(source, result, place)


@styles
def test_each_list_takes_another_entry(path: Path) -> None:
    source = text_of(path)
    lists = [place for place, node in places(read(source)) if isinstance(node, list)]

    for place in some(lists):
        for value in ("z", "- z", "two\nlines\n", RULE, ["u", "v"]):
            result = patched(source, Append(place, value))
            if result is not None:
                assert_near(source, result, place)


@styles
def test_each_mapping_takes_another_key(path: Path) -> None:
    source = text_of(path)
    mappings = [place for place, node in places(read(source)) if isinstance(node, dict)]

    for place in [(), *some(mappings)]:
        for value in ("x", "two\nlines", ["x"], {"z": {"y": 1}}):
            patched(source, SetValue((*place, "brand_new"), value))


@styles
def test_what_stands_there_already_changes_no_byte(path: Path) -> None:
    source = text_of(path)

    for place, old in some(places(read(source))):
        is_merged = "<<" in source and isinstance(old, dict)
        if not is_merged and patched(source, SetValue(place, "something else")) is not None:
            assert patch(source, [SetValue(place, old)]) == source, place


def definition_of(source: str) -> Any:
    loaded = load(source)
    assert loaded.errors == ()
    assert loaded.definition is not None
    return loaded.definition


@files
def test_a_rule_is_renamed_and_nothing_else_is(path: Path) -> None:
    source = text_of(path)
    before = definition_of(source)

    for index, rule in enumerate(before.rules):
        if not rule.path.startswith("verification.rules"):
            continue
        result = patch(source, [SetValue(("verification", "rules", index, "name"), "renamed")])

        after = definition_of(result)
        assert after.rules[index].name == "renamed"
        assert after.rules[:index] + after.rules[index + 1 :] == (
            before.rules[:index] + before.rules[index + 1 :]
        )
        assert after.phases == before.phases


@files
def test_a_rule_is_added(path: Path) -> None:
    source = text_of(path)
    before = definition_of(source)

    after = definition_of(patch(source, [Append(("verification", "rules"), RULE)]))

    own = [rule for rule in after.rules if rule.path.startswith("verification.rules")]
    assert own[-1].name == "new"
    assert own[-1].check.rstrip("\n") == "one\ntwo"
    assert set(before.rules) == set(after.rules) - {own[-1]}


@files
def test_a_rule_is_taken_from_a_phase_and_given_back(path: Path) -> None:
    source = text_of(path)
    before = definition_of(source)
    phases = [phase.id for phase in before.phases]

    for index, rule in enumerate(before.rules):
        place = ("verification", "rules", index, "applies_to_phases")
        if not rule.path.startswith("verification.rules"):
            continue
        for phase in phases[:2]:
            kept = [one for one in rule.applies_to_phases if one not in (phase, "*")]
            toggled = kept if len(kept) < len(rule.applies_to_phases) else [*kept, phase]
            result = patched(source, SetValue(place, toggled))
            if result is not None:
                assert definition_of(result).rules[index].applies_to_phases == tuple(toggled)
