"""The smallest of many hashes under each of some orders: what a sketch is made of."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def smallest(hashes: Sequence[int], count: int) -> list[int]:
    """Return `count` signed numbers of 64 bits; `hashes` are unsigned ones, at least one."""
    numbers = np.array(hashes, dtype=np.uint64)
    return [int(np.min(_mixed(numbers ^ seed)).astype(np.int64)) for seed in _seeds(count)]


@cache
def _seeds(count: int) -> NDArray[np.uint64]:
    digests = (hashlib.sha256(f"likeness {number}".encode()).digest() for number in range(count))
    return np.array([int.from_bytes(one[:8], "big") for one in digests], dtype=np.uint64)


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    for factor, shift in zip(_MIX, (np.uint64(30), np.uint64(27)), strict=True):
        numbers = (numbers ^ (numbers >> shift)) * factor
    return numbers ^ (numbers >> np.uint64(31))
