from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.merging import merged

BASE = "a\nb\nc\nd\ne\n"
texts = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "d\n"]), max_size=8).map("".join)


@pytest.mark.parametrize(
    ("mine", "theirs", "both"),
    [
        ("A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n", "A\nb\nc\nd\nE\n"),
        ("a\nb\nc\nd\ne\nf\n", "a\nc\nd\ne\n", "a\nc\nd\ne\nf\n"),
        ("0\na\nb\nc\nd\ne\n", "a\nb\nc\nD\ne\n", "0\na\nb\nc\nD\ne\n"),
        ("a\nB\nc\nd\ne\n", "a\nB\nc\nd\ne\n", "a\nB\nc\nd\ne\n"),
        ("a\nB\nc\nd\ne\n", "a\nX\nc\nd\ne\n", None),
        ("a\nB\nc\nd\ne\n", "a\nb\nC\nd\ne\n", None),
        ("a\nb\nc\nd\ne\nmine\n", "a\nb\nc\nd\ne\ntheirs\n", None),
    ],
)
def test_changes_that_lie_apart_are_put_together(mine: str, theirs: str, both: str | None) -> None:
    assert merged(BASE, mine, theirs) == both
    assert merged(BASE, theirs, mine) == both


@given(texts, texts)
def test_one_change_alone_is_the_result(base: str, changed: str) -> None:
    assert merged(base, changed, base) == changed
    assert merged(base, base, changed) == changed


@given(texts, texts, texts)
def test_it_does_not_matter_who_came_first(base: str, mine: str, theirs: str) -> None:
    assert merged(base, mine, theirs) == merged(base, theirs, mine)


def test_texts_of_many_lines_are_not_put_together() -> None:
    assert merged("a\n" * 5000, "a\n" * 5000, "b\n") is None
