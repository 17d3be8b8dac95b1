from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.tables import check_rows
from verification.runs.gating.terminal import MAX_LINE_CHARACTERS, lines_of, plain, read, split

RED, BOLD, OFF = "\x1b[31m", "\x1b[1m", "\x1b[0m"


def html(text: str) -> list[str]:
    return [one.html for one in lines_of(text)]


@check_rows(
    ("written", "shown"),
    [
        ("", []),
        ("a\nb\n", ["a", "b"]),
        ("a\r\n\r\nb", ["a", "", "b"]),
        ("10 %\r 99 %\r", [" 99 %"]),  # a bar that is written over
        (f"{RED}no{OFF} yes", ['<span class="t-red">no</span> yes']),
        (f"{RED}{BOLD}no{OFF}", ['<span class="t-red t-bold">no</span>']),
        (f"{BOLD}a\x1b[22mb", ['<span class="t-bold">a</span>b']),
        (f"{RED}a\nb", ['<span class="t-red">a</span>', '<span class="t-red">b</span>']),
        (f"{RED}gone\rstays", ['<span class="t-red">stays</span>']),
        ("\x1b[38;5;31ma\x1b[48;2;31;31;31mb", ["ab"]),  # none of the eight is plain
        ("\x1b[2K\x1b[1Aup\x1b]0;title\x07\x1b(Bdown", ["updown"]),
        ("\x1b[", ['<span class="ctl">U+001B</span>[']),  # its rest is still to come
        (f"{RED}<b>{OFF}&", ['<span class="t-red">&lt;b&gt;</span>&amp;']),
        ("a\u202eb", ['a<span class="ctl">U+202E</span>b']),
    ],
)
def test_what_stood_on_a_terminal_is_shown_as_it_stood(written: str, shown: list[str]) -> None:
    assert html(written) == shown


def test_a_long_line_says_how_much_of_it_is_not_shown() -> None:
    (line,) = lines_of(f"{'x' * MAX_LINE_CHARACTERS}{RED}{'y' * 1_234}")

    assert line.html.endswith('x<i class="faint"> … 1,234 characters more</i>')
    assert "y" not in line.html


def test_only_a_log_that_was_cut_has_a_line_that_says_so() -> None:
    text = "head\n… 4000000 bytes left out …\ntail\n"

    assert [one.left_out for one in read(split(text), is_cut=True)] == [0, 4_000_000, 0]
    assert [one.left_out for one in lines_of(text)] == [0, 0, 0]


def test_plain_text_is_what_is_left_without_what_steers_a_terminal() -> None:
    assert plain(f"{RED}failed\x1b[39;49m {BOLD}a.py{OFF}") == "failed a.py"


@given(st.text(alphabet="\x1b[]0;1m38:5\r\n<&ax\x07\u202e", max_size=80))
def test_whatever_is_written_is_text(written: str) -> None:
    for line in html(written):
        bare = line.replace("</span>", "").replace('<span class="ctl">', "")
        assert "\x1b" not in bare
        assert "\u202e" not in bare
        assert "<a" not in bare
