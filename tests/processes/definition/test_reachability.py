from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from processes.definition.patterns import compiled, problem_of
from processes.definition.reachability import MAX_DEPTH, matches_everything, matches_nothing
from tests.tables import check_rows

TEXTS = ["".join(text) for length in range(4) for text in product("ab\n", repeat=length)]
PARTS = [
    "a", "b", r"\n", "[^a]", r"[^\s\S]", "^", "$", r"\A", r"\z", r"\b", r"\B", "(", "(?:", "(?m)",
    "(?s)", ")", "|", "?", "*", "+", "{0}", "{0,2}", "{2}", ".", r"\Qa^\E",
]  # fmt: skip


@check_rows(
    ("pattern", "nothing", "everything"),
    [
        (r"[^\x00-\x{10FFFF}]", True, False),
        ("a^b", True, False),
        (r"x\n^y", True, False),
        ("$a", True, False),
        (r"\z.", True, False),
        ("(?:a^)", True, False),
        ("(?:a^)?b", False, False),
        ("(?:a^|b)", False, False),
        ("(?m)a^b", False, False),
        (r"(?m)x\n^y", False, False),
        (r"\Qa\E^", False, False),
        ("a", False, False),
        ("^$", False, False),
        (r"\b", False, False),
        ("x*", False, True),
        ("(?s).*", False, True),
        ("^", False, True),
        ("(a|)", False, True),
        ("x{0}", False, True),
    ],
)
def test_a_pattern_that_decides_nothing_is_known(
    pattern: str, nothing: bool, everything: bool
) -> None:
    assert (matches_nothing(pattern), matches_everything(pattern)) == (nothing, everything)


@given(st.lists(st.sampled_from(PARTS), max_size=8).map("".join))
def test_what_is_said_of_a_pattern_holds_for_every_short_text(pattern: str) -> None:
    if problem_of(pattern):
        return
    found = {bool(compiled(pattern).search(text)) for text in TEXTS}

    assert not (matches_nothing(pattern) and True in found)
    assert not (matches_everything(pattern) and False in found)


def test_groups_within_many_groups_are_not_looked_into() -> None:
    deep = "(" * (MAX_DEPTH + 1) + "a^b" + ")" * (MAX_DEPTH + 1)

    assert (matches_nothing(deep), matches_everything(deep)) == (False, False)
