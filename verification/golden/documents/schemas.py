"""A golden case as a document, in YAML or JSON. Types are strict. Source: docs/golden.md."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import Field

from processes.definition.model import Enforcement
from verification.engine.case import MAX_PROMPT_CHARS
from verification.engine.claims.settlement import ArtefactKind
from verification.engine.finding import TraceReason, TraceVerdict
from verification.engine.judges.asking import Ask
from verification.engine.outcome import (
    Action,
    ConfidenceLevel,
    FindingVerdict,
    Outcome,
    RetryStrategy,
    SeverityClass,
    Source,
    Status,
    Verdict,
)
from verification.engine.protocol.reply import Stage
from verification.engine.shadow import DiffClass
from verification.runs.intake.schemas import File, Name, Path, Short, Strict, Text

MAX_REPLIES = 100
MAX_EXPECTED = 200
MAX_EARLIER = 2_000
Count = Annotated[int, Field(ge=0, le=1_000_000)]
TAG = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
Tag = Annotated[str, Field(pattern=f"^{TAG.pattern}$")]
CANARY = "canary"
"""The tag of the held set, which is replayed only where it is asked for."""
CaseName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,119}$")]
Loose = Field(strict=False)
"""Texts are what enumerations look like in a document."""


class ReplyIn(Strict):
    """What a judge answered. `number` counts the questions of this kind in this tier from 1."""

    tier: Annotated[int, Field(ge=2, le=3)] = 2
    ask: Annotated[Ask, Loose] = Ask.ASSESS
    number: Annotated[int, Field(ge=1, le=MAX_REPLIES)] | None = None
    text: Text = ""
    lost: Annotated[str, Field(max_length=40)] = ""
    is_cut: bool = False
    prompt: Annotated[str, Field(pattern=r"^([0-9a-f]{16})?$")] = ""


class SeatsIn(Strict):
    primary: Annotated[str, Field(max_length=120)] = "recorded"
    alternate: Annotated[str, Field(max_length=120)] = ""
    panel: Annotated[list[Name], Field(max_length=20)] = Field(default_factory=list)
    prompt_chars: Annotated[int, Field(ge=1000, le=4_000_000)] = MAX_PROMPT_CHARS


class CountsIn(Strict):
    passed: Count = 0
    failed: Count = 0
    errors: Count = 0
    skipped: Count = 0
    flaky: Count = 0


class FailureIn(Strict):
    """A test that did not pass."""

    name: Annotated[str, Field(max_length=500)]
    status: Literal["failed", "error"] = "failed"
    message: Annotated[str, Field(max_length=4000)] = ""
    path: Annotated[str, Field(max_length=500)] = ""
    line: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None


class ProblemIn(Strict):
    """What a tool complained of."""

    message: Annotated[str, Field(max_length=4000)]
    path: Annotated[str, Field(max_length=500)] = ""
    line: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    column: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    rule: Annotated[str, Field(max_length=500)] = ""
    severity: Literal["high", "medium", "low"] = "medium"
    waived: Annotated[str, Field(max_length=500)] = ""


class GateIn(Strict):
    gate: Literal["install", "build", "types", "test", "lint", "security", "run"]
    status: Annotated[Status, Loose]
    component: Short = ""
    exit_code: Annotated[int, Field(ge=-(2**31), le=2**31 - 1)] | None = None
    tests: CountsIn | None = None
    detail: Annotated[str, Field(max_length=500)] = ""
    contradiction: Annotated[str, Field(max_length=500)] = ""
    is_guess: bool = False
    is_word: bool = False
    is_lost: bool = False
    failures: Annotated[list[FailureIn], Field(max_length=50)] = Field(default_factory=list)
    problems: Annotated[list[ProblemIn], Field(max_length=50)] = Field(default_factory=list)
    old_failures: Count = 0
    old_problems: Count = 0
    is_old: bool = False


class EarlierFindingIn(Strict):
    """A problem of the task's earlier attempts. `is_gone`: the last attempt had it no more."""

    rule: Name
    reason_code: Name
    message: Text
    fingerprint: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    enforcement: Annotated[Enforcement, Loose] = Enforcement.HARD
    source: Annotated[Source, Loose] = Source.DETERMINISTIC
    tier: Annotated[int, Field(ge=1, le=3)] = 1
    path: Annotated[str, Field(max_length=500)] = ""
    line: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    place: dict[Short, Short] = Field(default_factory=dict)
    is_gone: bool = False


class HistoryIn(Strict):
    """What the task had behind it when this was submitted.

    `findings` None: there was no earlier attempt.
    """

    attempts_used: Count = 0
    submissions: Count = 0
    repeats: Count = 0
    is_same_candidate: bool = False
    last_candidate: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = ""
    exhausted_reason: Annotated[str, Field(max_length=40)] = ""
    was_counted: bool | None = None
    findings: Annotated[list[EarlierFindingIn], Field(max_length=MAX_EARLIER)] | None = None


class DecidedIn(Strict):
    """What a person made of it afterwards."""

    verdict: Literal["accept", "reject"]
    is_last: bool = True
    is_known: bool = False
    has_ended: bool = False


