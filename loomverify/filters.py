"""Filters of a list as they stand in its address."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Self
from uuid import UUID

from loomverify.errors import InputError

INVALID = "filter.invalid"


@dataclass(frozen=True, slots=True)
class AddressFilters:
    """Fields of a subclass are texts; empty: not asked for."""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Self:
        """The filters of a page's address; what else stands there is left aside."""
        return cls(**{field.name: query.get(field.name, "").strip() for field in fields(cls)})

    def given(self) -> dict[str, str]:
        """The filters that are set, by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value}


def check_choice(name: str, value: str, allowed: Iterable[str]) -> str:
    """Return the value of a filter that takes one of a closed set, or is empty.

    Raises:
        InputError: 422 `filter.invalid` with the allowed values, its place `("query", name)`.
    """
    known = [str(entry) for entry in allowed]
    if value and value not in known:
        raise InputError(INVALID, f"{name} takes one of {', '.join(known)}.", loc=("query", name))
    return value


def uuid_in(text: str) -> str:
    """The id as it is written usually; '' where the text is none."""
    try:
        return str(UUID(text)) if text else ""
    except ValueError:
        return ""
