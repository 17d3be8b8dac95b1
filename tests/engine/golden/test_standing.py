from __future__ import annotations

import itertools

import pytest

from tests.tables import check_rows
from verification.engine.golden.standing import Before, Change, Standing, change_of, standing_of

HELD, FAILING, NOT_JUDGED = Standing.HELD, Standing.FAILING, Standing.NOT_JUDGED


@check_rows(
    ("now", "ever_held", "last", "change"),
    [
        (HELD, False, None, "held"),
        (HELD, False, FAILING, "fixed"),
        (HELD, True, FAILING, "fixed"),
        (HELD, True, HELD, "held"),
        (FAILING, False, None, "new"),
        (FAILING, False, FAILING, "still_failing"),
        (FAILING, True, None, "regressed"),
        (FAILING, True, HELD, "regressed"),
        (FAILING, True, FAILING, "regressed"),
        (NOT_JUDGED, False, None, "not_judged"),
        (NOT_JUDGED, True, HELD, "not_judged"),
        (NOT_JUDGED, True, FAILING, "not_judged"),
    ],
)
def test_what_a_standing_means_beside_what_held_before(
    now: Standing, ever_held: bool, last: Standing | None, change: str
) -> None:
    assert change_of(now, Before(ever_held, last)) == change


def test_no_regression_is_forgiven_by_being_replayed_again() -> None:
    told = []
    before = Before(ever_held=True, last=HELD)
    for now in (FAILING, FAILING, HELD, FAILING):
        told.append(change_of(now, before).value)
        before = Before(before.ever_held or now is HELD, now)

    assert told == ["regressed", "regressed", "fixed", "regressed"]


def test_only_what_holds_is_ever_held_or_fixed() -> None:
    every = itertools.product(Standing, (True, False), (None, *Standing))

    good = {(now, change_of(now, Before(held, last))) for now, held, last in every}

    assert {now for now, change in good if change in (Change.HELD, Change.FIXED)} == {HELD}
    assert {change for now, change in good if now is NOT_JUDGED} == {Change.NOT_JUDGED}


@pytest.mark.parametrize(
    ("differs", "missing", "standing"),
    [
        ((), 0, HELD),
        (("outcome",), 0, FAILING),
        ((), 1, NOT_JUDGED),
        (("outcome",), 1, NOT_JUDGED),
    ],
    ids=["as expected", "differs", "an answer is missing", "differs for want of an answer"],
)
def test_a_case_that_lacks_a_recording_could_not_be_judged(
    differs: tuple[str, ...], missing: int, standing: Standing
) -> None:
    assert standing_of(differs, missing=missing) is standing


def test_changes_are_told_most_urgent_first() -> None:
    assert [one.value for one in Change] == [
        "regressed",
        "fixed",
        "still_failing",
        "new",
        "not_judged",
        "held",
    ]
