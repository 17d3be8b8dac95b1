"""Whether a case holds, and what that means beside what held before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

STALE_WARNING = 0.2
"""A replay with more stale questions than this, of 1, says less than it seems to."""


class Standing(StrEnum):
    """What one replay says of one case."""

    HELD = "held"
    FAILING = "failing"
    NOT_JUDGED = "not_judged"
    """A recording is missing, or the case cannot be replayed here: never a pass."""


class Change(StrEnum):
    """A standing beside the standings of before, most urgent first."""

    REGRESSED = "regressed"
    FIXED = "fixed"
    STILL_FAILING = "still_failing"
    NEW = "new"
    """It does not hold, and was never replayed before."""
    NOT_JUDGED = "not_judged"
    HELD = "held"


DOES_NOT_HOLD = (Change.REGRESSED, Change.STILL_FAILING, Change.NEW)


@dataclass(frozen=True, slots=True)
class Before:
    """What is known of a case version. `last` None: it was never judged.

    `ever_held`: it has held once, or comes with the program, which promises that it does.
    """

    ever_held: bool = False
    last: Standing | None = None


def change_of(now: Standing, before: Before) -> Change:
    """Compare. A case that has held once and fails is a regression until it holds again.

    So no regression is forgiven by being replayed twice: it is mended, or its expectation is
    changed, which is a new version without a past.

    >>> change_of(Standing.FAILING, Before(ever_held=True, last=Standing.FAILING)).value
    'regressed'
    """
    if now is Standing.NOT_JUDGED:
        return Change.NOT_JUDGED
    if now is Standing.HELD:
        return Change.FIXED if before.last is Standing.FAILING else Change.HELD
    if before.ever_held:
        return Change.REGRESSED
    return Change.STILL_FAILING if before.last is Standing.FAILING else Change.NEW


def standing_of(differences: Sequence[object], *, missing: int) -> Standing:
    """A case that asked for an answer nobody recorded says nothing, whatever it came to."""
    if missing:
        return Standing.NOT_JUDGED
    return Standing.FAILING if differences else Standing.HELD
