"""A run's history: append-only, numbered without gaps, past tense."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import connection
from psycopg.types.json import Jsonb

Entry = tuple[str, Mapping[str, Any]]


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
