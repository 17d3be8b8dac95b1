"""What the list of cases shows: each with what the live line last said of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, Func, OuterRef, QuerySet, Subquery

from loomverify.accounts.models import Project
from loomverify.errors import InputError
from verification.golden.models import GoldenCase, ReplayResult, ReplayState
from verification.golden.wording import standing_badge
from verification.runs.wording import Badge

PER_PAGE = 50
COUNT_CAP = 10_000
MAX_CHOICES = 200
COLUMNS = (
    "uuid", "name", "process", "phase", "tags", "owner", "is_shipped", "created_by", "retired_at",
)  # fmt: skip
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,119}")


@dataclass(frozen=True, slots=True)
class Row:
    """`replay` is where its standing was found out. `is_retired`: it has none that counts."""

    uuid: UUID
    name: str
    guards: str
    process: str
    phase: str
    tags: Sequence[str]
    owner: str
    is_shipped: bool
    is_retired: bool
    badge: Badge
    replay: UUID | None
    version: int
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class Page:
    rows: Sequence[Row]
    next: str | None


def page_of(cases: QuerySet[GoldenCase], cursor: str) -> Page:
    """By name, from the one after `cursor` on.

    Raises:
        InputError: `cursor.invalid`.
    """
    if cursor:
        if not NAME.fullmatch(cursor):
            raise InputError("cursor.invalid", "This is no case's name.", status=400)
        cases = cases.filter(name__gt=cursor)
    found = [_row(one) for one in _shown(cases.order_by("name"))[: PER_PAGE + 1]]
    rows = found[:PER_PAGE]
    return Page(rows, rows[-1].name if len(found) > PER_PAGE else None)


def _row(one: Mapping[str, Any]) -> Row:
    return Row(
        uuid=one["uuid"],
        name=one["name"],
        guards=one["guards"] or "",
        process=one["process"],
        phase=one["phase"],
        tags=one["tags"],
        owner=one["owner"] or one["created_by"],
        is_shipped=one["is_shipped"],
        is_retired=one["retired_at"] is not None,
        badge=standing_badge(one["standing"]),
        replay=one["replay"],
        version=one["version"],
        changed_at=one["changed_at"],
    )


def _shown(cases: QuerySet[GoldenCase]) -> QuerySet[GoldenCase, dict[str, Any]]:
    """With the last word of the live line; without the documents, which can be long."""
    said = (
        ReplayResult.objects.filter(
            case_version=OuterRef("current_id"),
            replay__state=ReplayState.FINISHED,
            replay__is_live_line=True,
        )
        .exclude(standing="")
        .order_by("-id")
    )
    shown: QuerySet[GoldenCase, dict[str, Any]] = cases.select_related(None).values(
        *COLUMNS,
        standing=Subquery(said.values("standing")[:1]),
        replay=Subquery(said.values("replay__uuid")[:1]),
        changed_at=F("current__created_at"),
        version=F("current__number"),
        guards=F("current__spec__guards"),
    )
    return shown


def count_of(cases: QuerySet[GoldenCase]) -> tuple[int, bool]:
    """How many, and whether there are more than that."""
    found = cases.order_by()[: COUNT_CAP + 1].count()
    return min(found, COUNT_CAP), found > COUNT_CAP


@dataclass(frozen=True, slots=True)
class Choices:
    processes: Sequence[str]
    tags: Sequence[str]


def choices_of(project: Project) -> Choices:
    """What there is to filter by."""
    cases = GoldenCase.objects.filter(project=project)
    processes = cases.order_by("process").values_list("process", flat=True).distinct()
    tags = (
        cases.annotate(tag=Func(F("tags"), function="unnest"))
        .order_by("tag")
        .values_list("tag", flat=True)
        .distinct()
    )
    return Choices(list(processes[:MAX_CHOICES]), list(tags[:MAX_CHOICES]))
