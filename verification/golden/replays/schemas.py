"""Replays in the words of the HTTP contract."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Field, Schema
from pydantic import ConfigDict

from loomverify.paging import DEFAULT_LIMIT, MAX_LIMIT
from verification.engine.golden.standing import Change, Standing
from verification.engine.outcome import Outcome, Verdict
from verification.golden.documents.schemas import Tag
from verification.golden.models import ReplayPurpose, ReplayState
from verification.golden.replays import examples
from verification.runs.schema_values import one_of

Named = Annotated[str, Field(max_length=120, pattern=r"^[^\x00-\x1f]*$")]
Number = Annotated[int, Field(ge=1, le=2**31 - 1)]


class ReplayWish(Schema):
    """What is left out is the live one, or all of them."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=examples.shown(examples.START))
    tags: list[Tag] = Field(
        default_factory=list, max_length=20, description="Cases that have one of them."
    )
    verifier: Number | None = None
    process: Named = Field("", description="The cases of this process alone.")
    process_version: Number | None = Field(
        None, description="In the place of the published one; needs `process`."
    )
    purpose: Literal["manual", "ci"] = Field(
        "manual", description="With `ci` the webhook `golden.regressed` tells of regressions."
    )
    live: bool = Field(False, description="Ask the judges anew; their calls cost.")
    canary: bool = Field(False, description="The held set too.")


class ReplayDifference(Schema):
    place: str
    expected: Any = None
    observed: Any = None


class ReplayLegacy(Schema):
    """What the old engine made of the same case."""

    outcome: str = ""
    verdict: str = ""
    reason_code: str = ""


class ReplayResultOut(Schema):
    """One case in one replay. `standing` and `change` are null while it waits."""

    model_config = ConfigDict(json_schema_extra=examples.shown(examples.RESULT))
    case: UUID
    name: str
    process: str
    phase: str
    case_version: int
    process_version: int | None
    standing: Annotated[str, one_of(Standing)] | None
    change: Annotated[str, one_of(Change)] | None
    outcome: Annotated[str, one_of(Outcome)] | None
    verdict: Annotated[str, one_of(Verdict)] | None
    reason_code: str
    differences: list[ReplayDifference]
    legacy: ReplayLegacy | None
    questions: int
    stale: int
    missing: int
    error: str
    duration_ms: int


class ReplaySummary(Schema):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.SUMMARY))
    id: UUID
    url: str
    state: Annotated[str, one_of(ReplayState)]
    purpose: Annotated[str, one_of(ReplayPurpose)]
    verifier_version: int
    process: str | None
    process_version: int | None
    candidate_sha256: str
    tags: list[str]
    live: bool
    live_line: bool = Field(description="Verifier and processes were those that judge runs.")
    corpus_sha256: str = Field(description="Names the cases as they were.")
    total: int
    counts: dict[str, int] = Field(description="Of each change; empty until it is finished.")
    stale_share: float | None = Field(description="Of the questions, 0 to 1.")
    stale_warning: bool
    cost_usd: str
    error: str
    created_by: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class ReplayPage(Schema):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.PAGE))
    items: list[ReplaySummary]
    next: str | None


class ReplayProgress(Schema):
    done: int
    total: int
    share: float


class ReplayOut(ReplaySummary):
    """A replay with what changed, each list the first fifty by name."""

    model_config = ConfigDict(json_schema_extra=examples.shown(examples.REPLAY))
    progress: ReplayProgress
    regressed: list[ReplayResultOut]
    fixed: list[ReplayResultOut]
    still_failing: list[ReplayResultOut]
    new: list[ReplayResultOut]
    not_judged: list[ReplayResultOut]


class ReplayResultPage(Schema):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.RESULTS))
    items: list[ReplayResultOut]
    next: str | None


class ReplayCancelled(Schema):
    """`cancelled` is false where it was over already."""

    model_config = ConfigDict(json_schema_extra=examples.shown(examples.CANCELLED))
    id: UUID
    state: Annotated[str, one_of(ReplayState)]
    cancelled: bool


class ReplayQuery(Schema):
    state: ReplayState | None = None
    purpose: ReplayPurpose | None = None
    cursor: str = ""
    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)


class ReplayResultQuery(Schema):
    change: Change | None = None
    process: Named = ""
    q: Named = Field("", description="A part of the case's name.")
    cursor: str = ""
    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)
