"""The figures behind the overview: hours counted once, the rest added raw.

A run counts in the hour it was submitted in, so that every figure has the rows of a time span
behind it. Whatever ends a run, or ends it anew, marks that hour dirty; a dirty hour and the
current one are counted from the runs themselves until the relay has recomputed them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Protocol

from django.db import connection, transaction
from django.utils import timezone

from verification.runs.models import DirtyHour, RollupHour

_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


class InAnHour(Protocol):
    """A run, or what a worker holds of it."""

    @property
    def project_id(self) -> int: ...

    @property
    def created_at(self) -> datetime: ...


# What one hour's runs come to; shared by the rollup and the hours that are added raw.
_COUNTED = """
    run.process_id, run.verifier_version_id, run.outcome, run.verdict, run.severity_class,
    run.reason_code, count(*) as count,
    count(*) filter (where run.verdict = 'reject' and run.tier_achieved <= 1)
        as deterministic_count,
    sum(run.cost_usd) as cost_usd
"""
_KEYS = """
    run.process_id, run.verifier_version_id, run.outcome, run.verdict, run.severity_class,
    run.reason_code
"""


def mark_dirty(run: InAnHour) -> None:
    """Have the run's hour counted again. Call it in the transaction that ends the run.

    The mark's row is held until that transaction ends: who recomputes the hour takes the row
    away first, so it either waits for this run or leaves the mark standing. Holders do not wait
    for each other.
    """
    key: list[Any] = [run.project_id, _start_of_hour(run.created_at)]
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


def recompute_hour(project_id: int, hour: datetime) -> None:
    """Count an hour's finished runs anew. Idempotent."""
    with transaction.atomic():
        DirtyHour.objects.filter(project=project_id, hour=hour).delete()
        with connection.cursor() as cursor:
            cursor.execute(
                "select pg_advisory_xact_lock(%s, %s)",
                [project_id % 2**31, int(hour.timestamp()) // 3600],
            )
            RollupHour.objects.filter(project=project_id, hour=hour).delete()
            cursor.execute(
                f"""
                insert into runs_rolluphour (
                    project_id, hour, process_id, verifier_version_id, outcome, verdict,
                    severity_class, reason_code, count, deterministic_count, cost_usd
                )
                select %s, %s, {_COUNTED} from runs_run run
                where run.project_id = %s and run.created_at >= %s and run.created_at < %s
                  and run.state = 'finished'
                group by {_KEYS}
                """,  # noqa: S608 - constants of this module
                [project_id, hour, project_id, hour, hour + HOUR],
            )


def refresh_dirty_hours(limit: int = 24) -> int:
    """Recompute hours that are over, oldest first; return how many. The relay calls this."""
    due = DirtyHour.objects.filter(hour__lt=_start_of_hour(timezone.now())).order_by("hour")
    marks = list(due.values_list("project_id", "hour")[:limit])
    for project_id, hour in marks:
        recompute_hour(project_id, hour)
    return len(marks)


@dataclass(frozen=True, slots=True)
class Window:
    """A span of whole steps that ends with the current one. Times are UTC."""

    name: str
    start: datetime
    step: timedelta
    steps: int

    @classmethod
    def of(cls, name: str, now: datetime) -> Window | None:
        spans = {
            "24h": (HOUR, 24),
            "7d": (6 * HOUR, 28),
            "30d": (DAY, 30),
            "90d": (DAY, 90),
        }
        if name not in spans:
            return None
        step, steps = spans[name]
        last = _EPOCH + (now - _EPOCH) // step * step
        if step < DAY and step != HOUR:
            last = last.replace(hour=0) + DAY - step  # whole days, the last one still to fill
        return cls(name, last - step * (steps - 1), step, steps)

    def starts(self) -> list[datetime]:
        return [self.start + self.step * n for n in range(self.steps)]


@dataclass(frozen=True, slots=True)
class Figure:
    """Finished runs of one step that share outcome, verdict, class and reason."""

    start: datetime
    outcome: str
    verdict: str
    severity_class: str
    reason_code: str
    count: int
    deterministic_count: int
    cost_usd: Decimal


def figures(project_id: int, window: Window, *, process_id: int | None = None) -> list[Figure]:
    """Count the window's finished runs, by step."""
    narrowed = "" if process_id is None else "and process_id = %(process)s"
    raw_narrowed = "" if process_id is None else "and run.process_id = %(process)s"
    query = f"""
        with raw_hour as (
            select hour from runs_dirtyhour where project_id = %(project)s and hour >= %(start)s
            union select %(current)s
        ), counted as (
            select hour, outcome, verdict, severity_class, reason_code, count,
                   deterministic_count, cost_usd
            from runs_rolluphour
            where project_id = %(project)s and hour >= %(start)s {narrowed}
              and hour not in (select hour from raw_hour)
            union all
            select raw_hour.hour, run.outcome, run.verdict, run.severity_class, run.reason_code,
                   count(*), count(*) filter (where run.verdict = 'reject' and run.tier_achieved <= 1),
                   sum(run.cost_usd)
            from raw_hour
            join runs_run run on run.created_at >= raw_hour.hour
                and run.created_at < raw_hour.hour + interval '1 hour'
            where run.project_id = %(project)s and run.state = 'finished' {raw_narrowed}
            group by 1, 2, 3, 4, 5
        )
        select date_bin(%(step)s, hour, %(start)s), outcome, verdict, severity_class, reason_code,
               sum(count)::bigint, sum(deterministic_count)::bigint, sum(cost_usd)
        from counted group by 1, 2, 3, 4, 5 order by 1
    """  # noqa: S608 - constants of this module
    parameters: dict[str, Any] = {
        "project": project_id,
        "process": process_id,
        "start": window.start,
        "current": _start_of_hour(timezone.now()),
        "step": window.step,
    }
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        return [Figure(*row) for row in cursor.fetchall()]


def _start_of_hour(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
