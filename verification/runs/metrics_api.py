"""`/api/v1/metrics/verification`: the figures behind the overview."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.http import HttpRequest
from django.utils import timezone
from ninja import Field, Query, Router, Schema

from loomverify.api import access_of, errors
from loomverify.errors import InputError
from processes.selectors import process_by_slug
from verification.runs import metrics, rendering
from verification.runs.api import refuse_unknown_parameters
from verification.runs.call_figures import ModelFigure
from verification.runs.metrics import Metrics
from verification.runs.review_figures import ReviewFigures, review_figures
from verification.runs.rule_figures import RuleFailures
from verification.runs.selectors import moment
from verification.runs.spans import Span

router = Router(tags=["Figures"])

MAX_SPAN = timedelta(days=400)


class MetricsQuery(Schema):
    """Times are RFC 3339, dates, or spans before now: `24h`, `7d`. Whole hours are counted."""

    since: str = "7d"
    until: str = Field("", description="Now, where it is left out.")
    process: str = ""


class CountsOut(Schema):
    finished: int
    accepted: int
    rejected: int
    undecided: int
    inconclusive: int
    retried: int
    retry_resolved: int
    deterministic_blocked: int
    overturned: int
    shadow_passed: int


class ReasonCountOut(Schema):
    reason_code: str
    severity_class: str | None
    count: int


class RuleFailureOut(Schema):
    """`count` is of runs: each counts once for a rule, by its most severe finding."""

    rule: str
    type: str
    enforcement: str
    reason_code: str
    count: int


class ModelCallsOut(Schema):
    model: str
    calls: int
    cached: int
    lost: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: str


class CallsOut(Schema):
    """Calls made in the span, whenever their runs were submitted."""

    calls: int
    cached: int
    lost: int
    unreadable_rate: float | None
    by_model: list[ModelCallsOut]


class ProcessCostOut(Schema):
    process: str
    runs: int
    cost_usd: str


class DayCostOut(Schema):
    day: str
    cost_usd: str


class CostOut(Schema):
    """What the finished runs submitted in the span have cost."""

    total: str
    by_process: list[ProcessCostOut]
    by_day: list[DayCostOut]
    by_model: dict[str, str]


class ReviewsOut(Schema):
    """Now, whatever the span: what waits for a person, and what the day's cap held back."""

    pending: int
    oldest_seconds: float | None
    held_back: int


class MetricsOut(Schema):
    """Rates are 0 to 1, and null where there is nothing to count."""

    since: str
    until: str
    process: str | None
    inconclusive_rate: float | None
    undecided_rate: float | None
    retry_resolved_rate: float | None
    deterministic_block_rate: float | None
    false_fail_candidates: int
    undecided: int
    n: CountsOut
    recovery: dict[str, int]
    calls: CallsOut
    reasons: list[ReasonCountOut]
    rule_failures: list[RuleFailureOut]
    cost_usd: CostOut
    reviews: ReviewsOut


@router.get(
    "/metrics/verification",
    response={200: MetricsOut} | errors(400, 404, 422),
    summary="The figures behind the overview",
)
def verification_metrics(request: HttpRequest, query: Query[MetricsQuery]) -> MetricsOut:
    """Finished runs count in the hour they were submitted in, calls in the hour they were made."""
    refuse_unknown_parameters(request, MetricsQuery)
    project = access_of(request).project
    process = process_by_slug(project, query.process) if query.process else None
    found = metrics.metrics(project, _span(query), process)
    now = timezone.now()
    return _rendered(found, query.process, _reviews(review_figures(project, process, now=now), now))


def _span(query: MetricsQuery) -> Span:
    since = moment("since", query.since)
    until = moment("until", query.until) if query.until else timezone.now()
    if since >= until or until - since > MAX_SPAN:
        raise InputError(
            "span.invalid",
            f"The span ends after it begins, at most {MAX_SPAN.days} days later.",
            loc=("query", "since"),
            status=400,
        )
    return Span.by_days(since, until)


def _reviews(found: ReviewFigures, now: datetime) -> ReviewsOut:
    return ReviewsOut(
        pending=found.pending,
        oldest_seconds=round(found.oldest_seconds(now), 3) if found.oldest else None,
        held_back=found.held,
    )


def _rendered(found: Metrics, process: str, reviews: ReviewsOut) -> MetricsOut:
    totals, readings = found.totals, found.readings
    return MetricsOut(
        since=f"{found.span.start:%Y-%m-%dT%H:%M:%SZ}",
        until=f"{found.span.end:%Y-%m-%dT%H:%M:%SZ}",
        process=process or None,
        inconclusive_rate=totals.inconclusive.rate,
        undecided_rate=totals.undecided.rate,
        retry_resolved_rate=totals.retry_resolved.rate,
        deterministic_block_rate=totals.deterministic_blocked.rate,
        false_fail_candidates=totals.false_fail_candidates.count,
        undecided=totals.undecided.count,
        n=_counts(found),
        recovery={stage.value: count for stage, count in readings.stages.items()},
        calls=CallsOut(
            calls=readings.calls,
            cached=readings.cached,
            lost=readings.lost,
            unreadable_rate=readings.unreadable.rate,
            by_model=[_model(one) for one in readings.models],
        ),
        reasons=[
            ReasonCountOut(reason_code=code, severity_class=severity or None, count=count)
            for code, severity, count in found.reasons
        ],
        rule_failures=[_rule(one) for one in found.rules],
        cost_usd=_cost(found),
        reviews=reviews,
    )


def _counts(found: Metrics) -> CountsOut:
    totals = found.totals
    return CountsOut(
        finished=totals.runs,
        accepted=totals.verdicts.get("accept", 0),
        rejected=totals.verdicts.get("reject", 0),
        undecided=totals.undecided.count,
        inconclusive=totals.inconclusive.count,
        retried=totals.retry_resolved.n,
        retry_resolved=totals.retry_resolved.count,
        deterministic_blocked=totals.deterministic_blocked.count,
        overturned=totals.overturned,
        shadow_passed=totals.shadow_passed,
    )


def _cost(found: Metrics) -> CostOut:
    return CostOut(
        total=rendering.usd(found.totals.cost_usd),
        by_process=[
            ProcessCostOut(process=one.slug, runs=one.runs, cost_usd=rendering.usd(one.cost_usd))
            for one in found.processes
        ],
        by_day=[
            DayCostOut(day=f"{one.start:%Y-%m-%d}", cost_usd=rendering.usd(one.cost_usd))
            for one in found.days
        ],
        by_model={one.model: rendering.usd(one.cost_usd) for one in found.readings.models},
    )


def _model(one: ModelFigure) -> ModelCallsOut:
    return ModelCallsOut(
        model=one.model,
        calls=one.calls,
        cached=one.cached,
        lost=one.lost,
        prompt_tokens=one.prompt_tokens,
        completion_tokens=one.completion_tokens,
        cost_usd=rendering.usd(one.cost_usd),
    )


def _rule(one: RuleFailures) -> RuleFailureOut:
    return RuleFailureOut(
        rule=one.rule,
        type=one.source,
        enforcement=one.enforcement,
        reason_code=one.reason_code,
        count=one.count,
    )
