"""Pages of what judges were asked and said, and the texts that were made of a submission."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from loomverify.accounts.access import AccessRequest, project_page
from verification.runs.artefacts import MAX_SHOWN_LINES
from verification.runs.evidence_store import EvidenceLost, read_blob
from verification.runs.exchanges import LINES_SHOWN, call_of, exchange
from verification.runs.exports import attachment
from verification.runs.judged_page import artefact_of
from verification.runs.models import Blob, ModelCall, Run
from verification.runs.named import run_named

MAX_NUMBER = 2**31 - 1


@require_safe
@project_page()
def run_call(
    request: AccessRequest, run: uuid.UUID, evaluation: uuid.UUID, tier: int, seq: int
) -> HttpResponse:
    found = run_named(request, run)
    row = _call(found, evaluation, tier, seq)
    is_whole = request.GET.get("lines") == "all"
    shown: dict[str, Any] = {
        "run": found,
        "exchange": exchange(row, limit=MAX_SHOWN_LINES if is_whole else LINES_SHOWN),
    }
    is_part = request.headers.get("HX-Target", "").startswith("call-")
    part = "#exchange" if is_part and "HX-History-Restore-Request" not in request.headers else ""
    answer = render(request, f"runs/run_call.html{part}", shown)
    answer["Vary"] = "HX-Target, Cookie"
    return answer


@require_safe
@project_page()
def run_call_text(
    request: AccessRequest, run: uuid.UUID, evaluation: uuid.UUID, tier: int, seq: int, side: str
) -> HttpResponse:
    row = _call(run_named(request, run), evaluation, tier, seq)
    blob = {"request": row.request, "reply": row.reply}.get(side)
    return _attached(blob, f"call-{tier}-{seq}-{side}.txt")


@require_safe
@project_page()
def run_artefact(request: AccessRequest, run: uuid.UUID, artefact: uuid.UUID) -> HttpResponse:
    row = artefact_of(run_named(request, run), artefact)
    if row is None:
        raise Http404
    return _attached(row.blob, row.file_name)


def _attached(blob: Blob | None, name: str) -> HttpResponse:
    try:
        if blob is not None:
            return attachment(read_blob(blob), name)
    except EvidenceLost as error:
        raise Http404 from error
    raise Http404


def _call(run: Run, evaluation: uuid.UUID, tier: int, seq: int) -> ModelCall:
    row = call_of(run, evaluation, tier, seq) if max(tier, seq) <= MAX_NUMBER else None
    if row is None:
        raise Http404
    return row
