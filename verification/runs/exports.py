"""A run in other shapes: unfolded events, attachments."""

from __future__ import annotations

from datetime import datetime
from typing import TypeVar

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header

from verification.runs import rendering
from verification.runs.models import Run
from verification.runs.schemas import EventOut

Answer = TypeVar("Answer", bound=HttpResponseBase)

ENDS = frozenset({"verification_passed", "verification_rejected", "verification_undecided"})


def attachment(
    content: bytes, path: str, content_type: str = "application/octet-stream"
) -> HttpResponse:
    """Submitted bytes are never shown by the browser, only saved."""
    response = HttpResponse(content, content_type=content_type)
    name = path.rpartition("/")[2]
    response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    return sealed(response)


def inline_text(content: bytes, name: str) -> HttpResponse:
    """Text, whatever it looks like."""
    response = HttpResponse(content, content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = content_disposition_header(False, name) or "inline"
    return sealed(response)


def sealed(response: Answer) -> Answer:
    """Nothing in it is run, or taken for something else."""
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response


def unfolded_events(run: Run) -> list[EventOut]:
    """The run's events, with the live evaluation's trace behind its end."""
    shown: list[EventOut] = []
    rows = list(run.events.order_by("seq"))
    ends = [row.seq for row in rows if row.kind in ENDS]
    for row in rows:
        shown.append(rendering.event(row))
        if ends and row.seq == ends[-1]:
            shown.extend(_rule_events(run, row.seq, row.at))
    return shown


def _rule_events(run: Run, seq: int, at: datetime) -> list[EventOut]:
    trace = run.live_evaluation.rule_trace if run.live_evaluation else []
    return [
        EventOut(
            seq=seq,
            kind="rule_applied" if entry["applied"] else "rule_skipped",
            at=at,
            data={
                key: entry[key] for key in ("rule", "phase", "verdict", "reason") if key in entry
            },
        )
        for entry in trace
    ]
