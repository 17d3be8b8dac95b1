"""What judges add to the answers of the runs API."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from ninja import Schema

from verification.engine.claims.settlement import ArtefactKind, ClaimSource, ClaimState
from verification.engine.outcome import Purpose
from verification.engine.protocol.reply import Stage
from verification.runs.schema_values import ReasonCode, one_of


class VoteOut(Schema):
    index: int
    model: str
    passed: bool | None
    confidence: float | None
    why: str


class ClaimOut(Schema):
    """A claim as it counts: `said` is the label it came with, `label` the one that holds."""

    text: str
    label: str
    said: str
    section: str
    evidence: list[str]
    source: Annotated[str, one_of(ClaimSource)]
    state: Annotated[str, one_of(ClaimState)]
    note: str
    quote: str


class ArtefactOut(Schema):
    """A text made of the submitted file at `path`; empty: of the output."""

    id: UUID
    kind: Annotated[str, one_of(ArtefactKind)]
    path: str
    url: str


class UndecidedOut(Schema):
    """The run verifies itself again: next at `next_at` (null: now), until `until`."""

    reason_code: ReasonCode | None
    tries: int
    next_at: datetime | None
    until: datetime


class CallOut(Schema):
    """One call of a judge. `lost` is the reason nothing came, `recovery` how the reply was read."""

    evaluation: UUID
    purpose: Annotated[str, one_of(Purpose)]
    tier: int
    seq: int
    ask: str
    judge: str
    model: str
    tried: int
    cached: bool
    lost: str | None
    recovery: Annotated[str, one_of(Stage)] | None
    error: str | None
    prompt_tokens: int
    completion_tokens: int
    cost_usd: str
    duration_ms: int
    at: datetime
    request_url: str | None
    reply_url: str | None


class CallList(Schema):
    items: list[CallOut]
    next: str | None


class ClaimCountsOut(Schema):
    confirmed: int
    inferred: int
    unsupported: int
    recommendation_unconfirmed: int
    supporting_unconfirmed_ratio: float | None


class RemediationOut(Schema):
    id: UUID
    mode: str
    state: str
