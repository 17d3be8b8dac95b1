"""The page of remediations: what is asked for, who has it, how long it waits."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from loomverify import paging
from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import InputError, NotFound
from loomverify.filters import check_choice
from loomverify.returning import back
from verification.runs.models.followup import RemediationState
from verification.runs.remediations import claims, selectors
from verification.runs.remediations.page import Row
from verification.runs.remediations.rows import MAX_NOTE_CHARS

PER_PAGE = 50


@require_safe
@project_page()
def remediation_list(request: AccessRequest) -> HttpResponse:
    project = request.access.project
    filters = _filters(request)
    counts = selectors.counts(project)
    shown: dict[str, Any] = {
        "filters": filters,
        "counts": [(state.value, state.label, count) for state, count in counts.items()],
        "total": sum(counts.values()),
        "base_url": settings.BASE_URL,
        "max_reason": MAX_NOTE_CHARS,
    }
    try:
        found, cursor = paging.newest_first(
            selectors.remediations(project, filters),
            cursor=request.GET.get("cursor", ""),
            limit=PER_PAGE,
        )
    except InputError as error:
        return render(
            request, "remediations/remediation_list.html", {**shown, "error": error}, status=400
        )
    now = timezone.now()
    shown |= {"rows": [Row(row, now) for row in found], "next": cursor}
    return render(request, "remediations/remediation_list.html", shown)


@require_POST
@project_page(Role.REVIEWER)
def remediation_release(request: AccessRequest, remediation: UUID) -> HttpResponse:
    return _changed(request, remediation)


@require_POST
@project_page(Role.REVIEWER)
def remediation_give_up(request: AccessRequest, remediation: UUID) -> HttpResponse:
    reason = request.POST.get("reason", "").strip()
    if not reason:
        messages.error(request, "Say why it is given up.")
        return _back(request)
    return _changed(request, remediation, reason=reason[:MAX_NOTE_CHARS])


def _changed(request: AccessRequest, remediation: UUID, *, reason: str = "") -> HttpResponse:
    """Give it up for a reason; without one, give it back to the queue."""
    try:
        if reason:
            claims.give_up(access=request.access, remediation=remediation, reason=reason)
            messages.success(request, "It is given up: nobody will answer it.")
        else:
            claims.release(access=request.access, remediation=remediation)
            messages.success(request, "It is back in the queue.")
    except NotFound as error:
        raise Http404 from error
    except InputError as error:
        messages.error(request, str(error))
    return _back(request)


def _filters(request: AccessRequest) -> selectors.RemediationFilters:
    """Raises InputError: `filter.invalid`."""
    state = check_choice("state", request.GET.get("state", ""), RemediationState.values)
    run = request.GET.get("run", "")
    try:
        return selectors.RemediationFilters(state=state, run=UUID(run) if run else None)
    except ValueError as error:
        raise Http404 from error


def _back(request: AccessRequest) -> HttpResponse:
    """To the list as it was filtered."""
    return back(request, reverse("remediation_list", args=[request.access.project.slug]))
