"""The figures behind the overview: hours counted once, the rest added raw.

A run counts in the hour it was submitted in, so that every figure has the rows of a time span
behind it. Whatever ends a run, or ends it anew, marks that hour dirty; a dirty hour and the
current one are counted from the runs themselves until the relay has recomputed them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Protocol

from django.db import connection, transaction
from django.utils import timezone

from verification.runs import rule_figures
from verification.runs.models import DirtyHour, RollupHour
from verification.runs.spans import HOUR, RAW_HOURS, Span, parameters_of, start_of_hour


class InAnHour(Protocol):
    """A run, or what a worker holds of it."""

    @property
    def project_id(self) -> int: ...

    @property
    def created_at(self) -> datetime: ...


ACCEPTING = ("pass", "pass_with_warnings", "partial_verified")
_OVERTURNED = f"run.verdict = 'reject' and run.final_outcome in {ACCEPTING}"
SHADOW_PASSED = f"""
    run.verdict = 'reject' and run.tier_achieved <= 1 and run.final_outcome not in {ACCEPTING}
    and exists (
        select from runs_evaluation other
        where other.run_id = run.id and other.purpose = 'shadow'
          and other.verdict = 'accept' and other.tier_achieved > 1
    )
"""
"""A false-fail candidate: of a row `run`, a condition."""

# What one hour's runs come to; shared by the rollup and the hours that are added raw.
_SUMS = f"""
    count(*) as count,
    count(*) filter (where run.verdict = 'reject' and run.tier_achieved <= 1)
        as deterministic_count,
    count(*) filter (where run.reverifications > 0 or run.asked_again > 0) as retried_count,
    count(*) filter (where {_OVERTURNED}) as overturned_count,
    count(*) filter (where {SHADOW_PASSED}) as shadow_passed_count,
    sum(run.cost_usd) as cost_usd
"""
_SUMMED = (
    "count",
    "deterministic_count",
    "retried_count",
    "overturned_count",
    "shadow_passed_count",
    "cost_usd",
)
_SUM_ALL = ", ".join(
    f"sum({name})::{'numeric' if name == 'cost_usd' else 'bigint'}" for name in _SUMMED
)
_KEYS = """
    run.process_id, run.verifier_version_id, run.outcome, run.verdict, run.severity_class,
    run.reason_code
"""


_counted_above: list[Callable[[int, datetime], None]] = []


def mark_dirty(run: InAnHour) -> None:
    """Have the run's hour counted again. Call it in the transaction that ends the run.

    The mark's row is held until that transaction ends: who recomputes the hour takes the row
    away first, so it either waits for this run or leaves the mark standing. Holders do not wait
    for each other.
    """
    key: list[Any] = [run.project_id, start_of_hour(run.created_at)]
    held = 0
    while not held:  # the row can vanish between our finding it and holding it
        with connection.cursor() as cursor:
            cursor.execute(
                """
                with made as (
                    insert into runs_dirtyhour (project_id, hour) values (%s, %s)
                    on conflict do nothing returning id
                ), held as (
                    select id from runs_dirtyhour where project_id = %s and hour = %s
                    for key share
                )
                select (select count(*) from made) + (select count(*) from held)
                """,
                key * 2,
            )
            held = int(cursor.fetchone()[0])


def on_recount(count: Callable[[int, datetime], None]) -> None:
    """Call `count` with a project and an hour in the transaction that counts it anew."""
    _counted_above.append(count)


def hold_hour(project_id: int, hour: datetime) -> None:
    """One at a time counts an hour, until its transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select pg_advisory_xact_lock(%s, %s)",
            [project_id % 2**31, int(hour.timestamp()) // 3600],
        )


def recompute_hour(project_id: int, hour: datetime) -> None:
    """Count an hour's finished runs anew. Idempotent."""
    with transaction.atomic():
        DirtyHour.objects.filter(project=project_id, hour=hour).delete()
        hold_hour(project_id, hour)
        with connection.cursor() as cursor:
            RollupHour.objects.filter(project=project_id, hour=hour).delete()
            cursor.execute(
                f"""
                insert into runs_rolluphour (
                    project_id, hour, process_id, verifier_version_id, outcome, verdict,
                    severity_class, reason_code, {", ".join(_SUMMED)}
                )
                select %s, %s, {_KEYS}, {_SUMS} from runs_run run
                where run.project_id = %s and run.created_at >= %s and run.created_at < %s
                  and run.state = 'finished'
                group by {_KEYS}
                """,  # noqa: S608 - constants of this module
                [project_id, hour, project_id, hour, hour + HOUR],
            )
            rule_figures.recompute_hour(project_id, hour)
        for count in _counted_above:
            count(project_id, hour)


