"""Trials in the words of the HTTP contract."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Field, Schema
from pydantic import AwareDatetime, ConfigDict

from loomverify.paging import DEFAULT_LIMIT, MAX_LIMIT
from verification.engine.cutover import CriterionState, GateState
from verification.engine.drift import Against
from verification.engine.outcome import Verdict
from verification.engine.shadow import DiffClass, SideOutcome
from verification.golden.documents.schemas import Tag
from verification.golden.models import ReplayState
from verification.runs.schema_values import FilterValues, one_of
from verification.runs.schemas import EvaluationWhole
from verification.trials import examples
from verification.trials.models import Judged, Origin, StopReason, TrialState

Named = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f]*$")]
Number = Annotated[int, Field(ge=1, le=2**31 - 1)]
Why = Annotated[str, Field(min_length=1, max_length=1000)]


class TrialWish(Schema):
    """What is left out is what judges now; a process version needs `process`."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=examples.shown(examples.START))
    title: Named = Field("", description="Empty: what stands beside what.")
    baseline_verifier: Number | None = Field(None, description="The old side.")
    candidate_verifier: Number | None = Field(None, description="The new side.")
    baseline_process_version: Number | None = None
    candidate_process_version: Number | None = None
    process: Named = Field("", description="The runs of this process alone.")
    sample_rate: float = Field(1.0, description="Share of the runs, above 0, up to 1.")
    aa_rate: float = Field(0.1, description="Share of the pairs whose sides are asked twice.")
    budget_usd: Decimal | None = Field(None, max_digits=12, decimal_places=4)
    ends_at: AwareDatetime | None = None


class Rise(Schema):
    """An outcome whose share of the runs rose after the cutover, 0 to 1."""

    outcome: Annotated[str, one_of(SideOutcome)]
    before: float
    after: float
    low: float
    high: float
    before_n: int | None = Field(None, description="Of so many; null: before this was kept.")
    after_n: int | None = None
    against: Annotated[str, one_of(Against)] = Field(
        "trial", description="What `before` is of: the trial, or the first runs since the cutover."
    )


class TrialSummary(Schema):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.SUMMARY))
    id: UUID
    url: str
    title: str
    state: Annotated[str, one_of(TrialState)]
    stop_reason: Annotated[str, one_of(StopReason)] | None
    stop_text: str
    baseline_verifier: int
    candidate_verifier: int
    baseline_process_version: int | None = Field(description="Null: the run's own.")
    candidate_process_version: int | None
    process: str | None = Field(description="Null: all of the project's.")
    sample_rate: float
    aa_rate: float
    budget_usd: str | None
    cost_usd: str
    standing: bool = Field(description="It belongs to the flag shadow_compare_enabled.")
    watches: UUID | None = Field(description="The trial after whose cutover it runs.")
    drift: list[Rise]
    drift_at: datetime | None
    created_by: str
    created_at: datetime
    ends_at: datetime | None
    finished_at: datetime | None
    promoted_at: datetime | None
    rolled_back_at: datetime | None


class TrialPage(Schema):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.PAGE))
    items: list[TrialSummary]
    next: str | None


class CriterionOut(Schema):
    """`value`, `low`, `high` are shares, ratios or counts; `limit` is what they are held to."""

    model_config = ConfigDict(json_schema_extra=examples.shown(examples.CRITERION))
    name: str
    state: Annotated[str, one_of(CriterionState)]
    value: float | None
    limit: float
    n: int
    low: float | None
    high: float | None
    missing: str = Field(description="What would settle it.")


class ShownOut(Schema):
    """A figure that stands beside and closes nothing: a share of `n` with its interval."""

    name: str
    value: float | None
    n: int
    low: float | None
    high: float | None


class SwitchGateOut(Schema):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.GATE))
    state: Annotated[str, one_of(GateState)]
    n: int
    discordant: int
    p_value: float | None
    criteria: list[CriterionOut]
    shown: list[ShownOut]


class TrialReplayOut(Schema):
    """A trial taken over past runs, or over the golden corpus."""

    model_config = ConfigDict(json_schema_extra=examples.shown(examples.TRIAL_REPLAY))
    id: UUID
    origin: Annotated[str, one_of(Origin)]
    since: datetime | None
    until: datetime | None
    total: int
    done: int
    not_compared: int
    share: float
    cancelled: bool
    cancel_text: str = Field(description="Why it was cancelled; empty: it was not.")
    created_by: str
    created_at: datetime
    finished_at: datetime | None


class CorpusReplay(Schema):
    """The candidate's replay of the golden corpus that the gate reads: see `/golden/replays`."""

    model_config = ConfigDict(json_schema_extra=examples.shown(examples.CORPUS_REPLAY))
    id: UUID
    url: str
    state: Annotated[str, one_of(ReplayState)]


