"""Waivers in the words of the HTTP contract."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated
from uuid import UUID

from ninja import Field, Schema
from pydantic import ConfigDict

from loomverify.paging import DEFAULT_LIMIT, MAX_LIMIT
from verification.runs.models import Waiver
from verification.runs.models.waiver import MAX_REASON_CHARS
from verification.runs.waivers import examples
from verification.runs.waivers.selectors import (
    MAX_SEARCHED_CHARS,
    WaiverState,
    state_of,
)
from verification.runs.waivers.services import MIN_REASON_CHARS

Named = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f]*$")]
Fingerprint = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class WaiverOut(Schema):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.WAIVER))

    id: UUID
    state: WaiverState
    process: str
    run: UUID | None = Field(description="Where it was seen; null once that run is deleted.")
    fingerprint: str
    rule: str
    path: str
    message: str
    reason: str
    created_by: str
    created_at: datetime
    until: date = Field(description="Its last day, in UTC.")
    ended_by: str | None
    ended_at: datetime | None

    @classmethod
    def of(cls, row: Waiver, now: datetime) -> WaiverOut:
        state = state_of(row, now)
        is_ended = state is WaiverState.ENDED
        same = ("fingerprint", "rule", "path", "message", "reason", "created_at", "until")
        return cls(
            id=row.uuid,
            state=state,
            process=row.process.slug,
            run=row.run.uuid if row.run else None,
            created_by=row.created_name,
            ended_by=row.ended_name if is_ended else None,
            ended_at=row.ended_at if is_ended else None,
            **{name: getattr(row, name) for name in same},
        )


class WaiverPage(Schema):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.LIST))

    items: list[WaiverOut]
    next: str | None


class WaiverQuery(Schema):
    state: WaiverState | None = None
    process: Named = ""
    finding: Fingerprint | None = Field(None, description="The finding's fingerprint.")
    q: Annotated[str, Field(max_length=MAX_SEARCHED_CHARS, pattern=r"^[^\x00]*$")] = ""
    cursor: str = ""
    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)


class WaiverWish(Schema):
    model_config = ConfigDict(extra="forbid", json_schema_extra=examples.shown(examples.WISH))

    run: UUID = Field(description="A run in which it was found.")
    fingerprint: Fingerprint = Field(description="The finding's.")
    reason: str = Field(min_length=MIN_REASON_CHARS, max_length=MAX_REASON_CHARS)
    until: date = Field(description="The last day, in UTC: tomorrow at least, in 365 days at most.")
