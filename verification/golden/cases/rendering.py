"""Cases as the API tells them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db.models import F, QuerySet
from django.urls import reverse

from verification.golden.cases import selectors
from verification.golden.cases.selectors import CaseStanding, Near, Origin
from verification.golden.models import GoldenCase, GoldenCaseVersion


def with_entries(cases: QuerySet[GoldenCase]) -> QuerySet[GoldenCase]:
    """With all that an entry of the list tells; without documents, which can be long."""
    rows = cases.select_related("project", "run").only(
        "uuid", "name", "process", "phase", "tags", "owner", "is_shipped", "created_by",
        "created_at", "retired_at", "project__slug", "run__uuid",
    )  # fmt: skip
    return rows.annotate(
        said=selectors.last_standing(),
        guarded=F("current__spec__guards"),
        number=F("current__number"),
        changed_at=F("current__created_at"),
    )


def entry(case: Any) -> dict[str, Any]:
    """Of a row of `with_entries`."""
    same = ("name", "process", "phase", "tags", "owner", "created_by", "created_at",
            "changed_at", "retired_at")  # fmt: skip
    return {
        "id": case.uuid,
        "url": url_of(case),
        "guards": case.guarded or "",
        "origin": Origin.SHIPPED if case.is_shipped else Origin.OWN,
        "version": case.number or 0,
        "standing": case.said or CaseStanding.NOT_REPLAYED,
        "run": case.run.uuid if case.run else None,
        **{name: getattr(case, name) for name in same},
    }


def whole(case: GoldenCase, near: Sequence[Near]) -> dict[str, Any]:
    """With the document of its current version."""
    told = with_entries(GoldenCase.objects.all()).get(pk=case.pk)
    version = selectors.version_of(case, told.number)  # type: ignore[attr-defined]
    return {
        **entry(told),
        "case": selectors.document_of(version),
        "near": [
            {"id": one.case.uuid, "name": one.case.name, "likeness": round(one.likeness, 2)}
            for one in near
        ],
    }


def version(row: GoldenCaseVersion, *, current: int | None) -> dict[str, Any]:
    same = ("number", "reason", "created_by", "created_at")
    return {"is_current": row.pk == current, **{name: getattr(row, name) for name in same}}


def url_of(case: GoldenCase) -> str:
    return f"{settings.BASE_URL}{reverse('golden_case', args=[case.project.slug, case.uuid])}"
