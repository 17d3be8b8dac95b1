"""The page of one review. Reading it changes nothing: what changes is in `acts`."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.errors import InputError
from verification.reviews.item.item_page import ItemPage, item_page
from verification.reviews.queue.selectors import QueueFilters
from verification.runs.choice import Choice

WHOLE = "reviews/review_item.html"
PARTS = {
    "artefact": "runs/_artefact.html",
    "claims": "runs/_run_claims.html",
    "item": "reviews/_item.html",
}


@require_safe
@project_page()
def review_item(request: AccessRequest, review: uuid.UUID) -> HttpResponse:
    part = PARTS.get(request.headers.get("HX-Target", ""), WHOLE)
    if request.headers.get("HX-History-Restore-Request"):
        part = WHOLE
    answer = render(request, part, shown(found(request, review)))
    answer["Vary"] = "HX-Target, Cookie"
    answer["Cache-Control"] = "no-store"  # whose it is changes by the minute
    return answer


def found(request: AccessRequest, review: uuid.UUID) -> ItemPage:
    item = item_page(
        request.access,
        review,
        choice=Choice.of(request.GET),
        filters=filters_of(request),
        is_to_be_changed="change" in request.GET,
    )
    if item is None:
        raise Http404
    return item


def shown(item: ItemPage) -> dict[str, Any]:
    return {"item": item, "page": item.page, "run": item.run}


def filters_of(request: AccessRequest) -> QueueFilters:
    """The queue's filters as they stand in the address; what cannot be one filters nothing."""
    try:
        return QueueFilters.of({**request.GET.dict(), "state": ""})
    except InputError:
        return QueueFilters()
