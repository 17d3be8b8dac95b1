"""What the overview shows of judges: how they were read, which rules fail, what it cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from urllib.parse import urlencode

from verification.runs import judge_wording, wording
from verification.runs.figures import Figure
from verification.runs.metrics import Readings, Totals
from verification.runs.rule_figures import RuleFailures
from verification.runs.spans import DAY, HOUR, Window, iso

TOP_RULES = 10
TOP_PROCESSES = 5
COST_WIDTH, COST_HEIGHT = 1000, 100
MIN_HEIGHT, MAX_WIDTH = 1.5, 48


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with the rows behind it; `share` None: nothing to count."""

    share: float | None
    count: int
    n: int
    query: str


@dataclass(frozen=True, slots=True)
class StageCount:
    words: str
    said: str
    count: int
    share: float
    query: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class RuleCount:
    """`levels` and `reasons` in words, most frequent first."""

    rule: str
    levels: str
    reasons: str
    count: int
    share: float
    query: str


@dataclass(frozen=True, slots=True)
class CostCell:
    cost_usd: Decimal
    query: str


@dataclass(frozen=True, slots=True)
class CostColumn:
    """A day, or an hour of the last 24."""

    label: str
    total: CostCell
    cells: Sequence[CostCell]
    x: str
    width: str
    y: str
    height: str


@dataclass(frozen=True, slots=True)
class Cost:
    """`names` are the processes that cost most; `totals` stand in their order."""

    names: Sequence[str]
    totals: Sequence[CostCell]
    columns: Sequence[CostColumn]
    ticks: Sequence[str]
    top: Decimal
    step: str


@dataclass(frozen=True, slots=True)
class Judging:
    inconclusive: Rate
    retry_resolved: Rate
    false_fail: Rate
    unreadable: Rate
    stages: Sequence[StageCount]
    calls: int
    lost: int
    rules: Sequence[RuleCount]
    cost: Cost | None


def rates(totals: Totals, readings: Readings, span: Mapping[str, str]) -> dict[str, Rate]:
    """The tiles, each with the query that lists its runs."""
    asked = {
        "inconclusive": (
            totals.inconclusive,
            {"verdict": "undecided", "severity_class": "inconclusive"},
        ),
        "retry_resolved": (totals.retry_resolved, {"only": "retry_resolved"}),
        "false_fail": (totals.false_fail_candidates, {"only": "false_fail"}),
        "unreadable": (readings.unreadable, {"recovery": "unreadable"}),
    }
    return {
        name: Rate(share.rate, share.count, share.n, urlencode({**span, **query}))
        for name, (share, query) in asked.items()
    }


def stages(readings: Readings, span: Mapping[str, str]) -> list[StageCount]:
    """All eight, in the order in which they are tried."""
    total = sum(readings.stages.values())
    return [
        StageCount(
            words=judge_wording.STAGES[stage].short,
            said=judge_wording.STAGES[stage].said,
            count=count,
            share=count / total if total else 0.0,
            query=urlencode({**span, "recovery": stage.value}),
            tone=judge_wording.STAGES[stage].tone,
        )
        for stage, count in readings.stages.items()
    ]


def rules(failures: Sequence[RuleFailures], runs: int, span: Mapping[str, str]) -> list[RuleCount]:
    """The rules that most runs violated."""
    by_rule: dict[str, list[RuleFailures]] = defaultdict(list)
    for one in failures:
        by_rule[one.rule].append(one)
    counted = sorted(
        ((sum(one.count for one in found), rule) for rule, found in by_rule.items()),
        key=lambda pair: (-pair[0], pair[1]),
    )
    return [
        RuleCount(
            rule=rule,
            levels=", ".join(dict.fromkeys(one.enforcement for one in by_rule[rule])),
            reasons="; ".join(
                dict.fromkeys(wording.reason(one.reason_code) for one in by_rule[rule])
            ),
            count=count,
            share=min(1.0, count / runs) if runs else 0.0,
            query=urlencode({**span, "rule": rule}),
        )
        for count, rule in counted[:TOP_RULES]
    ]


def cost(
    rows: Sequence[Figure], window: Window, base: Mapping[str, str], slugs: Mapping[int, str]
) -> Cost | None:
    """What runs have cost by process and day. None: nothing was paid."""
    step = HOUR if window.step == HOUR else DAY
    spent: dict[tuple[datetime, int], Decimal] = defaultdict(Decimal)
    by_process: dict[int, Decimal] = defaultdict(Decimal)
    by_day: dict[datetime, Decimal] = defaultdict(Decimal)
    for row in rows:
        day = _begin(row.start, step)
        spent[day, row.process_id] += row.cost_usd
        by_process[row.process_id] += row.cost_usd
        by_day[day] += row.cost_usd
    top = max(by_day.values(), default=Decimal(0))
    if not top:
        return None
    named = [pk for pk in by_process if by_process[pk] and pk in slugs]
    shown = sorted(named, key=lambda pk: (-by_process[pk], slugs[pk]))[:TOP_PROCESSES]
    days = list(dict.fromkeys(_begin(start, step) for start in window.starts()))
    columns = []
    for number, day in enumerate(days):
        cells = [_cell(spent[day, pk], {**base, "process": slugs[pk]}, day, step) for pk in shown]
        total = _cell(by_day[day], base, day, step)
        columns.append(_column(number, _label(day, step), total, cells, scale=(len(days), top)))
    whole = {**base, "since": iso(window.start)}
    return Cost(
        names=[slugs[pk] for pk in shown],
        totals=[
            CostCell(by_process[pk], urlencode({**whole, "process": slugs[pk]})) for pk in shown
        ],
        columns=columns,
        ticks=_ticks([column.label for column in columns]),
        top=top,
        step="hour" if step == HOUR else "day",
    )


def _column(
    number: int,
    label: str,
    total: CostCell,
    cells: Sequence[CostCell],
    *,
    scale: tuple[int, Decimal],
) -> CostColumn:
    count, top = scale
    pitch = COST_WIDTH / count
    height = max(MIN_HEIGHT, float(total.cost_usd / top) * COST_HEIGHT) if total.cost_usd else 0.0
    return CostColumn(
        label=label,
        total=total,
        cells=cells,
        x=f"{number * pitch:.2f}",
        width=f"{min(pitch * 0.82, MAX_WIDTH):.2f}",
        y=f"{COST_HEIGHT - height:.2f}",
        height=f"{height:.2f}",
    )


def _begin(start: datetime, step: timedelta) -> datetime:
    return start if step == HOUR else start.replace(hour=0)


def _label(day: datetime, step: timedelta) -> str:
    return f"{day:%H:%M}" if step == HOUR else f"{day:%-d %b}"


def _cell(amount: Decimal, base: Mapping[str, str], day: datetime, step: timedelta) -> CostCell:
    """Only what is linked needs its query: most hours and days of most processes are free."""
    span = {"since": iso(day), "until": iso(day + step)}
    return CostCell(amount, urlencode({**base, **span}) if amount else "")


def _ticks(labels: Sequence[str]) -> list[str]:
    pace = max(1, -(-len(labels) // 7))
    return [label if number % pace == 0 else "" for number, label in enumerate(labels)]
