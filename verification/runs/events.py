"""A run's history: append-only, numbered without gaps, past tense."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from django.db import IntegrityError, connection
from psycopg.types.json import Jsonb

Entry = tuple[str, Mapping[str, Any]]
T = TypeVar("T")


def append(run_id: int, entries: Sequence[Entry], *, at: datetime) -> None:
    """Write events after the run's last one. The caller holds the run's row lock."""
    values = ", ".join(["(%s, %s, %s::jsonb)"] * len(entries))
    parameters: list[Any] = [run_id, at]
    for number, (kind, details) in enumerate(entries, start=1):
        parameters += [number, kind, Jsonb(dict(details))]
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            insert into runs_event (run_id, at, seq, kind, data)
            select %s, %s, last.seq + new.number, new.kind, new.data
            from (select coalesce(max(seq), 0) as seq from runs_event where run_id = %s) last,
                 (values {values}) as new (number, kind, data)
            """,  # noqa: S608 - only placeholders are put in
            [*parameters[:2], run_id, *parameters[2:]],
        )


def append_to_each(run_ids: Sequence[int], kind: str, *, at: datetime) -> None:
    """Write one event of a kind after the last one of each run. The caller holds their rows."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            insert into runs_event (run_id, at, seq, kind, data)
            select run.id, %s, 1 + coalesce(
                (select max(seq) from runs_event where run_id = run.id), 0
            ), %s, '{}'
            from unnest(%s::bigint[]) as run (id)
            """,
            [at, kind, list(run_ids)],
        )


def append_many(entries: Sequence[tuple[int, Entry]], *, at: datetime) -> None:
    """Write events of many runs, in order, after the last one of each. The caller holds the rows."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            insert into runs_event (run_id, at, seq, kind, data)
            select run_id, %s, row_number() over (partition by run_id order by number) + coalesce(
                (select max(seq) from runs_event where run_id = new.run_id), 0
            ), kind, data
            from unnest(%s::bigint[], %s::text[], %s::jsonb[]) with ordinality
                as new (run_id, kind, data, number)
            """,
            [
                at,
                [run_id for run_id, _ in entries],
                [kind for _, (kind, _) in entries],
                [Jsonb(dict(details)) for _, (_, details) in entries],
            ],
        )


def numbered_anew(write: Callable[[], T]) -> T:
    """Do it once more where another's event took the number of ours.

    A statement that locks the run and numbers its events in one sees none that were written
    while it waited for the lock. `write` is a transaction of its own.
    """
    try:
        return write()
    except IntegrityError as error:
        diagnosis = getattr(error.__cause__, "diag", None)
        if getattr(diagnosis, "constraint_name", None) != "event_unique":
            raise
    return write()
