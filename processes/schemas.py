"""The shapes of the HTTP contract."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ninja import Field, Schema

from loomverify.paging import DEFAULT_LIMIT, MAX_LIMIT
from processes.models import Process


class ProcessSummary(Schema):
    slug: str
    title: str
    published_version: int | None

    @staticmethod
    def resolve_published_version(process: Process) -> int | None:
        return process.published.number if process.published else None


class ProcessPage(Schema):
    items: list[ProcessSummary]
    next: str | None


class DeliverableOut(Schema):
    path: str
    description: str


class PhaseOut(Schema):
    id: str
    description: str
    depends_on: list[str]
    verification_tier: int
    is_critical_path: bool
    is_synthesis: bool
    advisory: bool
    acceptance_criteria: str
    deliverables: list[DeliverableOut]
    gates: list[str]
    custom_verifier: str
    max_attempts: int | None
    confidence_floor: float


class RuleOut(Schema):
    name: str
    description: str
    type: str
    check: str
    severity: str
    enforcement: str = Field(description="As it counts under the default flags.")
    target: str
    applies_to_phases: list[str]
    expect: str
    min_count: int | None
    requires_exact_cardinality: bool
    failure_class: str
    remediation_mode: str
    suggestion: str
    content_sha256: str


class ProcessOut(Schema):
    slug: str
    title: str
    description: str
    published_version: int | None
    phases: list[PhaseOut] = Field(description="Of the published version.")
    rules: list[RuleOut]


class VersionOut(Schema):
    number: int
    sha256: str
    note: str
    created_by: str
    created_at: datetime
    published_at: datetime | None
    published: bool


class VersionPage(Schema):
    items: list[VersionOut]
    next: str | None


class ComplaintOut(Schema):
    code: str
    message: str
    path: str
    line: int
    column: int


class AddedVersion(Schema):
    slug: str
    version: int
    published_version: int | None
    warnings: list[ComplaintOut]


class FieldChange(Schema):
    before: Any
    after: Any


class RuleChange(Schema):
    rule: str
    change: str
    fields: dict[str, FieldChange]


class PhaseChange(Schema):
    phase: str
    change: str
    fields: dict[str, FieldChange]


class ComparisonOut(Schema):
    rules: list[RuleChange]
    phases: list[PhaseChange]
    process: dict[str, FieldChange]


class Publication(Schema):
    reason: str = Field(min_length=1, max_length=1000, pattern=r"^[^\x00]*$")


class Paging(Schema):
    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)
    cursor: str = ""
