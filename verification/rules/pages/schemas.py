"""Rules and their steps in the words of the HTTP contract."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from ninja import Field, Schema
from pydantic import AwareDatetime, ConfigDict

from loomverify.paging import DEFAULT_LIMIT, MAX_LIMIT
from processes.definition.model import Enforcement, RuleType, Severity, Target
from verification.rules.pages.searching import DAYS, MAX_CHARS
from verification.runs.schema_values import one_of

NO_NUL = r"^[^\x00]*$"


class RuleQuery(Schema):
    q: str = Field(
        "",
        max_length=MAX_CHARS,
        pattern=NO_NUL,
        description="Words that name, check, description or suggestion hold, all of them.",
    )
    type: RuleType | None = None
    enforcement: Enforcement | None = Field(None, description="How a violation counts.")
    process: str = Field("", max_length=80, pattern=NO_NUL)
    phase: str = Field(
        "", max_length=120, pattern=NO_NUL, description="A phase that the rule speaks in."
    )
    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)
    cursor: str = Field("", max_length=100)


class FoundRule(Schema):
    process: str
    name: str
    type: Annotated[str, one_of(RuleType)]
    check: str
    description: str
    suggestion: str
    severity: Annotated[str, one_of(Severity)]
    target: Annotated[str, one_of(Target)]
    enforcement: Annotated[str, one_of(Enforcement)]
    applies_to_phases: list[str] = Field(description="`*` is every phase; empty: none is named.")
    content_sha256: str
    applied: int = Field(description=f"To how many runs of the last {DAYS} days.")
    violated: int = Field(description="In how many of these it spoke.")
    found_right: int = Field(description="In how many of these people called it right.")
    found_wrong: int
    decided: int = Field(description="Of those it spoke in, rejected and decided by a person.")
    overturned: int = Field(description="Of these, accepted by that person.")
    cost_usd: float = Field(description="Its even share of what judging those runs cost.")
    last_at: AwareDatetime | None = Field(description="When it last spoke, also before that.")
    last_run: UUID | None = Field(description="Null also where that run was deleted.")


class FoundRules(Schema):
    items: list[FoundRule]
    next: str | None


class StepIn(Schema):
    model_config = ConfigDict(extra="forbid")
    enforcement: Enforcement
    reason: str = Field(min_length=1, max_length=1000, pattern=NO_NUL)
    corpus_reason: str = Field(
        "",
        max_length=1000,
        pattern=NO_NUL,
        description="Why it is published though something speaks against it.",
    )


class StepOut(Schema):
    slug: str
    published_version: int
