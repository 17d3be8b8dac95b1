"""The decided reviews behind a number of the agreement page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Self

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.expressions import RawSQL

from loomverify.accounts.models import Project
from loomverify.filters import check_choice
from verification.engine.statistics.calibration import BINS, STEPS
from verification.reviews.agreement import counts
from verification.reviews.agreement.calibrating import calibrated, hundredth
from verification.reviews.agreement.filters import (
    ACCEPTED,
    PEOPLE_SAID,
    VERIFIER_SAID,
    AgreementFilters,
    decided,
)
from verification.runs.models import Review

COUNT_CAP = 10_000
ACCEPTING = "accept"
"""All outcomes but fail."""
DECIDED = "verdict"
"""What the verifier did not leave undecided."""
HEAVY_FIELDS = (
    "run__search", "run__result", "process__description", "evaluation__rule_trace",
    "evaluation__feedback", "evaluation__claims", "evaluation__claim_list",
)  # fmt: skip


class Which(StrEnum):
    OVERTURNED = "overturned"
    """People called the rule of the filters wrong."""
    UPHELD = "upheld"
    CHANGED = "changed"
    """A blind reviewer changed their mind once the verdict was revealed."""
    COMPARED = "compared"
    """Two reviewers decided it apart from each other."""
    DIFFERED = "differed"
    """And said different things."""


WHICH_WORDS = {
    Which.OVERTURNED: "the rule was overturned",
    Which.UPHELD: "the rule was right",
    Which.CHANGED: "changed after the reveal",
    Which.COMPARED: "two people decided",
    Which.DIFFERED: "two people differed",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """Which of the decided reviews. '' leaves it open.

    `said` and `decided` are what verifier and people said: an outcome, `accept` for all but fail,
    and for the verifier `undecided`, or `verdict` for all but that; `tenth` is of its confidence, 0 to 9.
    """

    said: str = ""
    decided: str = ""
    which: str = ""
    tenth: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Self:
        """Raises InputError, `filter.invalid`."""
        given = {field.name: query.get(field.name, "").strip() for field in fields(cls)}
        for name, value in given.items():
            check_choice(name, value, ALLOWED[name])
        return cls(**given)


ALLOWED: Mapping[str, Sequence[str]] = {
    "said": (*VERIFIER_SAID, ACCEPTING, DECIDED),
    "decided": (*PEOPLE_SAID, ACCEPTING),
    "which": tuple(Which),
    "tenth": tuple(str(number) for number in range(BINS)),
}


def reviews(project: Project, filters: AgreementFilters, cell: Cell) -> QuerySet[Review]:
    """Decided reviews, in no order."""
    rows: QuerySet[Any, Any] = decided(project, filters)
    if cell.tenth:
        rows = _of_tenth(calibrated(rows), int(cell.tenth))
    if cell.said:
        rows = rows.filter(Q(said__in=_outcomes(cell.said)))
    if cell.decided:
        rows = rows.filter(outcome__in=_outcomes(cell.decided))
    if cell.which:
        rows = rows.filter(_which(project, filters, Which(cell.which)))
    related = ("run__task", "process", "evaluation")
    return rows.select_related(*related).defer(*HEAVY_FIELDS)


def count(found: QuerySet[Review]) -> int:
    """At most one more than `COUNT_CAP`, which stands for many more."""
    return found.order_by()[: COUNT_CAP + 1].count()


def _of_tenth(rows: QuerySet[Review], tenth: int) -> QuerySet[Review]:
    width = STEPS // BINS
    high = STEPS if tenth == BINS - 1 else (tenth + 1) * width - 1
    step: dict[str, Any] = {"hundredth__range": (tenth * width, high)}
    return rows.annotate(hundredth=hundredth("evaluation__confidence")).filter(**step)


def _outcomes(name: str) -> Sequence[str]:
    return {DECIDED: PEOPLE_SAID, ACCEPTING: ACCEPTED}.get(name, (name,))


def _which(project: Project, filters: AgreementFilters, which: Which) -> Q:
    if which is Which.CHANGED:
        changed = counts.blind_decisions(project, filters).filter(counts.CHANGED)
        return Q(Exists(changed.filter(review=OuterRef("pk"))))
    if which in (Which.COMPARED, Which.DIFFERED):
        differing = which is Which.DIFFERED
        sql, params = counts.reviews_of_two(project, filters, differing=differing)
    else:
        is_wrong = which is Which.OVERTURNED
        sql, params = counts.reviews_of_rule(project, filters, overturned=is_wrong)
    return Q(pk__in=RawSQL(sql, params))  # noqa: S611 - our own text; values are parameters