class TrialOut(TrialSummary):
    """A trial with its figures: of live and past runs, as the gate counts them."""

    model_config = ConfigDict(json_schema_extra=examples.shown(examples.TRIAL))
    pairs: int
    waiting: int = Field(description="Not compared yet, those too that wait for a judge.")
    judged: int
    classes: dict[str, int]
    matrix: dict[str, dict[str, int]] = Field(description="Of old outcomes, of new ones.")
    gate: SwitchGateOut
    corpus_replay: CorpusReplay | None
    promotion: dict[str, Any] | None = Field(
        description="What judged before and after, who and why, and the gate as it was."
    )
    watched_by: UUID | None
    replays: list[TrialReplayOut]


class SideOut(Schema):
    """`again`: what the second answer of an A/A pair came to."""

    model_config = ConfigDict(json_schema_extra=examples.shown(examples.SIDE))
    outcome: Annotated[str, one_of(SideOutcome)] | None
    verdict: Annotated[str, one_of(Verdict)] | None
    reason_code: str | None
    again: Annotated[str, one_of(SideOutcome)] | None
    cost_usd: str = Field(description="As if nothing had been answered before.")
    duration_ms: int


class ComparisonOut(Schema):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.COMPARISON))
    id: UUID
    url: str
    origin: Annotated[str, one_of(Origin)]
    run: UUID | None = Field(description="Null: of the corpus, or kept no longer.")
    process: str
    phase: str
    title: str
    old: SideOut
    new: SideOut
    diff_class: Annotated[str, one_of(DiffClass)] | None
    finer: list[str]
    rules: list[str]
    summary: str
    kind: str = Field(description="The same difference has the same one throughout the trial.")
    judged: Annotated[str, one_of(Judged)] | None
    judged_at: datetime | None
    acknowledged: bool
    asked_again: int = Field(description="How often it waited, to ask again a judge that was away.")
    failed: bool
    error: str
    compared_at: datetime | None


class ComparisonPage(Schema):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.COMPARISONS))
    items: list[ComparisonOut]
    next: str | None


class ComparisonWhole(ComparisonOut):
    """With what each side found: an evaluation of a run, or what a golden case came to."""

    old_evaluation: EvaluationWhole | None
    new_evaluation: EvaluationWhole | None
    old_observed: dict[str, Any] | None
    new_observed: dict[str, Any] | None


class TrialQuery(Schema):
    state: TrialState | None = None
    cursor: str = ""
    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)


YesNo = Literal["", "yes", "no"]


class ComparisonQuery(Schema):
    diff_class: Annotated[str, FilterValues.of(DiffClass)] = ""
    old: Annotated[str, FilterValues.of(SideOutcome)] = ""
    new: Annotated[str, FilterValues.of(SideOutcome)] = ""
    move: Literal["", "laxer", "stricter", "both", "passes"] = Field(
        "", description="passes: what the new side alone accepts."
    )
    origin: Literal["", "runs", "live", "past", "corpus"] = ""
    process: Named = ""
    phase: Named = ""
    rule: Named = ""
    finer: Named = ""
    kind: Named = ""
    judged: Literal["", "yes", "no", "old", "new", "both", "neither", "disputed", "false_fails"] = (
        Field("", description="false_fails: a side's reject that people would not have given.")
    )
    acknowledged: YesNo = ""
    failed: YesNo = ""
    aa: Literal["", "yes", "old", "new"] = Field(
        "", description="Asked twice; or of which that side decided otherwise then."
    )
    look: YesNo = Field("", description="What differs and is neither judged nor acknowledged.")
    replay: Named = ""
    q: Named = Field("", description="A part of the task's or case's name.")
    cursor: str = ""
    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)


class StopWish(Schema):
    model_config = ConfigDict(extra="forbid", json_schema_extra=examples.shown(examples.STOP))
    reason: str = Field("", max_length=500)


class TrialStopped(Schema):
    """`stopped` is false where it was over already."""

    model_config = ConfigDict(json_schema_extra=examples.shown(examples.STOPPED))
    id: UUID
    state: Annotated[str, one_of(TrialState)]
    stopped: bool


class TrialReplayWish(Schema):
    """`since`, `until`, `limit` and `phase` are of past runs, `tags` and `canary` of the corpus."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=examples.shown(examples.PAST))
    origin: Literal["past", "corpus"]
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None
    limit: int = Field(1000, description="So many runs at most, the newest first.")
    phase: Named = ""
    tags: list[Tag] = Field(default_factory=list, max_length=20)
    canary: bool = Field(False, description="The held set too.")


class PromoteWish(Schema):
    model_config = ConfigDict(extra="forbid", json_schema_extra=examples.shown(examples.PROMOTE))
    reason: Why
    override: bool = Field(False, description="Although the gate is not open; `reason` says why.")
    corpus_reason: str = Field(
        "", max_length=1000, description="Why, though golden cases regressed or were not replayed."
    )
    watch_days: int = Field(14, description="So long the old one shadows, 1 to 90 days.")


class RollBackWish(Schema):
    model_config = ConfigDict(extra="forbid", json_schema_extra=examples.shown(examples.ROLL_BACK))
    reason: Why
