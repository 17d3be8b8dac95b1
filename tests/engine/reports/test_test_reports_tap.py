"""What runners tell of a failed test by TAP: in the block below it, or in comments."""

from __future__ import annotations

import pytest

from tests.engine.reports.test_test_reports import TAP, recorded
from verification.engine.reports.testing import read_tests


def test_a_failure_of_tape_has_its_place_and_one_of_ava_what_was_logged() -> None:
    by_tape, by_ava = (
        next(
            one
            for one in read_tests(TAP, recorded(f"recorded/{runner}/calc.tap")).cases
            if one.status.is_bad
        )
        for runner in ("tape", "ava")
    )

    assert (by_tape.path, by_tape.line) == ("test/a.js", 3)
    assert by_ava.message.startswith("  x\n    name: AssertionError")
    assert by_ava.line is None


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("at: 'a b.js:6:5'", ("a b.js", 6)),
        ("at: Test.<anonymous> (/workspace/a/it.js:6:5)", ("a/it.js", 6)),
        ("at: Test.<anonymous> (/deps/x/it.js:6:5)", ("", None)),
        ("at: >-", ("", None)),
        ("at: 6:5", ("", None)),
    ],
)
def test_a_place_that_tap_names_is_one_of_the_work(
    said: str, place: tuple[str, int | None]
) -> None:
    lines = f"not ok 1 a\n  ---\n    {said}\n  ...\n1..1\n"

    [failed] = read_tests(TAP, lines.encode()).cases

    assert (failed.path, failed.line) == place


def test_a_failure_of_bats_has_its_place_in_the_comments_below_it() -> None:
    failed = [
        one
        for one in read_tests(TAP, recorded("recorded/bats/calc.tap"), "a").cases
        if one.status.is_bad
    ]

    assert [(one.name, one.path, one.line) for one in failed] == [
        ("subtracts", "a/test/calc.bats", 10),
        ("is the same", "a/test/calc.bats", 14),
    ]
    assert failed[0].message.endswith("it said: three # of them")


def test_comments_of_tap_that_stand_below_no_failure_tell_nothing_of_one() -> None:
    lines = "1..2\nnot ok 1 a\nok 2 b\n# in test file b.bats, line 3\n"

    [failed, _] = read_tests(TAP, lines.encode()).cases

    assert (failed.message, failed.path) == ("", "")
