"""Readers for `json.loads` that keep numbers exact and refuse what JSON readers disagree on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn


def refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and the infinities: no JSON, and each equals nothing or too much."""
    raise ValueError(name)


def without_twins(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Build a JSON object.

    Raises:
        ValueError: a key stands in it twice. Readers disagree on which of the two holds.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has a key twice")
    return found


def exact_decimal(spelling: str) -> tuple[str, int]:
    """Return the digits of a decimal number with their sign, and the power of ten they stand for.

    All spellings of a number give the same pair; zero has no sign.

    Raises:
        ValueError: the exponent is longer than Python reads.

    >>> exact_decimal("1.50"), exact_decimal("-15e-1"), exact_decimal("1e2"), exact_decimal("-0.0")
    (('15', -1), ('-15', -1), ('1', 2), ('0', 0))
    """
    mantissa, _, exponent = spelling.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = f"{whole}{fraction}".removeprefix("-").lstrip("0")
    bare = digits.rstrip("0")
    if not bare:
        return "0", 0
    sign = "-" if mantissa.startswith("-") else ""
    return f"{sign}{bare}", int(exponent or 0) - len(fraction) + len(digits) - len(bare)
