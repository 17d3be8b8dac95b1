"""Tests that hold others: counted once each, the holder only when it failed by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from verification.engine.reports.model import CaseStatus


def counting(statuses: Mapping[str, CaseStatus]) -> Iterator[str]:
    """The names that count, of `parent/child` names: leaves, and parents at fault themselves.

    Linear but for the sorting, whatever the names: each is compared with the one after it.
    """
    ordered = sorted(statuses, key=lambda test: test.replace("/", "\0"))
    holders = _holders(ordered)
    blamed = _blamed(ordered, holders, statuses)
    for test in ordered:
        if test not in holders or (statuses[test].is_bad and test not in blamed):
            yield test


def _holders(ordered: list[str]) -> set[str]:
    return {test for test, after in pairwise(ordered) if after.startswith(f"{test}/")}


def _blamed(ordered: list[str], holders: set[str], statuses: Mapping[str, CaseStatus]) -> set[str]:
    """The holders of a failure: what they say of themselves says nothing more."""
    blamed: set[str] = set()
    above: list[str] = []
    for test in ordered:
        _close(above, test, blamed, statuses)
        if test in holders:
            above.append(test)
        elif statuses[test].is_bad:
            blamed.update(above[-1:])
    _close(above, "", blamed, statuses)
    return blamed


def _close(
    above: list[str], test: str, blamed: set[str], statuses: Mapping[str, CaseStatus]
) -> None:
    """Leave the holders that do not hold `test`. One at fault is blamed on the one above it."""
    while above and not test.startswith(f"{above[-1]}/"):
        left = above.pop()
        if left in blamed or statuses[left].is_bad:
            blamed.update(above[-1:])
