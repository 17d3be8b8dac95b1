"""Reviews and decisions in the words of the HTTP contract."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from ninja import Field, Schema
from pydantic import ConfigDict

from loomverify.paging import DEFAULT_LIMIT, MAX_LIMIT
from verification.engine.outcome import ConfidenceLevel, Outcome, Verdict
from verification.reviews import examples
from verification.reviews.deciding import MAX_TOGETHER
from verification.reviews.queue.selectors import REVIEW_REASONS, Sample
from verification.reviews.saying import MAX_COMMENT_CHARS, Said
from verification.runs.models import ReviewState
from verification.runs.schema_values import FilterValues, ReasonCode, one_of
from verification.runs.schemas import FindingOut

MAX_LABELS = 1_000
MAX_WITHOUT = 1_000

Words = Annotated[str, one_of(Outcome)]


class Label(StrEnum):
    """What a person says of a finding."""

    TRUE_POSITIVE = "true_positive"
    FALSE_POSITIVE = "false_positive"

    @classmethod
    def of(cls, is_right: bool) -> Label:
        return cls.TRUE_POSITIVE if is_right else cls.FALSE_POSITIVE


class EngineSaid(Schema):
    """What the verifier made of the run: it never changes."""

    evaluation: UUID
    outcome: Words | None
    verdict: Annotated[str, one_of(Verdict)] | None
    reason_code: ReasonCode | None
    confidence: float | None
    confidence_level: Annotated[str, one_of(ConfidenceLevel)] | None
    tier_achieved: int
    process_version: int
    verifier_version: int


class ReviewDecision(Schema):
    """One reviewer's word in one round."""

    id: UUID
    round: int
    is_adjudication: bool
    reviewer: str
    is_mine: bool
    first_outcome: Words | None = Field(description="Said before the verdict was revealed.")
    outcome: Words | None = Field(description="Null: not confirmed yet, after a blind answer.")
    comment: str
    findings: dict[str, Label] = Field(description="By fingerprint.")
    seconds: int | None = Field(description="From the claim to the decision.")
    created_at: datetime
    settled_at: datetime | None = Field(description="Null: it can still be taken back.")


class ReviewSummary(Schema):
    """A review as lists show it.

    While `is_revealed` is false this reader decides blind: the fields that would tell the verdict
    are null or empty.
    """

    id: UUID
    url: str
    state: Annotated[str, one_of(ReviewState)]
    run: UUID
    run_url: str
    title: str
    process: str
    phase: str
    task: str
    urgency: int = Field(description="0 to 100, with what waiting has added.")
    round: int
    reviewers: int = Field(description="How many decide in this round.")
    is_adjudication: bool
    is_blind: bool
    is_revealed: bool
    is_flagged: bool | None = Field(description="False: drawn by chance alone.")
    sample_rate: float | None = Field(description="How likely it was drawn; null: it was not.")
    reasons: list[str]
    rule: str | None = Field(description="Of the leading finding.")
    fingerprint: str | None = Field(description="Of the leading finding: what groups reviews.")
    engine: EngineSaid | None
    outcome: Words | None = Field(description="What people decided.")
    holder: str | None = Field(description="Who has claimed it.")
    is_mine: bool = Field(description="The claim is this key's, and lasts.")
    lease_until: datetime | None
    assigned_to: str | None
    created_at: datetime
    expires_at: datetime | None
    decided_at: datetime | None


class ReviewWork(ReviewSummary):
    """A review with all that a reviewer works from; the work itself is the run's."""

    model_config = ConfigDict(json_schema_extra=examples.shown(examples.REVIEW))

    findings: list[FindingOut]
    decisions: list[ReviewDecision]


class ReviewPage(Schema):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.QUEUE))

    items: list[ReviewSummary]
    next: str | None


Named = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f]*$")]
Comment = Annotated[str, Field(max_length=MAX_COMMENT_CHARS)]