class FindingIn(Strict):
    """A finding as it must, or must not, be there: what is named has to fit.

    `message` and `quote` fit where they are part of the finding's.
    """

    rule: Name | None = None
    reason_code: Name | None = None
    enforcement: Annotated[Enforcement, Loose] | None = None
    verdict: Annotated[FindingVerdict, Loose] | None = None
    source: Annotated[Source, Loose] | None = None
    tier: Annotated[int, Field(ge=1, le=3)] | None = None
    path: Annotated[str, Field(max_length=500)] | None = None
    line: Count | None = None
    message: Annotated[str, Field(max_length=2000)] | None = None
    quote: Annotated[str, Field(max_length=2000)] | None = None
    quote_verified: bool | None = None


class FindingsIn(Strict):
    """`only`: nothing beyond what must be there."""

    must: Annotated[list[FindingIn], Field(max_length=MAX_EXPECTED)] = Field(default_factory=list)
    must_not: Annotated[list[FindingIn], Field(max_length=MAX_EXPECTED)] = Field(
        default_factory=list
    )
    only: bool = False


class RulesIn(Strict):
    """Rules by name: with what verdict they were applied, which were skipped, and why either."""

    applied: dict[Name, Annotated[TraceVerdict, Loose]] = Field(default_factory=dict)
    skipped: Annotated[list[Name], Field(max_length=MAX_EXPECTED)] = Field(default_factory=list)
    reasons: dict[Name, Annotated[TraceReason, Loose]] = Field(default_factory=dict)


class ClaimsIn(Strict):
    confirmed: Count | None = None
    inferred: Count | None = None
    unsupported: Count | None = None
    recommendation_unconfirmed: Count | None = None
    supporting_unconfirmed_ratio: Annotated[float, Field(ge=0, le=1)] | None = None
    pruned: Count | None = None


class AttemptIn(Strict):
    number: Count | None = None
    counted: bool | None = None
    used: Count | None = None
    left: Count | None = None
    repeats: Count | None = None
    submissions: Count | None = None
    last_outcome: Short | None = None
    terminal: Annotated[str, Field(max_length=40)] | None = None
    exhausted: bool | None = None
    last_candidate: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] | None = None


class ArtefactIn(Strict):
    """A text that the engine made, and passages that it holds or lacks."""

    kind: Annotated[ArtefactKind, Loose]
    path: Annotated[str, Field(max_length=500)] = ""
    holds: Annotated[list[Text], Field(max_length=50)] = Field(default_factory=list)
    lacks: Annotated[list[Text], Field(max_length=50)] = Field(default_factory=list)


class RemediationIn(Strict):
    mode: Name
    reason_code: Name | None = None
    rule: Name | None = None
    claims: Count | None = None


class ExpectedIn(Strict):
    """What is left out is not looked at; at least one thing is named.

    A field that is named with null must be null: `severity_class: null`. An empty list of
    artefacts, remediations or review reasons means that there are none.
    """

    outcome: Annotated[Outcome, Loose] | None = None
    verdict: Annotated[Verdict, Loose] | None = None
    reason_code: Annotated[str, Field(max_length=40)] | None = None
    severity_class: Annotated[SeverityClass, Loose] | None = None
    retry_strategy: Annotated[RetryStrategy, Loose] | None = None
    shadow: Annotated[DiffClass, Loose] | None = None
    tier_achieved: Annotated[int, Field(ge=0, le=3)] | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    confidence_level: Annotated[ConfidenceLevel, Loose] | None = None
    action: Annotated[Action, Loose] | None = None
    rerun_execution: bool | None = None
    may_pass: bool | None = None
    findings: FindingsIn | None = None
    rules: RulesIn | None = None
    claims: ClaimsIn | None = None
    review: Annotated[list[Name], Field(max_length=50)] | None = None
    attempt: AttemptIn | None = None
    decided: AttemptIn | None = None
    recovery: dict[Literal["2", "3"], Annotated[Stage, Loose]] | None = None
    calls: dict[Literal["2", "3"], Count] | None = None
    artefacts: Annotated[list[ArtefactIn], Field(max_length=50)] | None = None
    remediations: Annotated[list[RemediationIn], Field(max_length=50)] | None = None
    feedback: Annotated[list[Text], Field(max_length=50)] | None = None


class CaseIn(Strict):
    """One golden case. `run` is the submission, in the words of `POST /runs`."""

    id: CaseName
    guards: Annotated[str, Field(min_length=1, max_length=500)]
    process: Name
    phase: Name
    process_text: Annotated[str, Field(max_length=1_000_000)] = ""
    tier: Annotated[int, Field(ge=1, le=3)] | None = None
    tags: Annotated[list[Tag], Field(max_length=20)] = Field(default_factory=list)
    owner: Short = ""
    provenance: dict[Name, Annotated[str, Field(max_length=2000)]] = Field(default_factory=dict)
    run: dict[str, Any]
    files: Annotated[dict[Path, File], Field(max_length=10_000)] = Field(default_factory=dict)
    judges: SeatsIn = SeatsIn()
    replies: Annotated[list[ReplyIn], Field(max_length=MAX_REPLIES)] = Field(default_factory=list)
    gates: Annotated[list[GateIn], Field(max_length=100)] | None = None
    history: HistoryIn = HistoryIn()
    decided: DecidedIn | None = None
    fence: Annotated[str, Field(pattern=r"^[A-Za-z0-9]{16,64}$")] = "0000000000000000"
    expected: ExpectedIn
