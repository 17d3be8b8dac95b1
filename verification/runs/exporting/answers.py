"""Exports as HTTP answers: always attachments, never held whole in memory where they are long."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from enum import StrEnum

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import FileResponse, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from loomverify.errors import Conflict
from verification.runs.exporting.archive import evidence_archive
from verification.runs.exporting.gathered import RunReport, report_of
from verification.runs.exporting.junit import junit
from verification.runs.exporting.markdown import markdown
from verification.runs.exporting.sarif import sarif
from verification.runs.exporting.tables import BYTE_ORDER_MARK, Table, findings_table
from verification.runs.exports import sealed
from verification.runs.models import OPEN_STATES, Run

EVIDENCE = "evidence.zip"
CUT_HEADER = "LoomVerify-Rows-Left-Out"


class RunExport(StrEnum):
    """What one run can be saved as; the values are file names."""

    SARIF = "findings.sarif"
    JUNIT = "junit.xml"
    REPORT = "report.md"
    FINDINGS = "findings.csv"


CONTENT_TYPES = {
    RunExport.SARIF: "application/sarif+json",
    RunExport.JUNIT: "application/xml",
    RunExport.REPORT: "text/markdown; charset=utf-8",
    RunExport.FINDINGS: "text/csv; charset=utf-8",
}
WRITERS: dict[RunExport, Callable[[RunReport], str | bytes]] = {
    RunExport.SARIF: sarif,
    RunExport.JUNIT: junit,
    RunExport.REPORT: markdown,
}


def run_export(
    request: HttpRequest, run: Run, export: RunExport, *, for_people: bool = False
) -> HttpResponseBase:
    """One run in another format.

    Raises:
        Conflict: `run.not_over`: an export of a run under way would be read as its verdict.
    """
    _refuse_open(run)
    if export is RunExport.FINDINGS:
        table = findings_table(Run.objects.filter(pk=run.pk))
        answer = table_export(request, table, for_people=for_people)
    else:
        content = WRITERS[export](report_of(run))
        answer = HttpResponse(content, content_type=CONTENT_TYPES[export])
    return _attached(answer, f"run-{run.uuid.hex[:8]}-{export}")


def evidence_export(run: Run) -> HttpResponseBase:
    """All the evidence of one run, as one zip file.

    Raises:
        Conflict: `run.not_over`.
    """
    _refuse_open(run)
    answer = FileResponse(evidence_archive(run), content_type="application/zip")
    return _attached(answer, f"run-{run.uuid.hex[:8]}-{EVIDENCE}")


def _refuse_open(run: Run) -> None:
    if run.state in OPEN_STATES:
        raise Conflict(
            "run.not_over", "This run is not over yet: wait for its end, then export it."
        )


def table_export(request: HttpRequest, table: Table, *, for_people: bool) -> HttpResponseBase:
    """A long table, sent as it is read. For people it begins as spreadsheets want UTF-8."""
    mark = BYTE_ORDER_MARK if for_people else ""
    table = replace(table, chunks=_with_first(mark, table.chunks))
    return streamed(request, table, suffix="csv", kind=CONTENT_TYPES[RunExport.FINDINGS])


def streamed(request: HttpRequest, table: Table, *, suffix: str, kind: str) -> HttpResponseBase:
    """A long text of rows in any format, sent as it is read."""
    chunks = (text.encode() for text in table.chunks)
    name = f"{table.name}{'-newest' if table.is_cut else ''}.{suffix}"
    answer = streamed_bytes(request, chunks, kind=kind, name=name)
    answer[CUT_HEADER] = "true" if table.is_cut else "false"
    return answer


def streamed_bytes(
    request: HttpRequest, chunks: Iterator[bytes], *, kind: str, name: str
) -> HttpResponseBase:
    """A long content, sent as it is made. Empty chunks are left out: one would be its end."""
    filled = (chunk for chunk in chunks if chunk)
    is_async = isinstance(request, ASGIRequest)
    answer = StreamingHttpResponse(_read_aside(filled) if is_async else filled, content_type=kind)
    return _attached(answer, name)


def _with_first(first: str, texts: Iterator[str]) -> Iterator[str]:
    if first:
        yield first
    yield from texts


async def _read_aside(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Read each chunk off the event loop; Django would collect a plain iterator whole."""
    step = sync_to_async(lambda: next(chunks, b""))
    while chunk := await step():
        yield chunk


def _attached(answer: HttpResponseBase, name: str) -> HttpResponseBase:
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    answer["Cache-Control"] = "no-store"
    return sealed(answer)
