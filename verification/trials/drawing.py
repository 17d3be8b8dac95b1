"""Which runs a trial takes, and which of them twice: drawn by lot, the same lot every time."""

from __future__ import annotations

import hashlib
from enum import StrEnum
from uuid import UUID

HEX_DIGITS = 13
LOTS: int = 16**HEX_DIGITS
"""2 to the 52: every lot is a whole number that a float holds exactly, here and in PostgreSQL."""


class Draw(StrEnum):
    """What is drawn for. Each is a draw of its own, so that a rate says nothing of another's."""

    SAMPLE = "sample"
    AA = "aa"


def is_drawn(trial: UUID, run: UUID, rate: float, draw: Draw = Draw.SAMPLE) -> bool:
    """Whether a trial takes a run at this rate, 0 to 1. What is drawn stays so at a higher one.

    >>> is_drawn(UUID(int=1), UUID(int=2), 0.0), is_drawn(UUID(int=1), UUID(int=2), 1.0)
    (False, True)
    """
    said = f"{draw.value} {trial} {run}"
    digest = hashlib.sha256(said.encode()).hexdigest()
    return int(digest[:HEX_DIGITS], 16) < rate * LOTS


def drawn_sql(*, trial: str, run: str, rate: str, draw: Draw = Draw.SAMPLE) -> str:
    """`is_drawn` as an SQL condition over SQL expressions: two `uuid` and a number.

    >>> "sha256" in drawn_sql(trial="trial.uuid", run="run.uuid", rate="%(rate)s")
    True
    """
    said = f"'{draw.value} ' || ({trial})::uuid::text || ' ' || ({run})::uuid::text"
    digest = f"encode(sha256(convert_to({said}, 'UTF8')), 'hex')"
    lot = f"('x' || left({digest}, {HEX_DIGITS}))::bit({HEX_DIGITS * 4})::bigint"
    return f"{lot} < ({rate})::double precision * {LOTS}"
