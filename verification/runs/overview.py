"""What the overview shows, from the figures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from urllib.parse import urlencode

from django.utils import timezone

from loomverify.accounts.models import Project
from processes.models import Process
from verification.runs import metrics, overview_judging, wording
from verification.runs.call_figures import call_figures
from verification.runs.columns import Columns, Step, columns_of
from verification.runs.figures import Figure, figures
from verification.runs.models import Run
from verification.runs.overview_judging import Judging
from verification.runs.rule_figures import rule_failures
from verification.runs.spans import DAY, HOUR, Window, iso

WINDOWS = ("24h", "7d", "30d", "90d")
TOP_REASONS = 8

# Bottom to top. Together they hold every finished run exactly once.
SEGMENTS: tuple[tuple[str, wording.Badge, dict[str, str]], ...] = (
    ("pass", wording.PASS, {"outcome": "pass", "verdict": "accept"}),
    ("warn", wording.WARNINGS, {"outcome": "pass_with_warnings", "verdict": "accept"}),
    ("part", wording.PARTIAL, {"outcome": "partial_verified", "verdict": "accept"}),
    ("fail", wording.FAIL, {"verdict": "reject"}),
    ("open", wording.UNDECIDED, {"verdict": "undecided"}),
)


@dataclass(frozen=True, slots=True)
class Share:
    """A number with the rows behind it."""

    badge: wording.Badge
    tone: str
    count: int
    share: float
    query: str

    @property
    def word(self) -> str:
        return self.badge.word


@dataclass(frozen=True, slots=True)
class Reason:
    code: str
    words: str
    count: int
    share: float
    query: str


@dataclass(frozen=True, slots=True)
class Overview:
    window: Window
    total: int
    shares: Sequence[Share]
    chart: Columns
    reasons: Sequence[Reason]
    undecided: Share
    deterministic_rate: float
    deterministic_count: int
    cost_usd: Decimal
    query: str
    judging: Judging


def overview(
    project: Project, window: Window, processes: Sequence[Process], process: Process | None
) -> Overview:
    """`processes` are all of the project; `process` narrows the figures to one."""
    narrowed = process.pk if process else None
    rows = figures(project.pk, window.span, process_id=narrowed)
    base = {"state": "finished", **({"process": process.slug} if process else {})}
    span = {**base, "since": iso(window.start)}
    total = sum(row.count for row in rows)
    shares = _shares(rows, total, span)
    deterministic = sum(row.deterministic_count for row in rows)
    judging = _judging(project, window, rows, narrowed, span)
    slugs = {one.pk: one.slug for one in processes}
    return Overview(
        window=window,
        total=total,
        shares=shares,
        chart=_chart(rows, window, base),
        reasons=_reasons(rows, total, span),
        undecided=shares[-1],
        deterministic_rate=_ratio(deterministic, total),
        deterministic_count=deterministic,
        cost_usd=sum((row.cost_usd for row in rows), Decimal(0)),
        query=urlencode(span),
        judging=replace(judging, cost=overview_judging.cost(rows, window, base, slugs)),
    )


def _judging(
    project: Project,
    window: Window,
    rows: Sequence[Figure],
    process_id: int | None,
    span: dict[str, str],
) -> Judging:
    readings = metrics.readings(call_figures(project.pk, window.span, process_id=process_id))
    failures = rule_failures(project.pk, window.span, process_id=process_id)
    total = sum(row.count for row in rows)
    return Judging(
        **overview_judging.rates(metrics.totals(rows), readings, span),
        stages=overview_judging.stages(readings, span),
        calls=readings.calls,
        lost=readings.lost,
        rules=overview_judging.rules(failures, total, span),
        cost=None,
    )


def has_runs(project: Project) -> bool:
    return Run.objects.filter(project=project).exists()


def window_of(name: str) -> Window | None:
    return Window.of(name, timezone.now())


def _segment(row: Figure) -> str:
    if row.verdict == "undecided":
        return "open"
    return wording.badge(row.outcome, row.verdict).tone


def _shares(rows: Sequence[Figure], total: int, span: dict[str, str]) -> list[Share]:
    counts: Counter[str] = Counter()
    for row in rows:
        counts[_segment(row)] += row.count
    return [
        Share(badge, tone, counts[tone], _ratio(counts[tone], total), urlencode({**span, **query}))
        for tone, badge, query in SEGMENTS
    ]


def _chart(rows: Sequence[Figure], window: Window, base: dict[str, str]) -> Columns:
    by_step: dict[datetime, list[Figure]] = defaultdict(list)
    for row in rows:
        by_step[row.start].append(row)
    steps = []
    for start in window.starts():
        found = by_step.get(start, [])
        span = {**base, "since": iso(start), "until": iso(start + window.step)}
        shares = _shares(found, sum(row.count for row in found), span)
        steps.append(Step(_label(start, window), shares, urlencode(span)))
    return columns_of(steps)


def _label(start: datetime, window: Window) -> str:
    if window.step == HOUR:
        return f"{start:%H:%M}"
    return f"{start:%-d %b}" if window.step == DAY else f"{start:%-d %b %H:%M}"


def _reasons(rows: Sequence[Figure], total: int, span: dict[str, str]) -> list[Reason]:
    counts: Counter[str] = Counter()
    for row in rows:
        if row.reason_code:
            counts[row.reason_code] += row.count
    return [
        Reason(
            code,
            wording.reason(code),
            count,
            _ratio(count, total),
            urlencode({**span, "reason_code": code}),
        )
        for code, count in counts.most_common(TOP_REASONS)
    ]


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
