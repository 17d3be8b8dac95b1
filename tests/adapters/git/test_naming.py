from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import check_rows
from verification.adapters.git.naming import (
    first_collision,
    folded,
    is_branch,
    is_modules,
    unsafe_because,
)


@check_rows(
    "path",
    [
        "",
        "/etc/passwd",
        "../x",
        "a/../../x",
        "a/./x",
        "a//x",
        "a/",
        ".git/config",
        "a/.git/hooks/pre-commit",
        ".GIT/config",
        ".Git",
        "git~1/config",
        "GIT~1",
        "GIT~2",
        ".git /config",
        ".git. ./config",
        ".git::$INDEX_ALLOCATION/config",
        ".git:x",
        ".g\u200cit/config",
        ".gi\ufefft",
        "\u202e.git",
        ".\uff47it/config",
        "a\\..\\..\\x",
        ".git\\config",
        "a\nb",
        "a\tb",
        "a\x7fb",
        "a\x85b",
        "safe\u202etxt.exe",
        "x" * 4_097,
        "/".join("a" * 101),
    ],
)
def test_a_path_that_could_do_harm_where_it_is_laid_out_is_unsafe(path: str) -> None:
    assert unsafe_because(path)


@check_rows(
    "path",
    [
        "a", "a/b.txt", ".github/workflows/ci.yml", ".gitignore", ".gitattributes", "git", "digit~1",
        ".git-blame-ignore-revs", "..a/b..", "a b/c", "Ünïcode/日本.txt", "a:b", ".gitx", "x.git/a",
    ],
)  # fmt: skip
def test_an_ordinary_path_is_safe(path: str) -> None:
    assert unsafe_because(path) == ""


@pytest.mark.parametrize(
    "path", [".gitmodules", ".GitModules", "gitmod~1", "GI7EBA~1", ".gitmodules "]
)
def test_the_list_of_submodules_is_known_by_any_spelling(path: str) -> None:
    assert is_modules(path)


@pytest.mark.parametrize(
    ("there", "added"),
    [
        ("readme", "README"),
        ("Straße", "STRASSE"),
        ("caf\u00e9", "cafe\u0301"),
        ("src/a", "SRC/b"),
        ("a", "A/b"),
        ("x\u200cy", "xy"),
    ],
)
def test_what_some_systems_hold_for_one_name_collides(there: str, added: str) -> None:
    assert first_collision([there], [added])
    assert first_collision([], [there, added])


def test_what_collided_before_is_not_the_change_s() -> None:
    assert first_collision(["net/xt_DSCP.h", "net/xt_dscp.h"], ["net/new.h"]) is None


@given(
    st.lists(
        st.text(st.characters(exclude_characters="/"), min_size=1, max_size=4),
        min_size=1,
        max_size=4,
    )
)
def test_no_path_collides_with_itself(parts: list[str]) -> None:
    path = "/".join(parts)

    assert first_collision([path], [path]) is None


@given(st.text(max_size=8))
def test_folding_ignores_case_and_composition(text: str) -> None:
    for form in ("NFC", "NFD"):
        assert folded(unicodedata.normalize(form, text)) == folded(text)
    assert folded(folded(text)) == folded(text)


@pytest.mark.parametrize("name", ["main", "a/b", "loomverify/review/2026-03-01/x", "v1.2", "ünï"])
def test_a_branch_has_a_name_as_git_takes_it(name: str) -> None:
    assert is_branch(name)


@check_rows(
    "name",
    ["", "-x", "a..b", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "/a", "a/", "a//b", "a/.b",
     ".a", "a.lock", "a.lock/b", "a.", "@", "HEAD", "a@{0}", "a\n", "x" * 251],
)  # fmt: skip
def test_other_names_of_branches_reach_no_command(name: str) -> None:
    assert not is_branch(name)
