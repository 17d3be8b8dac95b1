"""What gates wrote, and what those write that run."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from loomverify.api import access_of, errors
from loomverify.errors import NotFound
from verification.runs import exports
from verification.runs.api import run_of
from verification.runs.evidence_store import read_blob
from verification.runs.gating import going
from verification.runs.gating.page import gate_of
from verification.runs.gating.schemas import GoingOutputOut

router = Router(tags=["Runs"])

ATTACHMENT = {
    "responses": {
        200: {
            "description": "The text, byte for byte, always an attachment",
            "content": {"application/octet-stream": {}},
        }
    }
}
MAX_SINCE = 2**62


@router.get(
    "/runs/{uuid:run_id}/gates/{uuid:evaluation_id}/{int:position}/log",
    response=errors(404),
    openapi_extra=ATTACHMENT,
    summary="What a gate wrote",
)
def download_gate_log(
    request: HttpRequest, run_id: UUID, evaluation_id: UUID, position: int
) -> HttpResponse:
    """Its standard output, then its error output: of each at most 1 MB, its head and its tail."""
    row = gate_of(run_of(access_of(request), run_id), evaluation_id, position)
    if row is None or row.log is None:
        raise NotFound("gate.unknown", "This run has no such gate, or nothing of it is kept.")
    return exports.attachment(read_blob(row.log), f"gate-{row.gate}-{position}.txt")


@router.get(
    "/runs/{uuid:run_id}/gates/running/{int:gate_id}/output",
    response={200: GoingOutputOut} | errors(404, 422),
    summary="What a gate that runs writes",
)
def gate_output(
    request: HttpRequest,
    run_id: UUID,
    gate_id: int,
    since: Annotated[
        int, Query(ge=0, le=MAX_SINCE, description="`next` of the answer before.")
    ] = 0,
) -> GoingOutputOut:
    """At most the last 64,000 characters.

    When the run's gates are over, this is there no longer: `gates` of the run tells of each then,
    and `log_url` leads to all that is kept.
    """
    row = going.gate_under_way(run_of(access_of(request), run_id), gate_id)
    if row is None:
        raise NotFound("gate.over", "No such gate runs: its run's gates may be over.")
    new, left_out = going.since(row, since)
    return GoingOutputOut(text=new, left_out=left_out, next=row.written, status=row.status or None)
