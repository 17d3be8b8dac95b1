"""What judges were asked, how their answers were read and what that cost, by hours."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import QuerySet, Sum

from verification.engine.protocol.reply import Stage
from verification.runs.models import CallHour
from verification.runs.spans import Span

SUMMED = ("calls", "cached", "prompt_tokens", "completion_tokens", "cost_usd")


@dataclass(frozen=True, slots=True)
class CallFigure:
    """Calls of one model that were read, or lost, in the same way."""

    model: str
    recovery: str
    lost: str
    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Decimal


@dataclass(frozen=True, slots=True)
class ModelFigure:
    model: str
    calls: int
    cached: int
    lost: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Decimal


def call_figures(
    project_id: int, span: Span, *, process_id: int | None = None
) -> Sequence[CallFigure]:
    """Count the calls of a span by model and by what became of them."""
    rows: QuerySet[CallHour] = CallHour.objects.filter(
        project=project_id, hour__gte=span.start, hour__lt=span.end
    )
    if process_id is not None:
        rows = rows.filter(process=process_id)
    counted = rows.order_by().values_list("model", "recovery", "lost")
    return [CallFigure(*row) for row in counted.annotate(*(Sum(name) for name in SUMMED))]


def usual_answer(project_id: int, model: str, *, since: datetime) -> int | None:
    """How many tokens an answer of a model has on average. None: there was none since then."""
    rows = CallHour.objects.filter(project=project_id, model=model, lost="", hour__gte=since)
    found = rows.aggregate(calls=Sum("calls"), tokens=Sum("completion_tokens"))
    return math.ceil(found["tokens"] / found["calls"]) if found["calls"] else None


def by_stage(rows: Iterable[CallFigure]) -> dict[Stage, int]:
    """Answers by the stage that read them; every stage is there, those of no answer too."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row.recovery] += row.calls
    return {stage: counts[stage] for stage in Stage}


def by_model(rows: Iterable[CallFigure]) -> list[ModelFigure]:
    """Most expensive first."""
    found: dict[str, list[CallFigure]] = defaultdict(list)
    for row in rows:
        found[row.model].append(row)
    models = [
        ModelFigure(
            model,
            calls=sum(row.calls for row in rows),
            cached=sum(row.cached for row in rows),
            lost=sum(row.calls for row in rows if row.lost),
            prompt_tokens=sum(row.prompt_tokens for row in rows),
            completion_tokens=sum(row.completion_tokens for row in rows),
            cost_usd=sum((row.cost_usd for row in rows), Decimal(0)),
        )
        for model, rows in found.items()
    ]
    return sorted(models, key=lambda one: (-one.cost_usd, -one.calls, one.model))
