"""Remediations in the words of the HTTP contract."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from ninja import Field, Schema

from loomverify.paging import DEFAULT_LIMIT, MAX_LIMIT
from verification.runs import rendering
from verification.runs.models import Remediation
from verification.runs.models.followup import RemediationState
from verification.runs.remediations.rows import MAX_NOTE_CHARS


class RemediationWork(Schema):
    """A remediation with everything that an agent works from."""

    id: UUID
    mode: str
    state: RemediationState
    run: UUID = Field(description="The run that asked for it.")
    run_url: str
    process: str
    phase: str
    task: str
    request: dict[str, Any] = Field(description="What is asked for: reason_code, claims, …")
    attempts: int = Field(description="Answers that were not accepted.")
    max_attempts: int
    created_at: datetime
    expires_at: datetime
    owner: str | None = Field(description="The key that holds it, or held it last.")
    lease_until: datetime | None
    resolved_by: UUID | None = Field(description="The run that answered it.")
    note: str
    ended_at: datetime | None

    @classmethod
    def of(cls, row: Remediation) -> RemediationWork:
        same = ("mode", "request", "attempts", "max_attempts", "created_at", "expires_at",
                "lease_until", "note", "ended_at")  # fmt: skip
        return cls(
            id=row.uuid,
            state=RemediationState(row.state),
            run=row.run.uuid,
            run_url=rendering.run_url(row.run),
            process=row.run.process.slug,
            phase=row.run.phase_id,
            task=row.run.task.external_id,
            owner=row.owner.name if row.owner else None,
            resolved_by=row.resolved_by.uuid if row.resolved_by else None,
            **{name: getattr(row, name) for name in same},
        )


class RemediationPage(Schema):
    items: list[RemediationWork]
    next: str | None


Named = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f]*$")]


class RemediationQuery(Schema):
    state: RemediationState | None = None
    process: Named = ""
    task: Named = ""
    run: UUID | None = None
    cursor: str = ""
    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)


class RemediationAnswer(Schema):
    run: UUID = Field(description="A finished run, submitted after the remediation was queued.")


class RemediationReason(Schema):
    reason: str = Field(min_length=1, max_length=MAX_NOTE_CHARS)
