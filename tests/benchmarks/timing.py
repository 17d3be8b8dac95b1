"""Clocks of benchmarks."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence


def seconds_of(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def median_seconds_in_turns(calls: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """Return the median of each call; they take turns, so that other load hits all of them."""
    seconds = [[seconds_of(call) for call in calls] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*seconds, strict=True)]


def percentile(values: list[float], share: float) -> float:
    """Return the value that `share` of the values do not exceed; `share` from 0 to 1."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]
