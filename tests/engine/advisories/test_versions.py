"""Versions stand in the order that their own tools give them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import check_rows
from verification.engine.advisories.model import Ecosystem
from verification.engine.advisories.versions import NoVersion, key_of

ORDERS = {
    Ecosystem.PYPI: "1.0.dev1 1.0a1 1.0rc1 1.0 1.0.post1 1.1 1.10 1!0.1",
    Ecosystem.NPM: "0.9.9 1.0.0-1 1.0.0-alpha 1.0.0-alpha.1 1.0.0-beta.2 1.0.0-beta.11 1.0.0 1.2.0 1.10.0",
    Ecosystem.GO: "v0.0.0-20190308221718-c2843e01d9a2 v0.0.1 v1.0.0-rc.1 v1.0.0 v2.0.0+incompatible",
    Ecosystem.CRATES: "0.1.0 0.1.1-alpha 0.1.1 0.2.0",
    Ecosystem.RUBYGEMS: "1.0.a 1.0.b1 1.0.pre 1.0 1.0.0.1 1.0.1.rc1 1.0.1 1.0.10",
    Ecosystem.PACKAGIST: "1.0.0-alpha1 1.0.0-alpha2 1.0.0-beta v1.0.0-RC1 1.0.0 1.0.0-p1 1.0.0.1 v1.2",
    Ecosystem.NUGET: "1.0.0-alpha 1.0.0-Beta 1.0.0-rc.2 1.0.0-rc.10 1.0.0 1.0.0.1 1.0.1",
    Ecosystem.MAVEN: "1-alpha-1 1-beta 1-m2 1-rc1 1-SNAPSHOT 1.0 1-sp 1-foo 1-1 1.1 1.10 2.0.0-jre",
}
SAME = [
    (Ecosystem.PYPI, "1.0", "1.0.0"),
    (Ecosystem.PYPI, "2.0+cpu", "2.0"),
    (Ecosystem.NPM, "1.0.0", "v1.0.0+build"),
    (Ecosystem.RUBYGEMS, "1.0", "1.0.0"),
    (Ecosystem.RUBYGEMS, "1.0.a", "1.a"),
    (Ecosystem.PACKAGIST, "v1.2", "1.2.0.0"),
    (Ecosystem.NUGET, "1.0-RC", "1.0.0.0-rc"),
    (Ecosystem.MAVEN, "1", "1.0.0.Final"),
    (Ecosystem.MAVEN, "1.0-a1", "1-alpha-1"),
    (Ecosystem.MAVEN, "1-cr2", "1-RC2"),
]
NONE = [
    "",
    "latest",
    "1.0.0 || 2",
    "git+https://example.com/a",
    "\u0661.\u0660",
    "1" * 101,
    "*",
    "^1.0.0",
]


@pytest.mark.parametrize("ecosystem", list(Ecosystem))
def test_versions_of_an_ecosystem_are_in_its_own_order(ecosystem: Ecosystem) -> None:
    keys = [key_of(ecosystem, one) for one in ORDERS[ecosystem].split()]

    assert all(left < right for left, right in pairwise(keys))


@pytest.mark.parametrize(("ecosystem", "one", "other"), SAME)
def test_one_version_is_written_in_several_ways(ecosystem: Ecosystem, one: str, other: str) -> None:
    assert key_of(ecosystem, one) == key_of(ecosystem, other)


@check_rows("ecosystem", list(Ecosystem))
@check_rows("text", NONE)
def test_what_is_no_version_is_never_guessed_at(ecosystem: Ecosystem, text: str) -> None:
    with pytest.raises(NoVersion):
        key_of(ecosystem, text)


PIECES = ["0", "1", "2", "10", ".", ".", "-", "a", "alpha", "rc", "beta", "final", "+", "v", "pre"]
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join)


@given(ecosystem=st.sampled_from(Ecosystem), texts=st.tuples(TEXTS, TEXTS, TEXTS))
def test_any_three_versions_are_in_one_order(
    ecosystem: Ecosystem, texts: tuple[str, str, str]
) -> None:
    try:
        first, second, third = sorted(key_of(ecosystem, one) for one in texts)
    except NoVersion:
        return

    assert not second < first
    assert not third < second
    assert not third < first
    assert (first == third) <= (first == second)
