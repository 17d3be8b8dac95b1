"""How long to wait before the next try."""

from __future__ import annotations


def wait_seconds(
    attempt: int, *, first: float, times: float, longest: float, spread: float = 0.5
) -> float:
    """Wait after vain attempt number `attempt`: `times` the one before, within bounds.

    `spread`, 0 to 1, moves it by up to a quarter either way, so that not all come at once.

    >>> [wait_seconds(number, first=5, times=4, longest=3600) for number in (1, 2, 9, 10_000)]
    [5.0, 20.0, 3600.0, 3600.0]
    """
    delay = first
    for _ in range(attempt - 1):
        if delay >= longest:
            break
        delay *= times
    return min(longest, delay) * (0.75 + spread / 2)
