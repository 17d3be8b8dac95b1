"""The answers of the runs API. Names and value sets are the HTTP contract's."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Field, Schema
from pydantic import ConfigDict

from loomverify.paging import DEFAULT_LIMIT, MAX_LIMIT
from processes.definition.model import Enforcement, Severity, Target
from verification.engine.outcome import (
    Action,
    ConfidenceLevel,
    FindingVerdict,
    LastOutcome,
    Outcome,
    Purpose,
    RetryStrategy,
    SeverityClass,
    Source,
    Status,
    Verdict,
)
from verification.engine.progress import SinceLast
from verification.engine.protocol.reply import Stage
from verification.engine.reasons import REASONS
from verification.runs.gating.schemas import GateOut, GoingGateOut
from verification.runs.judged_schemas import (
    ArtefactOut,
    ClaimCountsOut,
    ClaimOut,
    RemediationOut,
    UndecidedOut,
    VoteOut,
)
from verification.runs.models import ReviewState, RunState
from verification.runs.schema_values import FilterValues, ReasonCode, one_of
from verification.runs.selectors import Only, ReviewFilter, Tier


class TaskOut(Schema):
    id: str
    attempts_used: int
    max_attempts: int
    exhausted: bool
    candidate_hash: str = Field(
        description="The submission hash: runs of a task with the same hash submitted the same "
        "work, and use up one attempt together."
    )
    repeats: int
    last_outcome: Annotated[str, one_of(LastOutcome)] | None


SINCE_LAST_DESCRIPTION = (
    "Compared with the task's earlier attempts in this phase: `new`, `remains` from the last "
    "attempt, or `back` after an attempt without it. null: there is no earlier attempt, or the "
    "finding is unknown or monitor only."
)


class FeedbackItemOut(Schema):
    rule: str
    enforcement: Annotated[str, one_of(Enforcement)]
    reason_code: ReasonCode
    message: str
    path: str | None
    line: int | None
    suggestion: str | None
    code: str = Field("", description="A custom verifier's own code.")
    metadata: dict[str, Any] = Field({}, description="What a custom verifier says beside it.")
    fingerprint: str = Field("", description="Empty for a run of an earlier program version.")
    since_last: Annotated[str, one_of(SinceLast)] | None = Field(
        None, description=SINCE_LAST_DESCRIPTION
    )


class FeedbackOut(Schema):
    """The text for the agent, and its findings one by one."""

    text: str
    items: list[FeedbackItemOut]
    resolved: list[FeedbackItemOut] = Field(
        [], description="Problems of the last attempt that were checked and are gone."
    )
    not_checked: list[FeedbackItemOut] = Field(
        [],
        description="Problems of earlier attempts that this evaluation did not check, so that "
        "they may be there still.",
    )


class FindingOut(Schema):
    rule: str
    source: Annotated[str, one_of(Source)]
    enforcement: Annotated[str, one_of(Enforcement)]
    target: Annotated[str, one_of(Target)] | None
    severity: Annotated[str, one_of(Severity)] | None
    verdict: Annotated[str, one_of(FindingVerdict)]
    reason_code: ReasonCode
    message: str
    quote: str | None
    quote_verified: bool | None
    path: str | None
    line: int | None
    column: int | None
    place: dict[str, Any]
    confidence: float | None
    suggestion: str | None
    fingerprint: str
    since_last: Annotated[str, one_of(SinceLast)] | None = Field(description=SINCE_LAST_DESCRIPTION)


class AppliedRuleOut(Schema):
    rule: str
    phase: str
    verdict: str
    reason: str


class SkippedRuleOut(Schema):
    rule: str
    phase: str
    reason: str


class RulesOut(Schema):
    applied: list[AppliedRuleOut]
    skipped: list[SkippedRuleOut]


class TierOut(Schema):
    tier: int
    status: Annotated[str, one_of(Status)]
    model: str | None
    calls: int
    cached: int
    recovery: str | None
    prompt_tokens: int
    completion_tokens: int
    cost_usd: str
    duration_ms: int
    detail: str


class RetryOut(Schema):
    strategy: Annotated[str, one_of(RetryStrategy)]
    rerun_execution: bool


REVIEW_EXAMPLE: dict[str, Any] = {
    "state": "decided",
    "closed": "",
    "reasons": ["vote_divergence"],
    "outcome": "pass_with_warnings",
    "passed": True,
    "comment": "The figure is in the second table.",
    "by": ["ann"],
    "findings": {"1:9f2c4e7ab01d": "false_positive"},
    "decided_at": "2026-03-02T09:00:41Z",
}
NO_CHANGE = "no_change"
CLOSED_REVIEWS = (ReviewState.HELD, ReviewState.EXPIRED, ReviewState.WITHDRAWN)


class ReviewOut(Schema):
    """Whether a person is asked, and what they said once it has taken effect."""

    model_config = ConfigDict(json_schema_extra={"examples": [REVIEW_EXAMPLE]})

    state: Annotated[str, one_of(ReviewFilter)]
    closed: str = Field(
        json_schema_extra={"enum": ["", *(state.value for state in CLOSED_REVIEWS), NO_CHANGE]},
        description="Why nobody is asked although there was a reason to: held back by the day's "
        "cap, expired, withdrawn because the doubt passed, or no_change: the action is a review "
        "branch, and there is no change to land. Empty otherwise.",
    )
    reasons: list[str]
    outcome: Annotated[str, one_of(Outcome)] | None = Field(description="What people decided.")
    passed: bool | None = Field(description="What people decided: accept or reject.")
    comment: str
    by: list[str] = Field(description="Who decided.")
    findings: dict[str, Literal["true_positive", "false_positive"]] = Field(
        description="What people said of findings, by fingerprint."
    )
    decided_at: datetime | None


class RunSummary(Schema):
    """A run as lists show it."""

    id: UUID
    url: str
    state: Annotated[str, one_of(RunState)]
    outcome: Annotated[str, one_of(Outcome)] | None
    verdict: Annotated[str, one_of(Verdict)] | None
    passed: bool | None
    final_outcome: Annotated[str, one_of(Outcome)] | None
    confidence: float | None = Field(
        description="The probability, 0 to 1, that the judges are right; null if no judge decided: "
        "tier 1 measures none."
    )
    vote_share: float | None = Field(
        description="The share of passing votes, 0 to 1; null without votes."
    )
    confidence_level: Annotated[str, one_of(ConfidenceLevel)] | None
    action: Annotated[str, one_of(Action)] | None
    reason_code: ReasonCode | None
    severity_class: Annotated[str, one_of(SeverityClass)] | None
    tier_requested: int
    tier_achieved: int
    process: str
    process_version: int
    phase: str
    verifier_version: int = Field(
        description="The version that judged it, or judges it now. A run that is verified again "
        "when it is over is judged by the one that is active then; its evaluations say which "
        "made each."
    )
    task: TaskOut
    cost_usd: str
    created_at: datetime
    finished_at: datetime | None


class RunOut(RunSummary):
    """A run whole."""

    evaluation: UUID | None
    purpose: Annotated[str, one_of(Purpose)] | None
    result: Any
    error: str | None
    feedback: FeedbackOut
    findings: list[FindingOut]
    rules: RulesOut
    tiers: list[TierOut]
    gates: list[GateOut]
    running: list[GoingGateOut] = Field(
        description="The gates of an evaluation that goes on, those that are over among them."
    )
    votes: list[VoteOut]
    claims: ClaimCountsOut
    claim_list: list[ClaimOut]
    artefacts: list[ArtefactOut]
    undecided: UndecidedOut | None
    score: dict[str, Any] | None
    loop: dict[str, Any] | None
    retry: RetryOut
    remediations: list[RemediationOut]
    review: ReviewOut


class RunFilterQuery(Schema):
    """The filters of lists. Times are RFC 3339, dates, or spans before now: `24h`, `7d`."""

    process: str = ""
    phase: str = ""
    outcome: Annotated[str, FilterValues.of(Outcome)] = ""
    verdict: Annotated[str, FilterValues.of(Verdict)] = ""
    reason_code: Annotated[str, FilterValues.of(REASONS)] = ""
    state: Annotated[str, FilterValues.of(RunState)] = ""
    review: Annotated[str, FilterValues.of(ReviewFilter)] = ""
    tier: Annotated[str, FilterValues.of(Tier)] = ""
    task: str = ""
    severity_class: Annotated[str, FilterValues.of(SeverityClass)] = ""
    rule: str = Field("", description="A rule or check that was violated.")
    recovery: Annotated[str, FilterValues.of(Stage)] = ""
    only: Annotated[str, FilterValues.of(Only)] = ""
    since: str = ""
    until: str = ""
    q: str = Field("", description="Full text, as in a search box.")


class RunQuery(RunFilterQuery):
    """The filters, and which page of what they find."""

    cursor: str = Field("", description="`next` of the page before.")
    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)


class RunPage(Schema):
    items: list[RunSummary]
    next: str | None


class EvaluationOut(Schema):
    id: UUID
    purpose: Annotated[str, one_of(Purpose)]
    seq: int
    is_live: bool
    outcome: Annotated[str, one_of(Outcome)] | None
    verdict: Annotated[str, one_of(Verdict)] | None
    reason_code: ReasonCode | None
    severity_class: Annotated[str, one_of(SeverityClass)] | None
    confidence: float | None = Field(
        description="The probability, 0 to 1, that the judges are right; null if no judge decided: "
        "tier 1 measures none."
    )
    vote_share: float | None = Field(
        description="The share of passing votes, 0 to 1; null without votes."
    )
    confidence_level: Annotated[str, one_of(ConfidenceLevel)] | None
    tier_achieved: int
    process_version: int
    verifier_version: int
    engine_build: str
    cost_usd: str
    duration_ms: int
    started_at: datetime
    finished_at: datetime | None


class EvaluationWhole(EvaluationOut):
    """A pass of the engine with all that it found."""

    feedback: FeedbackOut
    findings: list[FindingOut]
    rules: RulesOut
    tiers: list[TierOut]
    gates: list[GateOut]
    votes: list[VoteOut]
    claims: ClaimCountsOut


class EvaluationList(Schema):
    items: list[EvaluationOut]
    next: str | None


class EventOut(Schema):
    seq: int
    kind: str
    at: datetime
    data: dict[str, Any]


class EventList(Schema):
    items: list[EventOut]
    next: str | None


class CancelOut(Schema):
    id: UUID
    state: Annotated[str, one_of(RunState)]
    cancelled: bool
