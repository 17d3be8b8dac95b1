"""Two texts, and two definitions, beside each other."""

from __future__ import annotations

from typing import Any

import pytest
from django.template.loader import render_to_string
from hypothesis import given
from hypothesis import strategies as st

from processes.comparing import Section, Shown, compared
from processes.definition.load import load
from processes.side_by_side import MAX_FOLDED_LINES, Line, Stretch, beside
from processes.texts import Piece
from tests.processes.files import SMALL


def text_of(line: Line | None) -> str | None:
    return f"{line.number} " + "".join(piece.text for piece in line.pieces) if line else None


def rows(old: str, new: str) -> list[tuple[str, str | None, str | None]]:
    found = [row for stretch in beside(old, new) or () for row in stretch.rows]
    return [(row.kind, text_of(row.old), text_of(row.new)) for row in found]


def test_a_changed_line_stands_beside_what_it_was_and_both_are_counted() -> None:
    assert rows("a: 1\nsame words here: old\nc\n", "a: 1\nb\nsame words here: new\nc\n") == [
        ("same", "1 a: 1", "1 a: 1"),
        ("new", None, "2 b"),
        ("changed", "2 same words here: old", "3 same words here: new"),
        ("same", "3 c", "4 c"),
    ]


def test_lines_without_anything_in_common_stand_beside_each_other_in_order() -> None:
    assert rows("alpha\nbeta\nend\n", "one\nend\n") == [
        ("other", "1 alpha", "1 one"),
        ("old", "2 beta", None),
        ("same", "3 end", "2 end"),
    ]


def test_within_a_changed_line_only_the_words_that_differ_are_marked() -> None:
    [stretch] = beside("every figure names its source", "every figure names one source") or []

    (row,) = stretch.rows
    assert row.old is not None
    assert row.new is not None
    assert [piece for piece in row.old.pieces if piece.kind != "same"] == [Piece("del", "its")]
    assert [piece for piece in row.new.pieces if piece.kind != "same"] == [Piece("ins", "one")]


def test_what_is_the_same_is_folded_but_for_three_lines_at_each_change() -> None:
    old = [f"line {number}" for number in range(1, 101)]
    new = [*old[:49], "other", *old[50:]]

    found = beside("\n".join(old), "\n".join(new)) or ()

    assert [(one.is_folded, one.count) for one in found] == [(True, 46), (False, 7), (True, 47)]
    assert sum(len(one.rows) for one in found) == 100


def test_a_page_carries_no_more_folded_lines_than_its_bound() -> None:
    old = "".join(f"line {number}\n" for number in range(3000))

    found = beside(old, old + "more\n") or ()

    assert [(one.is_folded, one.count, len(one.rows)) for one in found] == [
        (True, 2997, 0),
        (False, 4, 4),
    ]
    assert MAX_FOLDED_LINES < 2997


def test_only_texts_of_many_lines_are_not_compared() -> None:
    assert beside("a\n" * 5000, "b\n") is None
    assert beside("a\r\nb", "a\nb\n") == []


LINES = st.text(alphabet="ab \n\r", max_size=60)


@given(LINES, LINES)
def test_each_side_read_alone_is_its_text(old: str, new: str) -> None:
    found: list[Stretch] = beside(old, new) or []

    shown = [row for one in found for row in one.rows]
    for text, lines in ((old, [row.old for row in shown]), (new, [row.new for row in shown])):
        said = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
        numbered = [f"{at} {line}" for at, line in enumerate(said.split("\n"), 1)]
        if found and text:
            assert [text_of(line) for line in lines if line] == numbered


def between(old: str, new: str) -> Shown:
    return compared(load(old).definition, load(new).definition, old, new, names=("v1", "v2"))


def fields(section: Section) -> dict[str, tuple[str, str]]:
    (entry,) = section.entries
    sides: dict[str, tuple[str, str]] = {}
    for field in entry.fields:
        before, after = ("".join(one.text for one in side) for side in (field.before, field.after))
        sides[field.name] = before, after
    return sides


@pytest.mark.parametrize(
    ("old", "new", "field", "sides"),
    [
        ("check: TODO", "check: TBD", "check", ("TODO", "TBD")),
        ("[build]\n", "[build, check]\n", "applies_to_phases", ("build", "build, check")),
        ("[build]\n", "[check, build]\n", "applies_to_phases", ("build", "check, build")),
        ("[build]\n", "[check]\n", "applies_to_phases", ("build", "check")),
        ("[build]\n", "[build]\n      suggestion: Do\n", "suggestion", ("", "Do")),
    ],
)
def test_a_changed_field_has_its_old_and_its_new_value_side_by_side(
    old: str, new: str, field: str, sides: tuple[str, str]
) -> None:
    at = SMALL.rindex(old)
    shown = between(SMALL, SMALL[:at] + new + SMALL[at + len(old) :])

    assert fields(shown.sections[0])[field] == sides


def test_of_a_list_only_the_entries_that_came_are_marked() -> None:
    at = SMALL.rindex("[build]")
    shown = between(SMALL, f"{SMALL[:at]}[check, build]\n")

    (field,) = shown.sections[0].entries[0].fields
    assert field.before == (Piece("same", "build"),)
    assert field.after == (Piece("ins", "check"), Piece("ins", ", "), Piece("same", "build"))


def test_a_rule_that_came_or_went_shows_all_that_it_says() -> None:
    without = SMALL.split("verification:")[0]

    came, went = between(without, SMALL), between(SMALL, without)

    said = {name: after for name, (_, after) in fields(came.sections[0]).items()}
    assert said["check"] == "TODO"
    assert said["applies_to_phases"] == "build"
    assert {name: before for name, (before, _) in fields(went.sections[0]).items()} == said


def test_hostile_text_stays_text_on_either_side() -> None:
    old, new = "<b>one</b> \u202etwo and more", "<b>one</b> \u202etwo & more"

    lines: Any = beside(old, new)
    page = render_to_string("processes/_diff.html", {"lines": lines, "old_name": "a"})

    assert "<b>" not in page
    assert "&lt;b" in page
    assert "\u202e" not in page
    assert "<del>and</del>" in page
    assert "<ins>&amp;</ins>" in page
