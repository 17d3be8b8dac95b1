"""A backtest in the words of the HTTP contract."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Field, Schema
from pydantic import AwareDatetime, ConfigDict

from processes.definition.model import Enforcement, Expect, RuleType, Severity, Target
from processes.definition.patterns import MAX_PATTERN_CHARS
from processes.definition.phases import MAX_PHASES
from processes.definition.rules import MAX_COUNT, MAX_RULE_NAME
from verification.engine.backtest import Bucket
from verification.engine.outcome import Outcome, Verdict
from verification.rules.backtest.wish import MAX_RUNS
from verification.runs.schema_values import one_of

NO_NUL = r"^[^\x00]*$"
Said = Annotated[str, Field(max_length=2_000, pattern=NO_NUL)]
PhaseName = Annotated[str, Field(max_length=120, pattern=NO_NUL)]
EXAMPLE: dict[str, Any] = {
    "rule": {
        "name": "no-open-cells",
        "type": "regex",
        "check": r"\[TBD\]|\bN/A\b|XX%",
        "target": "deliverables",
        "applies_to_phases": ["*"],
        "enforcement": "hard",
    },
    "limit": 2_000,
}


class RuleIn(Schema):
    """A rule as a process file writes it; what is left out has the file's default."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field(min_length=1, max_length=MAX_RULE_NAME, pattern=NO_NUL)
    check: str = Field(min_length=1, max_length=MAX_PATTERN_CHARS, pattern=NO_NUL)
    type: Literal[RuleType.REGEX] = Field(description="Only a pattern is tried without a judge.")
    target: Target = Target.OUTPUT
    expect: Expect = Expect.NO_MATCH
    min_count: int | None = Field(None, ge=0, le=MAX_COUNT)
    requires_exact_cardinality: bool = False
    applies_to_phases: list[PhaseName] = Field([], max_length=MAX_PHASES)
    severity: Severity = Severity.WARNING
    enforcement: Enforcement | None = None
    failure_class: Said = ""
    description: Said = ""
    suggestion: Said = ""

    @property
    def said(self) -> dict[str, Any]:
        """What was sent, and nothing else."""
        sent = self.model_dump(mode="json", exclude_unset=True)
        return {key: value for key, value in sent.items() if value is not None}


class BacktestIn(Schema):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": EXAMPLE})
    rule: RuleIn
    since: AwareDatetime | None = Field(None, description="No older runs than this.")
    limit: int = Field(MAX_RUNS, ge=1, le=MAX_RUNS, description="So many of the newest runs.")
    phase: PhaseName = Field("", description="Runs of this phase alone.")


class BucketsOut(Schema):
    """How many runs would have ended otherwise, by what people said of the work."""

    good_catch: int = Field(description="Spoken against now; a person failed the work.")
    false_alarm: int = Field(description="Spoken against now; a person accepted it.")
    unsafe_pass: int = Field(
        description="Let go now; a person failed the work, or it would be accepted unseen."
    )
    relieved: int = Field(description="Let go now; a person accepted the work.")
    unlabelled: int = Field(description="Spoken against now; nobody decided.")
    let_go: int = Field(description="Spoken against less than before; nobody decided.")
    could_not_evaluate: int = Field(description="What the rule or the run comes to is not known.")


class ChangedRun(Schema):
    id: UUID
    task: str
    phase: str
    bucket: Annotated[str, one_of(Bucket)]
    path: str = Field(description="Of the file; '' is the output.")
    evidence: str = Field("", description="The id of the piece of evidence that matches.")
    line: int | None
    column: int | None
    quote: str
    before: Annotated[str, one_of(Outcome)]
    before_verdict: Annotated[str, one_of(Verdict)]
    after: Annotated[str, one_of(Outcome)] | None = Field(description="Null: it is not known.")
    after_verdict: Annotated[str, one_of(Verdict)] | None
    final_outcome: Annotated[str, one_of(Outcome)] | None = Field(description="A person's.")
    why: str = Field(description="Why it is not known.")


class BacktestOut(Schema):
    evaluated: int
    matched: int = Field(description="Runs that the rule speaks against.")
    total: int = Field(description="Runs there are to try, up to `limit`.")
    seconds: float
    stopped: str = Field(description="Why not all were looked at; '' they were.")
    counted_as: Annotated[str, one_of(Enforcement)] = Field(
        description="An observed rule never counts: it is tried as a hard one."
    )
    buckets: BucketsOut
    runs: list[ChangedRun] = Field(description="Newest first, at most 100 of each bucket.")
