"""Wishes and what there is: as many wishes as can be get something of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar

Wish = TypeVar("Wish")
Thing = TypeVar("Thing")


def matched(
    wishes: Sequence[Wish], things: Sequence[Thing], fits: Callable[[Wish, Thing], bool]
) -> Mapping[int, int]:
    """The number of a wish to the number of the thing it gets, no thing twice.

    No other choice serves more wishes, and earlier ones are served first. A wish needs to know
    of no more fitting things than there are wishes: the others cannot take them all.

    Source: H. W. Kuhn, The Hungarian method, 1955; augmenting paths.

    >>> dict(matched("ab", "ba", str.__eq__))
    {0: 1, 1: 0}
    """
    fitting = [list(islice(_fitting(wish, things, fits), len(wishes))) for wish in wishes]
    got: dict[int, int] = {}
    for number in range(len(wishes)):
        _serve(number, fitting, got)
    return got


def _fitting(
    wish: Wish, things: Sequence[Thing], fits: Callable[[Wish, Thing], bool]
) -> Iterator[int]:
    return (number for number, thing in enumerate(things) if fits(wish, thing))


def _serve(wish: int, fitting: Sequence[Sequence[int]], got: dict[int, int]) -> None:
    """Find a free thing for a wish, moving others on to things that fit them as well."""
    owners = {thing: owner for owner, thing in got.items()}
    came_from: dict[int, int] = {}
    waiting = [wish]
    for one in waiting:
        for thing in fitting[one]:
            if thing in came_from:
                continue
            came_from[thing] = one
            if thing not in owners:
                _hand_on(thing, came_from, got)
                return
            waiting.append(owners[thing])


def _hand_on(thing: int, came_from: Mapping[int, int], got: dict[int, int]) -> None:
    """Along the way back each takes what was found for it, and leaves what it had to the next."""
    left: int | None = thing
    while left is not None:
        taker, taken = came_from[left], left
        left, got[taker] = got.get(taker), taken
