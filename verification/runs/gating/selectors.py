"""The gates of evaluations, as pages and the API read them."""

from __future__ import annotations

from typing import TypeVar

from django.db.models import F, Func, IntegerField, QuerySet

from verification.runs.models import BaseGateResult, GateResult

Rows = TypeVar("Rows", GateResult, BaseGateResult)

OF_REPORT = (
    "is_guess", "is_word", "is_lost", "contradiction", "problem_count", "reused_from",
    "old_failures", "old_problems", "coverage", "changed_lines", "unreported",
    "is_coverage_word",
)  # fmt: skip


class Waived(Func):
    """How many of a report's problems somebody accepts."""

    template = (
        "jsonb_array_length(jsonb_path_query_array("
        """%(expressions)s, '$.problems[*] ? (@.waived != "")'))"""
    )
    output_field = IntegerField()


def shown_rows(rows: type[Rows]) -> QuerySet[Rows]:
    """In their order, each with the run it was reused from.

    What a line says of a report is `told_…`; the reports themselves may be long.
    """
    return _in_order(with_told(rows._default_manager.all()))


def with_told(rows: QuerySet[Rows]) -> QuerySet[Rows]:
    told = {f"told_{name}": F(f"report__{name}") for name in OF_REPORT}
    return rows.annotate(**told, told_waived=Waived(F("report")))


def _in_order(rows: QuerySet[Rows]) -> QuerySet[Rows]:
    found = rows.select_related("reused_from").order_by("position")
    return found.defer("report", "reused_from__search", "reused_from__result")
