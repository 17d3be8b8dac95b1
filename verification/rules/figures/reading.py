"""What rules did in a span of hours: counted ones, and the rest from the runs themselves."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal
from typing import Any, Self

from django.db import connection

from verification.rules.figures.counting import COUNTED, USES
from verification.runs.spans import RAW_HOURS, Span, parameters_of

Named = tuple[int, str]
"""A rule: its process's id, and its name."""

_RAW = USES.format(
    start="raw_hour.hour",
    narrowed="and run.process_id = any(%(processes)s)",
    only="where priced.rule = any(%(rules)s)",
)
_COUNTED = f"""
    with raw_hour as ({RAW_HOURS}), counted as (
        select hour, process_id, rule, content_sha256, {", ".join(COUNTED)}
        from rules_ruleuse
        where project_id = %(project)s and process_id = any(%(processes)s)
          and rule = any(%(rules)s) and hour >= %(start)s and hour < %(end)s
          and hour not in (select hour from raw_hour)
        union all
        select raw_hour.hour, used.* from raw_hour cross join lateral ({_RAW}) used
    )
"""  # noqa: S608 - constants of this module
_SUMMED = COUNTED[:7]
_SUM_ALL = f"""
    {", ".join(f"sum({name})::bigint" for name in _SUMMED)}, sum(cost_usd)::numeric,
    max(last_at), (array_agg(last_run order by last_at desc nulls last))[1]
"""


@dataclass(frozen=True, slots=True)
class Use:
    """How many runs a rule was applied to, and what came of it."""

    applied: int = 0
    violated: int = 0
    unknown: int = 0
    found_right: int = 0
    found_wrong: int = 0
    decided: int = 0
    overturned: int = 0
    cost_usd: Decimal = Decimal(0)
    last_at: datetime | None = None
    last_run: int | None = None

    @property
    def hit_rate(self) -> float | None:
        """Of the runs that it was applied to, the share that it spoke against, 0 to 1."""
        return self.violated / self.applied if self.applied else None

    @property
    def labelled(self) -> int:
        return self.found_right + self.found_wrong

    def __add__(self, other: Use) -> Use:
        last = max(self, other, key=lambda one: one.last_at.timestamp() if one.last_at else 0.0)
        summed = {name: getattr(self, name) + getattr(other, name) for name in SUMMED}
        return Use(**summed, last_at=last.last_at, last_run=last.last_run)

    @classmethod
    def of(cls, row: tuple[Any, ...]) -> Self:
        return cls(**dict(zip(COUNTED, row, strict=True)))


SUMMED = [field.name for field in fields(Use) if not field.name.startswith("last_")]


@dataclass(frozen=True, slots=True)
class Step:
    """What one content of a rule did from `start` on."""

    start: datetime
    content_sha256: str
    use: Use


def steps(project_id: int, rule: Named, span: Span) -> list[Step]:
    """What a rule did, by step and content."""
    query = f"""{_COUNTED}
        select date_bin(%(step)s, hour, %(origin)s), content_sha256, {_SUM_ALL}
        from counted group by 1, 2 order by 1
    """  # noqa: S608 - constants of this module
    rows = _rows(query, _parameters(project_id, [rule], span))
    return [Step(start, sha256, Use.of(tuple(rest))) for start, sha256, *rest in rows]


def totals(project_id: int, rules: Collection[Named], span: Span) -> Mapping[Named, Use]:
    """What rules did in a span, and when each last spoke, also before it."""
    query = f"""{_COUNTED}
        select process_id, rule, {_SUM_ALL} from counted group by 1, 2
    """  # noqa: S608 - constants of this module
    found = dict.fromkeys(rules, Use())
    if not rules:
        return found
    for process, rule, *rest in _rows(query, _parameters(project_id, rules, span)):
        if (process, rule) in found:
            found[process, rule] = Use.of(tuple(rest))
    for named, earlier in last_spoken(rules).items():
        found[named] += earlier
    return found


def last_spoken(rules: Collection[Named]) -> dict[Named, Use]:
    """When rules spoke last, in hours that are counted; a rule that never did is left out."""
    query = """
        select asked.process_id, asked.rule, spoken.last_at, spoken.last_run
        from unnest(%s::bigint[], %s::text[]) as asked(process_id, rule)
        cross join lateral (
            select last_at, last_run from rules_ruleuse used
            where used.process_id = asked.process_id and used.rule = asked.rule
              and used.violated > 0
            order by hour desc limit 1
        ) spoken
    """
    rows = _rows(query, [[process for process, _ in rules], [rule for _, rule in rules]])
    return {(process, rule): Use(last_at=at, last_run=run) for process, rule, at, run in rows}


def _parameters(project_id: int, rules: Collection[Named], span: Span) -> dict[str, Any]:
    return {
        **parameters_of(project_id, span, None),
        "processes": sorted({process for process, _ in rules}),
        "rules": sorted({rule for _, rule in rules}),
    }


def _rows(query: str, parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        return list(cursor.fetchall())
