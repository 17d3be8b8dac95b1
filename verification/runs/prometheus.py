"""Verification as gauges: the last 24 hours by project and process.

Labels are bounded: reason codes and stages are closed sets, and no rule, model or task is one.
Source: docs/operations.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Sum
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily, Metric

from verification.engine.outcome import Verdict
from verification.engine.protocol.reply import Stage
from verification.runs.figures import PlacedFigure, figures_of_all
from verification.runs.metrics import Totals, totals
from verification.runs.models import OPEN_STATES, CallHour, Run
from verification.runs.review_figures import review_figures_of_all
from verification.runs.spans import Span

SPAN = timedelta(hours=24)
PLACE = ("project", "process")
PREFIX = "loomverify_verification"
LOST, UNREAD = "lost", "unread"

Place = tuple[str, str]


def gauges() -> Iterator[Metric]:
    """In a fixed number of queries, from the rollups and the current hour."""
    now = timezone.now()
    span = Span.by_days(now - SPAN, now)
    found = figures_of_all(span)
    yield _runs(found)
    yield from _by_place(found)
    yield from _calls(span)
    trying = Run.objects.filter(state__in=OPEN_STATES, undecided_since__isnull=False)
    yield GaugeMetricFamily(
        "loomverify_runs_undecided", "Runs that verify themselves again.", value=trying.count()
    )
    yield from _reviews(now)


def _reviews(now: datetime) -> Iterator[Metric]:
    pending = GaugeMetricFamily(
        "loomverify_reviews_pending", "Runs that wait for a person.", labels=PLACE
    )
    oldest = GaugeMetricFamily(
        "loomverify_reviews_oldest_seconds", "How long the oldest has waited.", labels=PLACE
    )
    held = GaugeMetricFamily(
        "loomverify_reviews_held", "Runs held back by a day's cap: nobody is asked.", labels=PLACE
    )
    for project, process, found in review_figures_of_all(now):
        pending.add_metric((project, process), found.pending)
        oldest.add_metric((project, process), found.oldest_seconds(now))
        held.add_metric((project, process), found.held)
    yield from (pending, oldest, held)


def _runs(found: Sequence[PlacedFigure]) -> Metric:
    counts: Counter[tuple[str, ...]] = Counter()
    for one in found:
        figure = one.figure
        counts[one.project, one.process, figure.verdict, figure.reason_code] += figure.count
    family = GaugeMetricFamily(
        f"{PREFIX}_runs",
        "Finished runs submitted in the last 24 hours.",
        labels=[*PLACE, "verdict", "reason_code"],
    )
    for key, count in counts.items():
        family.add_metric(key, count)
    return family


def _by_place(found: Sequence[PlacedFigure]) -> Iterator[Metric]:
    places = list(dict.fromkeys((one.project, one.process) for one in found))
    summed = {
        place: totals([one.figure for one in found if (one.project, one.process) == place])
        for place in places
    }
    for name, said in MEASURES.items():
        family = GaugeMetricFamily(
            f"{PREFIX}_{name}", f"{said} In the last 24 hours.", labels=PLACE
        )
        for place, total in summed.items():
            family.add_metric(place, float(_measure(total, name)))
        yield family


MEASURES = {
    "inconclusive": "Runs undecided after an answer that settled nothing.",
    "undecided": "Runs undecided for any reason.",
    "deterministic_blocks": "Runs that tier 1 rejected alone.",
    "retried": "Runs whose judge was asked again, the work not redone.",
    "retry_resolved": "Of these, the decided ones.",
    "false_fail_candidates": "Rejected runs that a person, or a judge in shadow, accepted.",
    "cost_usd": "What the runs have cost.",
}


def _measure(total: Totals, name: str) -> int | Decimal:
    measures: dict[str, int | Decimal] = {
        "inconclusive": total.inconclusive.count,
        "undecided": total.verdicts.get(Verdict.UNDECIDED, 0),
        "deterministic_blocks": total.deterministic_blocked.count,
        "retried": total.retry_resolved.n,
        "retry_resolved": total.retry_resolved.count,
        "false_fail_candidates": total.false_fail_candidates.count,
        "cost_usd": total.cost_usd,
    }
    return measures[name]


def _calls(span: Span) -> Iterator[Metric]:
    """`stage` is one of the eight, `lost`, or `unread` while a call is under way."""
    rows = CallHour.objects.filter(hour__gte=span.start, hour__lt=span.end).order_by()
    counted = rows.values_list("project__slug", "process__slug", "recovery", "lost")
    calls: Counter[tuple[str, ...]] = Counter()
    cost: dict[Place, Decimal] = {}
    for project, process, recovery, lost, count, spent in counted.annotate(
        Sum("calls"), Sum("cost_usd")
    ):
        stage = LOST if lost else recovery if recovery in set(Stage) else UNREAD
        calls[project, process, stage] += count
        cost[project, process] = cost.get((project, process), Decimal(0)) + spent
    family = GaugeMetricFamily(
        "loomverify_judge_calls",
        "Calls of judges in the last 24 hours, by the stage that read the answer.",
        labels=[*PLACE, "stage"],
    )
    paid = GaugeMetricFamily(
        "loomverify_judge_cost_usd", "What calls of the last 24 hours have cost.", labels=PLACE
    )
    for key, count in calls.items():
        family.add_metric(key, count)
    for place, spent in cost.items():
        paid.add_metric(place, float(spent))
    yield family
    yield paid
