"""Exports as the pages offer them. Long tables begin with a byte order mark: see docs/exports.md."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.errors import Conflict, InputError
from verification.runs import selectors
from verification.runs.exporting.answers import (
    EVIDENCE,
    RunExport,
    evidence_export,
    run_export,
    table_export,
)
from verification.runs.exporting.tables import findings_table, runs_table
from verification.runs.models import Run
from verification.runs.named import run_named
from verification.runs.selectors import RunFilters


@require_safe
@project_page()
def runs_csv(request: AccessRequest) -> HttpResponseBase:
    try:
        table = runs_table(_filtered(request))
    except InputError as error:
        return _refused(error)
    return table_export(request, table, for_people=True)


@require_safe
@project_page()
def findings_csv(request: AccessRequest) -> HttpResponseBase:
    try:
        table = findings_table(_filtered(request))
    except InputError as error:
        return _refused(error)
    return table_export(request, table, for_people=True)


@require_safe
@project_page()
def run_file(request: AccessRequest, run: UUID, name: str) -> HttpResponseBase:
    found = run_named(request, run)
    if name != EVIDENCE and name not in list(RunExport):
        raise Http404
    try:
        if name == EVIDENCE:
            return evidence_export(found)
        return run_export(request, found, RunExport(name), for_people=True)
    except Conflict as error:
        messages.warning(request, str(error))
        return redirect("run_detail", project=request.access.project.slug, run=run)


def _filtered(request: AccessRequest) -> QuerySet[Run]:
    return selectors.runs(request.access.project, RunFilters.of(request.GET))


def _refused(error: InputError) -> HttpResponse:
    return HttpResponse(str(error), status=400, content_type="text/plain")
