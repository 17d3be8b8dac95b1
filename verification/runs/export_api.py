"""Exports below `/api/v1/runs`: for CI servers, code hosts, spreadsheets and people."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from ninja import Query, Router

from loomverify.api import access_of, errors
from loomverify.errors import NotFound
from verification.runs.api import refuse_unknown_parameters
from verification.runs.exporting.answers import (
    CONTENT_TYPES,
    CUT_HEADER,
    RunExport,
    evidence_export,
    run_export,
    table_export,
)
from verification.runs.exporting.tables import findings_table, runs_table
from verification.runs.models import Run
from verification.runs.run_page import run_of
from verification.runs.schemas import RunFilterQuery
from verification.runs.selectors import RunFilters
from verification.runs.selectors import runs as runs_of

router = Router(tags=["Exports"])

CUT = {
    CUT_HEADER: {
        "schema": {"type": "boolean"},
        "description": "There are more rows than one file takes: narrow the filters.",
    }
}
ZIP = {
    "responses": {
        200: {
            "description": "A zip file, always an attachment",
            "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
        }
    }
}


def _saved(export: RunExport, description: str) -> dict[str, Any]:
    """Describe an answer that is a file."""
    kind = CONTENT_TYPES[export].partition(";")[0]
    answer: dict[str, Any] = {
        "description": f"{description}, always an attachment",
        "content": {kind: {"schema": {"type": "object" if "json" in kind else "string"}}},
    }
    if export is RunExport.FINDINGS:
        answer["headers"] = CUT
    return {"responses": {200: answer}}


@router.get(
    "/runs/{uuid:run_id}/findings.sarif",
    response=errors(404, 409),
    openapi_extra=_saved(RunExport.SARIF, "SARIF 2.1.0"),
    summary="A run's findings for code hosts",
)
def export_sarif(request: HttpRequest, run_id: UUID) -> HttpResponseBase:
    return run_export(request, _run_of(request, run_id), RunExport.SARIF)


@router.get(
    "/runs/{uuid:run_id}/junit.xml",
    response=errors(404, 409),
    openapi_extra=_saved(RunExport.JUNIT, "JUnit XML"),
    summary="A run's rules as tests, for CI servers",
)
def export_junit(request: HttpRequest, run_id: UUID) -> HttpResponseBase:
    """Failures when the verdict is reject, an error when it is undecided, else neither."""
    return run_export(request, _run_of(request, run_id), RunExport.JUNIT)


@router.get(
    "/runs/{uuid:run_id}/report.md",
    response=errors(404, 409),
    openapi_extra=_saved(RunExport.REPORT, "Markdown"),
    summary="A run's report for people",
)
def export_report(request: HttpRequest, run_id: UUID) -> HttpResponseBase:
    return run_export(request, _run_of(request, run_id), RunExport.REPORT)


@router.get(
    "/runs/{uuid:run_id}/findings.csv",
    response=errors(404, 409),
    openapi_extra=_saved(RunExport.FINDINGS, "CSV"),
    summary="A run's findings for spreadsheets",
)
def export_findings_of_run(request: HttpRequest, run_id: UUID) -> HttpResponseBase:
    return run_export(request, _run_of(request, run_id), RunExport.FINDINGS)


@router.get(
    "/runs/{uuid:run_id}/evidence.zip",
    response=errors(404, 409),
    openapi_extra=ZIP,
    summary="All the evidence of a run: files, gates, calls, evaluations, what became of it",
)
def export_evidence(request: HttpRequest, run_id: UUID) -> HttpResponseBase:
    """`manifest.json` names every entry with its SHA-256, and what is kept no longer."""
    return evidence_export(_run_of(request, run_id))


@router.get(
    "/runs.csv",
    response=errors(400, 422),
    openapi_extra=_saved(RunExport.FINDINGS, "CSV"),
    summary="The filtered runs for spreadsheets",
)
def export_runs(request: HttpRequest, query: Query[RunFilterQuery]) -> HttpResponseBase:
    """The newest 100,000 at most. The filters are those of the list of runs."""
    return table_export(request, runs_table(_filtered(request, query)), for_people=False)


@router.get(
    "/findings.csv",
    response=errors(400, 422),
    openapi_extra=_saved(RunExport.FINDINGS, "CSV"),
    summary="The findings of the filtered runs for spreadsheets",
)
def export_findings(request: HttpRequest, query: Query[RunFilterQuery]) -> HttpResponseBase:
    """The newest 200,000 at most. The filters are those of the list of runs."""
    return table_export(request, findings_table(_filtered(request, query)), for_people=False)


def _filtered(request: HttpRequest, query: RunFilterQuery) -> QuerySet[Run]:
    refuse_unknown_parameters(request, RunFilterQuery)
    return runs_of(access_of(request).project, RunFilters(**query.dict()))


def _run_of(request: HttpRequest, run_id: UUID) -> Run:
    run = run_of(access_of(request).project, run_id)
    if run is None:
        raise NotFound("run.unknown", "This project has no such run.")
    return run
