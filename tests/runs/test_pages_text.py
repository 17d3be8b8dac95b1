"""Marked lines of submitted text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.runs.artefacts import (
    MAX_DIFF_LINES,
    MAX_LINE_CHARACTERS,
    Mark,
    changed_paths,
    diff_of,
    shown_file,
    shown_text,
)


def marked(text: str, mark: Mark) -> list[tuple[int, str]]:
    return [
        (line.number, piece.text)
        for line in shown_text(text, [mark]).lines
        for piece in line.pieces
        if piece.is_marked
    ]


@pytest.mark.parametrize(
    ("mark", "found"),
    [
        (Mark("hard", 2, 1), [(2, "b")]),
        (Mark("hard", 2, None, "eta"), [(2, "eta")]),
        (Mark("hard", None, None, "gamma"), [(3, "gamma")]),
        (Mark("hard", 2, None, "beta\ngam"), [(2, "beta"), (3, "gam")]),
        (Mark("hard", 2, 99), []),
        (Mark("hard", 99, 1), []),
        (Mark("hard", None, None, "not there"), []),
    ],
)
def test_a_mark_lies_on_its_place(mark: Mark, found: list[tuple[int, str]]) -> None:
    assert marked("alpha\nbeta\ngamma\n", mark) == found


def test_the_hardest_finding_colours_the_line() -> None:
    marks = [Mark("hard", 1), Mark("observe", 1), Mark("advisory", 1)]

    assert shown_text("x\n", marks).lines[0].enforcement == "hard"


def test_a_window_says_what_it_leaves_out() -> None:
    shown = shown_text("\n".join("abcdefgh"), first=3, limit=2)

    assert [line.number for line in shown.lines] == [3, 4]
    assert (shown.before, shown.after) == (2, 4)


def test_a_very_long_line_is_cut_and_says_so() -> None:
    line = shown_text("x" * (MAX_LINE_CHARACTERS + 7)).lines[0]

    assert line.hidden_characters == 7


def test_windows_line_ends_and_a_byte_order_mark_are_not_shown() -> None:
    shown = shown_file(b"\xef\xbb\xbfa\r\nb\r\n")

    assert [line.pieces[0].text for line in shown.lines] == ["a", "b"]


def test_too_many_lines_are_not_compared() -> None:
    assert diff_of("", "x\n" * (MAX_DIFF_LINES + 1)).refusal


def test_paths_are_added_removed_or_changed() -> None:
    assert changed_paths({"a": "1", "b": "1", "c": "1"}, {"b": "1", "c": "2", "d": "1"}) == [
        ("a", "removed"),
        ("c", "changed"),
        ("d", "added"),
    ]


@given(
    text=st.text(max_size=200),
    marks=st.lists(
        st.builds(
            Mark,
            st.sampled_from(["hard", "advisory", "observe"]),
            st.none() | st.integers(0, 12),
            st.none() | st.integers(0, 30),
            st.text(max_size=8),
        ),
        max_size=4,
    ),
)
def test_marking_never_changes_the_text(text: str, marks: list[Mark]) -> None:
    lines = shown_text(text, marks).lines

    told = ["".join(piece.text for piece in line.pieces) for line in lines]

    expected = text.split("\n")[:-1] if text.endswith("\n") else text.split("\n")
    assert told == ([line.removesuffix("\r") for line in expected] if text else [])
