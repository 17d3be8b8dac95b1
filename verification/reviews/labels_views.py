"""Exports of labels as the pages offer them."""

from __future__ import annotations

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import InputError
from verification.reviews.exports import LabelFilters, labels, labels_csv, labels_jsonl


@require_safe
@project_page(Role.REVIEWER)
def review_labels(request: AccessRequest, suffix: str) -> HttpResponseBase:
    try:
        decisions = labels(request.access.project, LabelFilters.of(request.GET))
    except InputError as error:
        return HttpResponse(str(error), status=400, content_type="text/plain")
    if suffix == "csv":
        return labels_csv(request, decisions, for_people=True)
    return labels_jsonl(request, decisions)