def refresh_dirty_hours(limit: int = 24) -> int:
    """Recompute hours that are over, oldest first; return how many. The relay calls this."""
    due = DirtyHour.objects.filter(hour__lt=start_of_hour(timezone.now())).order_by("hour")
    marks = list(due.values_list("project_id", "hour")[:limit])
    for project_id, hour in marks:
        recompute_hour(project_id, hour)
    return len(marks)


@dataclass(frozen=True, slots=True)
class Figure:
    """Finished runs of one step that share process, outcome, verdict, class and reason."""

    start: datetime
    process_id: int
    outcome: str
    verdict: str
    severity_class: str
    reason_code: str
    count: int
    deterministic_count: int
    retried_count: int
    overturned_count: int
    shadow_passed_count: int
    cost_usd: Decimal


def figures(project_id: int, span: Span, *, process_id: int | None = None) -> list[Figure]:
    """Count the finished runs of a span, by step."""
    kept = "process_id, outcome, verdict, severity_class, reason_code"
    narrowed = "" if process_id is None else "and process_id = %(process)s"
    query = f"""
        with raw_hour as ({RAW_HOURS}), counted as (
            select hour, {kept}, {", ".join(_SUMMED)}
            from runs_rolluphour
            where project_id = %(project)s and hour >= %(start)s and hour < %(end)s
              and hour not in (select hour from raw_hour) {narrowed}
            union all
            select raw_hour.hour, run.process_id, run.outcome, run.verdict, run.severity_class,
                   run.reason_code, {_SUMS}
            from raw_hour
            join runs_run run on run.created_at >= raw_hour.hour
                and run.created_at < raw_hour.hour + interval '1 hour'
            where run.project_id = %(project)s and run.state = 'finished' {narrowed}
            group by 1, 2, 3, 4, 5, 6
        )
        select date_bin(%(step)s, hour, %(origin)s), {kept}, {_SUM_ALL}
        from counted group by 1, 2, 3, 4, 5, 6 order by 1
    """  # noqa: S608 - constants of this module
    with connection.cursor() as cursor:
        cursor.execute(query, parameters_of(project_id, span, process_id))
        return [Figure(*row) for row in cursor.fetchall()]


@dataclass(frozen=True, slots=True)
class PlacedFigure:
    """A figure of the whole span, and whose it is."""

    project: str
    process: str
    figure: Figure


def figures_of_all(span: Span) -> list[PlacedFigure]:
    """Count the finished runs of every project, for whoever runs the place."""
    kept = "outcome, verdict, severity_class, reason_code"
    query = f"""
        with raw_hour as (
            select project_id, hour from runs_dirtyhour
            where hour >= %(start)s and hour < %(end)s
            union select id, %(current)s from accounts_project
            where %(current)s >= %(start)s and %(current)s < %(end)s
        ), counted as (
            select process_id, {kept}, {", ".join(_SUMMED)}
            from runs_rolluphour
            where hour >= %(start)s and hour < %(end)s
              and (project_id, hour) not in (select project_id, hour from raw_hour)
            union all
            select run.process_id, run.outcome, run.verdict, run.severity_class,
                   run.reason_code, {_SUMS}
            from raw_hour
            join runs_run run on run.project_id = raw_hour.project_id
                and run.created_at >= raw_hour.hour
                and run.created_at < raw_hour.hour + interval '1 hour'
            where run.state = 'finished'
            group by 1, 2, 3, 4, 5
        )
        select project.slug, process.slug, %(start)s, process_id, {kept}, {_SUM_ALL}
        from counted
        join processes_process process on process.id = process_id
        join accounts_project project on project.id = process.project_id
        group by 1, 2, 3, 4, 5, 6, 7, 8 order by 1, 2
    """  # noqa: S608 - constants of this module
    with connection.cursor() as cursor:
        cursor.execute(query, parameters_of(0, span, None))
        return [
            PlacedFigure(project, process, Figure(*figure))
            for project, process, *figure in cursor.fetchall()
        ]
