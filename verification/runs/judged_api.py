"""What judges were asked and said, and the texts that were made of a submission."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Router

from loomverify.api import access_of, errors
from loomverify.errors import NotFound
from verification.engine.outcome import COUNTING
from verification.runs import exports, judged_schemas, rendering
from verification.runs.api import run_of
from verification.runs.evidence_store import read_blob
from verification.runs.exchanges import call_of
from verification.runs.judged_page import artefact_of
from verification.runs.models import Blob, ModelCall

router = Router(tags=["Runs"])

MAX_CALLS = 1_000
MAX_NUMBER = 2**31 - 1
ATTACHMENT = {
    "responses": {
        200: {
            "description": "The text, byte for byte, always an attachment",
            "content": {"application/octet-stream": {}},
        }
    }
}


@router.get(
    "/runs/{uuid:run_id}/calls",
    response={200: judged_schemas.CallList} | errors(404, 422),
    summary="What judges were asked about a run",
)
def list_calls(
    request: HttpRequest, run_id: UUID, evaluation: UUID | None = None
) -> judged_schemas.CallList:
    """Evaluation by evaluation, oldest first, each in the order in which calls were made.

    Those beside the run, in shadow, are listed by the `evaluation` of their comparison alone.
    """
    run = run_of(access_of(request), run_id)
    rows = ModelCall.objects.filter(evaluation__run=run).select_related("evaluation")
    wanted = (
        {"evaluation__uuid": evaluation} if evaluation else {"evaluation__purpose__in": COUNTING}
    )
    ordered = rows.filter(**wanted).order_by("evaluation_id", "tier", "seq")[:MAX_CALLS]
    return judged_schemas.CallList(items=[_call(row, run_id) for row in ordered], next=None)


@router.get(
    "/runs/{uuid:run_id}/calls/{uuid:evaluation_id}/{int:tier}/{int:seq}/{side}",
    response=errors(404, 422),
    openapi_extra=ATTACHMENT,
    summary="The prompt or the reply of one call",
)
def download_call(
    request: HttpRequest,
    run_id: UUID,
    evaluation_id: UUID,
    tier: int,
    seq: int,
    side: Literal["request", "reply"],
) -> HttpResponse:
    run = run_of(access_of(request), run_id)
    row = call_of(run, evaluation_id, tier, seq) if max(tier, seq) <= MAX_NUMBER else None
    blob: Blob | None = getattr(row, side) if row else None
    if blob is None:
        raise NotFound("call.unknown", "This run has no such call, or nothing was said in it.")
    return exports.attachment(read_blob(blob), f"call-{tier}-{seq}-{side}.txt")


@router.get(
    "/runs/{uuid:run_id}/artefacts/{uuid:artefact_id}",
    response=errors(404),
    openapi_extra=ATTACHMENT,
    summary="A text that was made of the submission",
)
def download_artefact(request: HttpRequest, run_id: UUID, artefact_id: UUID) -> HttpResponse:
    row = artefact_of(run_of(access_of(request), run_id), artefact_id)
    if row is None:
        raise NotFound("artefact.unknown", "Nothing of this name was made of this run's work.")
    return exports.attachment(read_blob(row.blob), row.file_name)


def _call(row: ModelCall, run_id: UUID) -> judged_schemas.CallOut:
    return judged_schemas.CallOut(
        evaluation=row.evaluation.uuid,
        purpose=row.evaluation.purpose,
        tier=row.tier,
        seq=row.seq,
        ask=row.ask,
        judge=row.judge,
        model=row.model,
        tried=row.tried,
        cached=row.cached,
        lost=row.lost or None,
        recovery=row.recovery or None,
        error=row.error or None,
        prompt_tokens=row.prompt_tokens,
        completion_tokens=row.completion_tokens,
        cost_usd=rendering.usd(row.cost_usd),
        duration_ms=row.duration_ms,
        at=row.created_at,
        request_url=_url(row, run_id, "request") if row.request_id else None,
        reply_url=_url(row, run_id, "reply") if row.reply_id else None,
    )


def _url(row: ModelCall, run_id: UUID, side: str) -> str:
    where = {"run_id": run_id, "evaluation_id": row.evaluation.uuid}
    return rendering.api_url("download_call", **where, tier=row.tier, seq=row.seq, side=side)
