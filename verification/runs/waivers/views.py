"""Pages of waivers: all of them, and the form that makes one of a run's finding."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from loomverify import paging
from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.forms import show_errors
from loomverify.accounts.models import Role
from loomverify.errors import InputError, NotFound
from loomverify.filters import check_choice
from loomverify.returning import back
from verification.runs.exporting.answers import table_export
from verification.runs.gating.spots import Spot, Spots
from verification.runs.models import Finding
from verification.runs.places import place_of
from verification.runs.waivers import selectors, services
from verification.runs.waivers.forms import WaiverForm
from verification.runs.waivers.page import Row, just_ended
from verification.runs.waivers.selectors import WaiverFilters, WaiverState
from verification.runs.waivers.tables import waivers_table

PER_PAGE = 50
LIST, NEW = "waivers/waiver_list.html", "waivers/waiver_new.html"


@require_safe
@project_page()
def waiver_list(request: AccessRequest) -> HttpResponse:
    project, now = request.access.project, timezone.now()
    filters = _filters(request)
    counts = selectors.counts(project, filters, now)
    shown: dict[str, Any] = {
        "filters": filters,
        "counts": [(state.value, count) for state, count in counts.items()],
        "total": sum(counts.values()),
        "is_empty": not filters.given() and not any(counts.values()),
        "ended": just_ended(project, request.GET.get("over", ""), now),
        "query": urlencode(filters.given()),
    }
    try:
        rows, cursor = paging.newest_first(
            selectors.waivers(project, filters, now),
            cursor=request.GET.get("cursor", ""),
            limit=PER_PAGE,
        )
    except InputError as error:
        return render(request, LIST, {**shown, "error": error}, status=400)
    shown |= {"rows": [Row(row, now) for row in rows], "next": cursor}
    return render(request, LIST, shown)


@require_safe
@project_page()
def waivers_csv(request: AccessRequest) -> HttpResponseBase:
    now = timezone.now()
    rows = selectors.waivers(request.access.project, _filters(request), now)
    return table_export(request, waivers_table(rows, now), for_people=True)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.REVIEWER)
def waiver_new(request: AccessRequest, run: UUID, fingerprint: str) -> HttpResponse:
    try:
        found = services.finding_of(request.access, run, fingerprint)
    except InputError as error:
        raise Http404 from error
    form = WaiverForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            services.waive(
                access=request.access, run=run, fingerprint=fingerprint, **form.cleaned_data
            )
        except InputError as error:
            show_errors(form, error)
        else:
            messages.success(request, "It is waived. Verify the run again, and it counts no more.")
            where = reverse("run_detail", args=[request.access.project.slug, run])
            return redirect(f"{where}?finding={fingerprint}#findings-title")
    shown = {
        "form": form,
        "run": found.evaluation.run,
        "finding": found,
        "message": services.said_of(found),
        "place": place_of(found),
        "spot": _spot(found),
    }
    return render(request, NEW, shown, status=422 if form.errors else 200)


@require_POST
@project_page(Role.REVIEWER)
def waiver_end(request: AccessRequest, waiver: UUID) -> HttpResponse:
    project = request.access.project
    try:
        services.end(access=request.access, waiver=waiver)
    except NotFound as error:
        raise Http404 from error
    except InputError as error:
        messages.error(request, str(error))
        return back(request, reverse("waiver_list", args=[project.slug]))
    return redirect(f"{reverse('waiver_list', args=[project.slug])}?over={waiver}")


@require_POST
@project_page(Role.REVIEWER)
def waiver_undo(request: AccessRequest, waiver: UUID) -> HttpResponse:
    try:
        services.undo_end(access=request.access, waiver=waiver)
    except NotFound as error:
        raise Http404 from error
    except InputError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "It is in force again.")
    return back(request, reverse("waiver_list", args=[request.access.project.slug]))


def _spot(found: Finding) -> Spot | None:
    """Its place in the work with the lines around it, where such a file was submitted."""
    spots = Spots(found.evaluation.run, found.enforcement, lambda: [found.path])
    spot = spots.of(found.path, found.line, column=found.column, with_context=True)
    return spot if spot and spot.url else None


def _filters(request: AccessRequest) -> WaiverFilters:
    filters = WaiverFilters.of(request.GET)
    check_choice("state", filters.state, WaiverState)
    if "\x00" in "".join(filters.given().values()):
        raise Http404
    return filters
