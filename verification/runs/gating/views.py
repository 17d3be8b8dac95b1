"""Pages of gates: what one reported and wrote, and what those write that run."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from loomverify.accounts.access import AccessRequest, project_page
from verification.runs.evidence_store import EvidenceLost, read_blob
from verification.runs.exports import inline_text
from verification.runs.gating.going import (
    Going,
    evaluation_under_way,
    gate_under_way,
    going_of,
    seen_of,
)
from verification.runs.gating.log_page import LogPage
from verification.runs.gating.page import gate_of
from verification.runs.gating.report_page import GatePage
from verification.runs.models import Blob, GateResult, Run
from verification.runs.named import run_named


@require_safe
@project_page()
def run_gate(
    request: AccessRequest, run: uuid.UUID, evaluation: uuid.UUID, position: int
) -> HttpResponse:
    """What one gate reported, in its place on the run's page or as a page of its own."""
    found = run_named(request, run)
    row = _gate(found, evaluation, position)
    is_part = request.headers.get("HX-Target", "").startswith("gate-")
    part = "#report" if is_part and "HX-History-Restore-Request" not in request.headers else ""
    first = {
        f"{name}_from": _number(request.GET.get(name, ""))
        for name in ("tests", "problems", "files")
    }
    page = GatePage(found, row, **first)
    shown = {"run": found, "page": page}
    answer = render(request, f"runs/run_gate.html{part}", shown)
    answer["Vary"] = "HX-Target, Cookie"
    return answer


@require_safe
@project_page()
def run_gate_log(
    request: AccessRequest, run: uuid.UUID, evaluation: uuid.UUID, position: int
) -> HttpResponse:
    """What a gate wrote, line by line, in its colours."""
    found = run_named(request, run)
    row = _gate(found, evaluation, position)
    if row.log is None:
        raise Http404
    page = LogPage(row, _content(row.log), _number(request.GET.get("from", "")))
    return render(request, "runs/run_gate_log.html", {"run": found, "page": page})


@require_safe
@project_page()
def run_gate_text(
    request: AccessRequest, run: uuid.UUID, evaluation: uuid.UUID, position: int, kept: str
) -> HttpResponse:
    """What a gate wrote, or all that it reported: text, whatever it looks like."""
    row = _gate(run_named(request, run), evaluation, position)
    blob = {"log": row.log, "record": row.record}.get(kept)
    if blob is None:
        raise Http404
    return inline_text(_content(blob), f"{row.position}-{kept}.txt")


@require_safe
@project_page()
def run_gates_live(request: AccessRequest, run: uuid.UUID) -> HttpResponse:
    """The time axis as it is now, and what was written since: `seen` says since when."""
    found = run_named(request, run)
    evaluations = list(found.evaluations.order_by("started_at", "id"))
    going = evaluation_under_way(found, evaluations)
    if going is None:
        return HttpResponse(status=204)  # the page itself learns that the run is over
    shown = going_of(going, timezone.now(), seen_of(request.GET.get("seen", "")))
    return _live(request, found, shown)


@require_safe
@project_page()
def run_gate_live(request: AccessRequest, run: uuid.UUID, gate: int) -> HttpResponse:
    """What one gate writes, on a page of its own; once that is kept, its place there."""
    found = run_named(request, run)
    row = gate_under_way(found, gate)
    if row is None:
        return _gone(request, found)
    seen = seen_of(request.GET.get("seen", ""))
    going = Going([row], timezone.now(), seen)
    if request.headers.get("HX-Target") == "gates-going":
        return _live(request, found, going, gate=row)
    return render(request, "runs/run_gate_live.html", {"run": found, "going": going, "gate": row})


def _live(request: AccessRequest, run: Run, going: Going, **more: Any) -> HttpResponse:
    shown = {"run": run, "going": going, "is_since": True, **more}
    return render(request, "runs/_gates_going.html", shown)


def _gone(request: AccessRequest, run: Run) -> HttpResponse:
    answer = redirect("run_detail", project=request.access.project.slug, run=run.uuid)
    answer["Location"] += "#gates"
    if request.headers.get("HX-Request"):
        ended = HttpResponse(status=204)
        ended["HX-Redirect"] = answer["Location"]
        return ended
    return answer


def _number(asked: str) -> int:
    """As it stands in an address, from 1."""
    return int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 9 else 1


def _content(blob: Blob) -> bytes:
    try:
        return read_blob(blob)
    except EvidenceLost as error:
        raise Http404 from error


def _gate(run: Run, evaluation: uuid.UUID, position: int) -> GateResult:
    row = gate_of(run, evaluation, position)
    if row is None:
        raise Http404
    return row
