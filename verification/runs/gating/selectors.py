"""The gates of evaluations, as pages and the API read them."""

from __future__ import annotations

from django.db.models import QuerySet

from verification.runs.models import GateResult


def gate_rows() -> QuerySet[GateResult]:
    """In their order, each with the run it was reused from, without what only the engine reads."""
    rows = GateResult.objects.select_related("reused_from").order_by("position")
    return rows.defer("report", "reused_from__search", "reused_from__result")
