"""Standings and changes of golden cases, in signs and words for people."""

from __future__ import annotations

from verification.engine.golden.standing import Change, Standing
from verification.runs.wording import FAIL, PASS, UNDECIDED, WARNINGS, Badge

_PLUS = "M6 2.2v7.6M2.2 6h7.6"
_DASH = "M2.5 6h7"

STANDINGS = {
    Standing.HELD: Badge("holds", "pass", PASS.sign),
    Standing.FAILING: Badge("does not hold", "fail", FAIL.sign),
    Standing.NOT_JUDGED: Badge("could not be judged", "open", UNDECIDED.sign),
}
CHANGES = {
    Change.REGRESSED: Badge("regressed", "fail", FAIL.sign),
    Change.FIXED: Badge("fixed", "pass", PASS.sign),
    Change.STILL_FAILING: Badge("still failing", "warn", WARNINGS.sign),
    Change.NEW: Badge("new, does not hold", "part", _PLUS),
    Change.NOT_JUDGED: Badge("could not be judged", "open", UNDECIDED.sign),
    Change.HELD: Badge("holds", "pass", PASS.sign),
}
NOT_REPLAYED = Badge("not replayed yet", "open", _DASH)


def standing_badge(standing: str | None) -> Badge:
    return STANDINGS[Standing(standing)] if standing else NOT_REPLAYED
