"""Text as a person reads it, and where each part of it stands in the original."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition import visible_text as module
from processes.definition.patterns import compiled
from processes.definition.visible_text import spans_in_both, visible_text
from tests.tables import check_rows
from tests.tiers import long_search

PARTS = st.sampled_from(
    [
        "a", "B", "7", " ", "\n", "\r", "\\", "\\n", '\\"', "\\u0041", "\\\\u0042", "\\ud83d\\ude00",
        "\\ud83d", "\\u001b[31m", "\\u200b", "\\uff21", "\x1b[01;31m", "\x1b[m", "\x1b[K", "\x1b[5C",
        "\x1b]8;;x\x07", "\x1b", "\x9b1m", "\u200b", "\u00ad", "\ufeff", "\uff21", "\ufb01", "\u00bd",
        "\ufdfa", "e\u0301", "\u0301", "\u1112\u1161\u11ab", "é", "한", "😀", "\uff0c", "\U0001d400",
    ]
)  # fmt: skip
TEXTS = st.lists(PARTS, max_size=25).map("".join)


def text_as_read(text: str) -> str:
    visible = visible_text(text.encode())
    return text if visible is None else visible.content.decode()


@check_rows(
    ("text", "expected"),
    [
        ("A\u200bK\u00adI\ufeffA", "AKIA"),
        ("\u202eAK\u2060IA\U000e0041", "AKIA"),
        ("\uff21\uff2b\U0001d408A", "AKIA"),
        ("\ufb01le", "file"),
        ("cafe\u0301", "café"),
        ("\u1112\u1161\u11ab", "한"),
        ("a\u00a0b", "a b"),
        ("KEY=\x1b[01;31m\x1b[KAKIA\x1b[m\x1b[KX", "KEY=AKIAX"),
        ("\x1b]8;;https://a.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b(Bbold\x9b0m", "bold"),
        ("\\u0041KIA", "AKIA"),
        ("\\\\u0041KIA", "AKIA"),
        ("\\u001b[31mAK\\u200bIA\\uff21", "AKIAA"),
        ("\\ud83d\\ude00", "😀"),
        ('{\\"a\\": \\"https:\\/\\/b\\"}', '{"a": "https://b"}'),
        ("a\\tb", "a\tb"),
        # What a person takes for a gap, or for a sign of its own, stays so.
        ("AK\x1b[3CIA", "AK IA"),
        ("AK\\nIA\\u000aX", "AK\rIA\rX"),
        ("10\u00b2 1\u00bd \u2460", "10\u00b2 1\u00bd \u2460"),
        ("\u3164", "\u1160"),
        # Nothing is hidden, or nobody can tell what is.
        ("\\ud83d \\u0000 \\x41 \\b", "\\ud83d \\u0000 \\x41 \\b"),
        ("\x1b[31", "\x1b[31"),
        ("\ufdfa", "\ufdfa"),
    ],
    ids=repr,
)
def test_a_text_is_shown_as_a_person_reads_it(text: str, expected: str) -> None:
    assert text_as_read(text) == expected


@pytest.mark.parametrize("text", ["", "plain\ntext", "é한😀", "C:\\dir\\x41"])
def test_a_text_that_hides_nothing_is_not_read_twice(text: str) -> None:
    assert visible_text(text.encode()) is None


@long_search(500)
@given(TEXTS, st.sampled_from([4, 32_768]))
def test_each_visible_character_is_found_in_the_original(text: str, block_bytes: int) -> None:
    content = text.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK_BYTES", block_bytes)
        visible = visible_text(content)
    if visible is None:
        return

    at = end_before = 0
    start_before = 0
    for character in visible.content.decode():
        size = len(character.encode())
        start, end = visible.span(at, at + size)
        source = content[start:end].decode()
        assert character in text_as_read(source), "the original shows the character there"
        assert start >= start_before
        if start >= end_before:
            assert set(text_as_read(content[end_before:start].decode())) == set(), (
                "nothing is left out"
            )
        at, start_before, end_before = at + size, start, end
    assert visible.span(0, len(visible.content))[1] <= len(content)


@given(TEXTS, TEXTS)
def test_lines_stay_lines(text: str, other: str) -> None:
    assert text_as_read(f"{text}\n{other}").count("\n") == f"{text}\n{other}".count("\n")


@check_rows(
    ("pattern", "text", "expected"),
    [
        ("AKIA", "AKIA A\u200bKIA", ["AKIA", "A\u200bKIA"]),
        ("AKIA", "\u200bAKIA\u200b", ["AKIA"]),
        ("AK[IJ]+A?", "AKI\u200bA", ["AKI"]),
        ("\u200b", "A\u200bKIA", ["\u200b"]),
        ("(?m)^b", "a\nx\u200b\nb", ["b"]),
        ("x*", "\u200bx", ["", "x", ""]),
        ("A", "\\u0041\\u0041", ["\\u0041", "\\u0041"]),
    ],
    ids=repr,
)
def test_matches_of_both_texts_are_told_once(pattern: str, text: str, expected: list[str]) -> None:
    content = text.encode()
    visible = visible_text(content)
    assert visible is not None

    found = list(spans_in_both(compiled(pattern), content, visible, limit=99))

    assert [content[start:end].decode() for start, end in found] == expected


def test_no_text_grows_without_bound() -> None:
    for text in ("\ufdfa" * 1_000, "\u3300" * 1_000, "\\u3300" * 1_000):
        assert len(text_as_read(text).encode()) <= 4 * len(text.encode())


def test_a_long_line_is_read_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK_BYTES", 64)
    monkeypatch.setattr(module, "MAX_BLOCK_BYTES", 256)
    text = "é" * 1_000 + ", " + "A\u200bKIA" + "é" * 1_000
    visible = visible_text(text.encode())

    assert visible is not None
    at = visible.content.index(b"AKIA")
    start, end = visible.span(at, at + 4)
    assert text.encode()[start:end].decode() == "A\u200bKIA"


@pytest.mark.extended
def test_every_character_with_another_form_is_known() -> None:
    known = module._patterns().alone
    for code in (*range(0xA0, 0xD800), *range(0xE000, 0x110000)):
        if module._has_other_form(chr(code)):
            assert known.fullmatch(chr(code)), f"{code:X} {unicodedata.name(chr(code), '')}"
