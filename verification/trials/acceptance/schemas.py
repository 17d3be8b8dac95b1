"""The targets in the words of the HTTP contract."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Self

from django.conf import settings
from ninja import Field, Schema
from pydantic import ConfigDict

from verification.runs.schema_values import one_of
from verification.trials.acceptance.behind import Which
from verification.trials.acceptance.measures import Target, TargetState
from verification.trials.acceptance.page import rows_url
from verification.trials.acceptance.scope import DAYS, MAX_DAYS, Scope
from verification.trials.acceptance.selectors import PARTS
from verification.trials.examples import shown

TARGET: dict[str, Any] = {
    "name": "unreadable",
    "title": "Answers that cannot be read",
    "bound": "under 1 %",
    "state": "met",
    "numerator": 4,
    "denominator": 1284,
    "n": 1284,
    "value": 0.0031,
    "low": 0.0012,
    "high": 0.008,
    "limit": 0.01,
    "missing": "",
    "note": "",
    "rows": {
        "counted": "https://verify.example.com/p/default/acceptance/unreadable/?which=counted",
        "all": "https://verify.example.com/p/default/acceptance/unreadable/?which=all",
        "rest": "https://verify.example.com/p/default/acceptance/unreadable/?which=rest",
    },
}
ACCEPTANCE: dict[str, Any] = {
    "days": 30,
    "since": "2026-02-01T09:12:00Z",
    "process": None,
    "targets": [TARGET],
}


class AcceptanceQuery(Schema):
    days: int = Field(DAYS, ge=1, le=MAX_DAYS, description="The last so many.")
    process: str = ""


class TargetOut(Schema):
    """`value`, `low` and `high` are null where nothing was counted.

    Of `false_fails` they say by how much there are fewer, of `escaped` by how much there are
    more; of the others they are shares, 0 to 1. `rows` are the pages that list what is counted.
    """

    model_config = ConfigDict(json_schema_extra=shown(TARGET))
    name: str
    title: str
    bound: str
    state: Annotated[str, one_of(TargetState)]
    numerator: int
    denominator: int
    n: int
    value: float | None
    low: float | None
    high: float | None
    limit: float
    missing: str
    note: str
    rows: dict[str, str]

    @classmethod
    def of(cls, target: Target, scope: Scope) -> Self:
        return cls(
            name=target.name,
            title=target.about.title,
            bound=target.about.bound,
            state=target.state.value,
            numerator=target.numerator,
            denominator=target.denominator,
            n=target.n,
            value=target.value,
            low=target.low,
            high=target.high,
            limit=target.about.limit,
            missing=target.missing,
            note=target.note,
            rows={which.value: _url(scope, target, which) for which in PARTS[target.name]},
        )


def _url(scope: Scope, target: Target, which: Which) -> str:
    return f"{settings.BASE_URL}{rows_url(scope, target.name, which)}"


class AcceptanceOut(Schema):
    model_config = ConfigDict(json_schema_extra=shown(ACCEPTANCE))
    days: int
    since: datetime
    process: str | None
    targets: list[TargetOut]

    @classmethod
    def of(cls, targets: Sequence[Target], scope: Scope) -> Self:
        return cls(
            days=scope.days,
            since=scope.since,
            process=scope.slug or None,
            targets=[TargetOut.of(one, scope) for one in targets],
        )
