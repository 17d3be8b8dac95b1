"""Exports of labels below `/api/v1/reviews`: for spreadsheets, and for who measures verifiers."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from ninja import Query, Router

from loomverify.accounts.models import Role
from loomverify.api import access_of, errors
from verification.reviews.exports import LabelFilters, labels, labels_csv, labels_jsonl
from verification.reviews.models import Decision
from verification.reviews.schemas import LabelQuery
from verification.runs.api import refuse_unknown_parameters
from verification.runs.exporting.answers import CUT_HEADER

router = Router(tags=["Reviews"])

CUT = {
    "schema": {"type": "boolean"},
    "description": "There are more decisions than one file takes: narrow the filters.",
}


def _saved(kind: str, example: str) -> dict[str, Any]:
    """Describe an answer that is a file."""
    described = {
        "description": "The labels, always an attachment",
        "content": {kind: {"schema": {"type": "string"}, "example": example}},
        "headers": {CUT_HEADER: CUT},
    }
    return {"responses": {200: described}}


@router.get(
    "/reviews/labels.csv",
    response=errors(400, 403, 422),
    openapi_extra=_saved("text/csv", "kind,decision,review,run\r\n"),
    summary="What people decided, for spreadsheets",
)
def export_labels_csv(request: HttpRequest, query: Query[LabelQuery]) -> HttpResponseBase:
    """The newest 100,000 decisions at most: a line each, and one for each finding they labelled."""
    return labels_csv(request, _found(request, query), for_people=False)


@router.get(
    "/reviews/labels.jsonl",
    response=errors(400, 403, 422),
    openapi_extra=_saved("application/jsonl", '{"outcome": "fail", "findings": []}\n'),
    summary="What people decided, for programs",
)
def export_labels_jsonl(request: HttpRequest, query: Query[LabelQuery]) -> HttpResponseBase:
    """The newest 100,000 decisions at most: a JSON object each, with the findings they labelled."""
    return labels_jsonl(request, _found(request, query))


def _found(request: HttpRequest, query: LabelQuery) -> QuerySet[Decision]:
    access = access_of(request)
    access.need(Role.REVIEWER)
    refuse_unknown_parameters(request, LabelQuery)
    return labels(access.project, LabelFilters(**query.dict()))
