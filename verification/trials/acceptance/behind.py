"""The rows behind a number: it is counted from the very query that lists them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Self, TypeVar

from django.db.models import Count, Model, Q, QuerySet

M = TypeVar("M", bound=Model)


class Which(StrEnum):
    """Part of the rows: those counted, all that they are counted of, and all but those counted."""

    COUNTED = "counted"
    ALL = "all"
    REST = "rest"
    KNOWN = "known"
    """All whose truth is known, of false fails."""
    BEFORE = "before"
    """The same before the promotion, of escaped defects."""
    ESCAPED_BEFORE = "escaped_before"


@dataclass(frozen=True, slots=True)
class Behind(Generic[M]):
    """All of them, those that `hit` counts, and the others."""

    all: QuerySet[M]
    counted: QuerySet[M]
    rest: QuerySet[M]
    hit: Q

    @classmethod
    def split(cls, rows: QuerySet[M], hit: Q) -> Self:
        """`hit` holds or does not: what is unknown to it stays with the rest."""
        counted = rows.filter(hit)
        return cls(rows, counted, rows.exclude(pk__in=counted.order_by().values("pk")), hit)

    def pick(self, which: Which) -> QuerySet[M]:
        parts = {Which.COUNTED: self.counted, Which.ALL: self.all, Which.REST: self.rest}
        return parts[which]

    def by_process(self, place: str) -> list[tuple[str, int, int]]:
        """By the process at `place`: the counted ones, and of how many."""
        rows = self.all.order_by().values_list(place)
        return list(rows.annotate(of_counted=Count("pk", filter=self.hit), of_all=Count("pk")))