class QueueQuery(Schema):
    """What narrows the queue. Empty: not asked for."""

    process: Named = ""
    phase: Named = ""
    reason: Annotated[str, FilterValues.of(REVIEW_REASONS)] = Field(
        "", description="A reason code that asked for the review."
    )
    rule: Named = Field("", description="Of the leading finding.")
    fingerprint: Named = Field("", description="Of the leading finding.")
    verdict: Annotated[str, FilterValues.of(Verdict)] = ""
    sample: Annotated[str, FilterValues.of(Sample)] = Field(
        "", description="The random sample alone, or the rest."
    )
    assigned: Annotated[str, FilterValues.of(["nobody"])] = Field(
        "", description="Only what is assigned to nobody."
    )


class PageQuery(Schema):
    cursor: str = Field("", description="`next` of the page before.")
    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)


class ReviewQuery(QueueQuery, PageQuery):
    state: ReviewState = ReviewState.PENDING


class LabelQuery(Schema):
    """Times are RFC 3339, dates, or spans before now: `24h`, `7d`."""

    process: Named = ""
    since: str = Field("", description="Decided then or later.")
    until: str = Field("", description="Decided before.")


class Strict(Schema):
    """A field with a typing error is refused, not ignored."""

    model_config = ConfigDict(extra="forbid")


class NextClaim(Strict, QueueQuery):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.NEXT))

    without: list[UUID] = Field(
        [], max_length=MAX_WITHOUT, description="Passed over, as if they were not there."
    )


class Assignment(Strict):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.ASSIGN))

    user: Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f]*$")] | None = Field(
        description="A member's user name; null: nobody."
    )


class Decide(Strict):
    outcome: Outcome | None = Field(
        description="Null: the verifier's own, or what was said before it was revealed."
    )
    comment: Comment = ""
    findings: Annotated[dict[Named, Label], Field(max_length=MAX_LABELS)] = Field(
        default={}, description="By fingerprint."
    )
    golden: bool = Field(False, description="Keep the run as a draft of a golden case.")

    @property
    def said(self) -> Said:
        return Said(
            self.outcome,
            comment=self.comment,
            findings={name: each is Label.TRUE_POSITIVE for name, each in self.findings.items()},
            wants_case=self.golden,
        )


class DecideOne(Decide):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.DECIDE, examples.AGREE))

    is_first: bool | None = Field(
        None,
        description="Of a blind review. True: answer, confirm nothing. False: confirm or change. "
        "Null: whichever is due.",
    )
    anew: bool = Field(False, description="Decide anew what somebody else has decided.")
    evaluation: UUID | None = Field(
        None, description="What was looked at: refused when it was verified again since."
    )

    @property
    def said(self) -> Said:
        said = replace(super().said, is_first=self.is_first, evaluation=self.evaluation)
        return replace(said, anew=self.anew)


class DecideTogether(Decide):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.TOGETHER))

    reviews: list[UUID] = Field(min_length=1, max_length=MAX_TOGETHER)


class Undo(Strict):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.UNDO))

    decision: UUID | None = Field(None, description="Null: this key's latest.")


class Decided(Schema):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.DECIDED))

    decision: ReviewDecision
    review: ReviewWork


class DecidedTogether(Schema):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.DECIDED_TOGETHER))

    decided: list[UUID]
    refused: dict[str, str] = Field(description="Why, by the review's id.")


class Undone(Schema):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.UNDONE))

    review: ReviewWork
    erased: bool = Field(
        description="False: it has taken effect. Decide again: that is a new decision."
    )


class CaseDraftOut(Schema):
    """A run that a reviewer wants to be a golden case."""

    id: UUID
    run: UUID
    run_url: str
    review: UUID | None
    outcome: Words | None = Field(description="What the run should come to.")
    made_by: str
    created_at: datetime


class CaseDraftPage(Schema):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.CASES))

    items: list[CaseDraftOut]
    next: str | None
