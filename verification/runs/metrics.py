"""The measures of verification over a span, from the figures. Source: docs/api.md, "Figures"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from loomverify.accounts.models import Project
from processes.models import Process
from verification.engine.outcome import SeverityClass, Verdict
from verification.engine.protocol.reply import Stage
from verification.runs import call_figures, rule_figures
from verification.runs.call_figures import CallFigure, ModelFigure
from verification.runs.figures import Figure, figures
from verification.runs.rule_figures import RuleFailures
from verification.runs.spans import Span


@dataclass(frozen=True, slots=True)
class Share:
    """`count` of `n`."""

    count: int
    n: int

    @property
    def rate(self) -> float | None:
        """0 to 1; None where there is nothing to count."""
        return self.count / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class Totals:
    """Finished runs, counted from rows that share process and conclusion."""

    runs: int
    verdicts: Mapping[str, int]
    undecided: Share
    inconclusive: Share
    retry_resolved: Share
    deterministic_blocked: Share
    overturned: int
    shadow_passed: int
    cost_usd: Decimal

    @property
    def false_fail_candidates(self) -> Share:
        """Of the rejected ones, those that a person, or a judge in shadow, accepted."""
        rejected = self.verdicts.get(Verdict.REJECT, 0)
        return Share(self.overturned + self.shadow_passed, rejected)


@dataclass(frozen=True, slots=True)
class Readings:
    """Answers of judges, by how they were read."""

    calls: int
    cached: int
    lost: int
    stages: Mapping[Stage, int]
    models: Sequence[ModelFigure]

    @property
    def unreadable(self) -> Share:
        return Share(self.stages[Stage.UNREADABLE], sum(self.stages.values()))


@dataclass(frozen=True, slots=True)
class ProcessCost:
    slug: str
    runs: int
    cost_usd: Decimal


@dataclass(frozen=True, slots=True)
class DayCost:
    start: datetime
    cost_usd: Decimal


@dataclass(frozen=True, slots=True)
class Metrics:
    span: Span
    totals: Totals
    readings: Readings
    reasons: Sequence[tuple[str, str, int]]
    rules: Sequence[RuleFailures]
    processes: Sequence[ProcessCost]
    days: Sequence[DayCost]


def metrics(project: Project, span: Span, process: Process | None = None) -> Metrics:
    """Everything that is measured, in a fixed number of queries."""
    narrowed = process.pk if process else None
    rows = figures(project.pk, span, process_id=narrowed)
    return Metrics(
        span=span,
        totals=totals(rows),
        readings=readings(call_figures.call_figures(project.pk, span, process_id=narrowed)),
        reasons=_reasons(rows),
        rules=rule_figures.rule_failures(project.pk, span, process_id=narrowed),
        processes=cost_by_process(project, rows),
        days=_cost_by_day(rows),
    )


def totals(rows: Sequence[Figure]) -> Totals:
    verdicts: Counter[str] = Counter()
    for row in rows:
        verdicts[row.verdict] += row.count
    runs = sum(verdicts.values())
    inconclusive = [
        row.count
        for row in rows
        if row.verdict == Verdict.UNDECIDED and row.severity_class == SeverityClass.INCONCLUSIVE
    ]
    decided = [row.retried_count for row in rows if row.verdict != Verdict.UNDECIDED]
    return Totals(
        runs=runs,
        verdicts=verdicts,
        undecided=Share(verdicts[Verdict.UNDECIDED], runs),
        inconclusive=Share(sum(inconclusive), runs),
        retry_resolved=Share(sum(decided), sum(row.retried_count for row in rows)),
        deterministic_blocked=Share(sum(row.deterministic_count for row in rows), runs),
        overturned=sum(row.overturned_count for row in rows),
        shadow_passed=sum(row.shadow_passed_count for row in rows),
        cost_usd=sum((row.cost_usd for row in rows), Decimal(0)),
    )


def readings(rows: Sequence[CallFigure]) -> Readings:
    return Readings(
        calls=sum(row.calls for row in rows),
        cached=sum(row.cached for row in rows),
        lost=sum(row.calls for row in rows if row.lost),
        stages=call_figures.by_stage(rows),
        models=call_figures.by_model(rows),
    )


def cost_by_process(project: Project, rows: Sequence[Figure]) -> list[ProcessCost]:
    """Most expensive first; processes without a run are left out."""
    slugs = dict(Process.objects.filter(project=project).values_list("pk", "slug"))
    runs: Counter[int] = Counter()
    cost: Counter[int] = Counter()
    for row in rows:
        runs[row.process_id] += row.count
        cost[row.process_id] += row.cost_usd  # type: ignore[assignment]
    found = [ProcessCost(slugs[pk], runs[pk], Decimal(cost[pk])) for pk in runs if pk in slugs]
    return sorted(found, key=lambda one: (-one.cost_usd, -one.runs, one.slug))


def _reasons(rows: Sequence[Figure]) -> list[tuple[str, str, int]]:
    counts: Counter[tuple[str, str]] = Counter()
    for row in rows:
        if row.reason_code:
            counts[row.reason_code, row.severity_class] += row.count
    return [(*key, count) for key, count in counts.most_common()]


def _cost_by_day(rows: Sequence[Figure]) -> list[DayCost]:
    cost: dict[datetime, Decimal] = {}
    for row in rows:
        cost[row.start] = cost.get(row.start, Decimal(0)) + row.cost_usd
    return [DayCost(start, cost[start]) for start in sorted(cost)]
