from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import check_rows
from verification.engine.grammars.grammar_gaps import GAPS, hide_new_css, hide_signs

PIECES = [
    "@media ", "--a:", "url(", ")", "(", "/*", "*/", '"', "'", "{", "}", ";", "&", "é", "6.5%",
    ":progid:", "<!--", "-->", "<script>", "</script>", "<title>", "<a b='", ">", "<", "str!",
    "---\n", "\n", " ", "\\", "x",
]  # fmt: skip
"""What the patterns look for, so that texts are made of it."""


@pytest.mark.parametrize("language", sorted(GAPS))
@given(text=st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_what_is_hidden_leaves_every_other_sign_at_its_place(language: str, text: str) -> None:
    assert len(GAPS[language](text)) == len(text)


@check_rows("piece", PIECES)
@check_rows("language", sorted(GAPS))
def test_a_text_that_opens_without_end_is_looked_through_once(language: str, piece: str) -> None:
    text = piece * 50_000

    assert len(GAPS[language](text)) == len(text)


@check_rows(
    "text",
    [
        "@media (a { b { c: d } }",
        "a { b: c(; }",
        "a { --x: (; }",
        'a { b: "c; }',
        "a { b: c; /* d }",
    ],
)
def test_a_mistake_in_a_stylesheet_stays_in_sight(text: str) -> None:
    assert hide_new_css(text) == text


@check_rows("text", ["<p>a</p", "<li>a</li>li>b</li>", "<<p>a</p>"])
def test_a_mistake_in_a_page_stays_in_sight(text: str) -> None:
    assert hide_signs(text) == text
