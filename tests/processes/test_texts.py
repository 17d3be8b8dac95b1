from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.texts import WordDiffs, with_line_ends_of

MIXED = "a\r\nb\nc\r\nd"


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("a\nb\n", "a\r\nc\r\n", "a\nc\n"),
        ("a\r\nb\r\n", "a\nb\nc\n", "a\r\nb\r\nc\r\n"),
        (MIXED, "a\r\nb\r\nc\r\nd", MIXED),
        (MIXED, "a\r\nb\r\nX\r\nc\r\nd", "a\r\nb\nX\r\nc\r\nd"),
        (MIXED, "A\r\nb\r\nX\r\nc\r\nD", "A\r\nb\nX\r\nc\r\nD"),
        ("a\rb\rc", "a\nB\nc", "a\rB\rc"),
        ("a", "a\r\nb\r\n", "a\nb\n"),
        ("a\n", "", ""),
        ("", "a\r\n", "a\n"),
    ],
)
def test_lines_keep_their_ends_through_a_browser(old: str, new: str, kept: str) -> None:
    assert with_line_ends_of(old, new) == kept


@given(st.text(alphabet="ab\r\n", max_size=40))
def test_a_text_that_a_browser_only_carried_is_the_same(text: str) -> None:
    carried = text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")

    assert with_line_ends_of(text, carried) == text


@given(st.text(alphabet="ab\r\n", max_size=20), st.text(alphabet="ab\r\n", max_size=20))
def test_only_line_ends_are_changed(old: str, new: str) -> None:
    assert with_line_ends_of(old, new).splitlines() == new.splitlines()


def test_a_change_of_a_word_is_shown_as_that() -> None:
    pieces = WordDiffs().of("Every figure names its source", "Every figure names its own source")

    assert [(piece.kind, piece.text) for piece in pieces if piece.kind != "same"] == [
        ("ins", "own ")
    ]


def test_texts_beyond_the_allowance_of_a_page_stand_whole() -> None:
    words = WordDiffs(pairs=100)

    told = [[piece.kind for piece in words.of("a b c d", "a b c e")] for _ in range(3)]

    assert told == [["same", "del", "ins"], ["same", "del", "ins"], ["del", "ins"]]


def test_texts_without_anything_in_common_stand_whole() -> None:
    assert [piece.kind for piece in WordDiffs().of("alpha beta", "gamma delta epsilon")] == [
        "del",
        "ins",
    ]
