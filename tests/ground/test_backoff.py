from __future__ import annotations

import pytest

from loomverify.backoff import wait_seconds


@pytest.mark.parametrize(
    ("attempt", "times", "spread", "seconds"),
    [(1, 2, 0.5, 5), (3, 2, 0.5, 20), (3, 3, 0.5, 45), (3, 4, 0.0, 60), (99_999, 2, 1.0, 1125)],
)
def test_each_wait_is_so_many_times_the_one_before_within_bounds(
    attempt: int, times: float, spread: float, seconds: float
) -> None:
    assert wait_seconds(attempt, first=5, times=times, longest=900, spread=spread) == seconds
