"""What a process file says, as frozen values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

ANY_PHASE = "*"


class RuleType(StrEnum):
    LLM = "llm"
    REGEX = "regex"


class Severity(StrEnum):
    WARNING = "warning"
    ERROR = "error"


class Enforcement(StrEnum):
    HARD = "hard"
    ADVISORY = "advisory"
    OBSERVE = "observe"


class Target(StrEnum):
    OUTPUT = "output"
    DELIVERABLES = "deliverables"
    EVIDENCE = "evidence"


class Expect(StrEnum):
    NO_MATCH = "no_match"
    MATCH = "match"


class ToolSuccessPolicy(StrEnum):
    ALL_TOOLS_HARD = "all_tools_hard"
    LAST_RUN_DECIDES = "last_run_decides"
    DEVELOPMENT_BALANCED = "development_balanced"
    METHOD_RESILIENT = "method_resilient"
    SAFETY_INTEGRITY_ONLY = "safety_integrity_only"


class LintCommands(StrEnum):
    """Whose commands the gate `lint` runs: the table's alone, or those that a plan names."""

    TABLE = "table"
    PLAN = "plan"


class AutoCommit(StrEnum):
    """What an accepted change of code needs to be committed without a person."""

    BUILD_OR_TESTS = "build_or_tests"
    JUDGE_IS_ENOUGH = "judge_is_enough"


class GatesWithoutSandbox(StrEnum):
    """What a run is whose phase asks for gates, in an installation that has no sandbox."""

    UNDECIDED = "undecided"
    MEDIUM = "medium"
    """Decided without gates; its confidence level is MEDIUM at most."""


class ReviewReason(StrEnum):
    """What about a finished run may ask for a person."""

    UNDECIDED = "undecided"
    DIVERGENCE = "divergence"
    LOW_CONFIDENCE = "low_confidence"
    TERMINAL = "terminal"
    PARTIAL = "partial"
    REJECTED = "rejected"


USUAL_URGENCIES = {
    ReviewReason.DIVERGENCE: 50,
    ReviewReason.TERMINAL: 45,
    ReviewReason.UNDECIDED: 40,
    ReviewReason.LOW_CONFIDENCE: 30,
    ReviewReason.REJECTED: 25,
    ReviewReason.PARTIAL: 25,
}
"""0 to 100, where a process does not say."""


class Level(StrEnum):
    """How much a problem of a process file weighs."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with, or worth saying about, a process file.

    `path` is the key path (`phases[2].id`); `line` and `column` count from 1.
    """

    code: str
    message: str
    path: str = ""
    line: int = 1
    column: int = 1
    level: Level = Level.ERROR


@dataclass(frozen=True, slots=True)
class Deliverable:
    path: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class ScoreLoop:
    """`budget_usd` is what judging a task may cost in all; None: whatever it costs."""

    threshold: float = 8.0
    max_iterations: int = 10
    budget_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Phase:
    id: str
    description: str = ""
    depends_on: tuple[str, ...] = ()
    verification_tier: int = 1
    may_lower_tier: bool = False
    """A submission may ask for a lower tier, or take the work off the critical path."""
    model_tier: str = ""
    is_critical_path: bool = False
    is_synthesis: bool = False
    advisory: bool = False
    acceptance_criteria: str = ""
    deliverables: tuple[Deliverable, ...] = ()
    gates: tuple[str, ...] = ()
    gates_without_sandbox: GatesWithoutSandbox | None = None
    """None: as the process says."""
    score: ScoreLoop | None = None
    custom_verifier: str = ""
    max_attempts: int | None = None
    confidence_floor: float = 0.6
    line: int = field(default=1, compare=False)

    @property
    def spec(self) -> dict[str, Any]:
        """The phase as plain values, without its place in the file."""
        spec = asdict(self)
        spec.pop("line")
        return spec


@dataclass(frozen=True, slots=True)
class RuleExamples:
    """Texts that a rule must let pass, and texts that it must find fault with."""

    passing: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """A check with parameters, as its author wrote it.

    `enforcement` is None where the file leaves it to the default (docs/engine.md, "Findings").
    """

    name: str
    check: str
    type: RuleType = RuleType.LLM
    severity: Severity = Severity.WARNING
    description: str = ""
    enforcement: Enforcement | None = None
    target: Target = Target.OUTPUT
    applies_to_phases: tuple[str, ...] = ()
    expect: Expect = Expect.NO_MATCH
    min_count: int | None = None
    requires_exact_cardinality: bool = False
    failure_class: str = ""
    remediation_mode: str = ""
    suggestion: str = ""
    examples: RuleExamples = field(default=RuleExamples(), compare=False)
    path: str = field(default="", compare=False)
    line: int = field(default=1, compare=False)

    @property
    def is_scoped(self) -> bool:
        return bool(self.applies_to_phases)

    @property
    def usual_enforcement(self) -> Enforcement:
        """How a violation counts under the default flags. Source: docs/engine.md, "Findings"."""
        by_severity = self.type is RuleType.LLM and self.severity is Severity.ERROR
        return self.enforcement or (Enforcement.HARD if by_severity else Enforcement.ADVISORY)

    @property
    def next_enforcement(self) -> Enforcement | None:
        """The next step from observed to hard that it may take."""
        steps = [Enforcement.OBSERVE, Enforcement.ADVISORY, Enforcement.HARD]
        after = steps[steps.index(self.usual_enforcement) + 1 :][:1]
        return (
            None if not after or (after[0] is Enforcement.HARD and not self.is_scoped) else after[0]
        )

    @property
    def spec(self) -> dict[str, Any]:
        """The rule as plain JSON, without its place in the file and its examples."""
        spec = asdict(self)
        for key in ("line", "path", "examples"):
            spec.pop(key)
        return spec

    @property
    def content_sha256(self) -> str:
        return _sha256(self.spec)

    @property
    def wanted_count(self) -> int | None:
        """How many matches it asks for, one where an exact count names none; None: any number."""
        if self.min_count is None and self.requires_exact_cardinality:
            return 1
        return self.min_count

    @property
    def looks_for_sha256(self) -> str:
        """Of what decides whether a text violates it: not where it applies, nor how it counts."""
        spec = self.spec
        return _sha256({key: spec[key] for key in LOOKS_FOR})


LOOKS_FOR = ("type", "check", "target", "expect", "min_count", "requires_exact_cardinality")


def _sha256(spec: Mapping[str, Any]) -> str:
    text = json.dumps(spec, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


USUAL_REVIEW_REASONS: Mapping[ReviewReason, int | None] = {
    ReviewReason.UNDECIDED: None,
    ReviewReason.DIVERGENCE: None,
    ReviewReason.LOW_CONFIDENCE: None,
    ReviewReason.TERMINAL: None,
}


@dataclass(frozen=True, slots=True)
class ReviewPolicy:
    """Which runs people are asked about, and how.

    `reasons` gives each an urgency of its own, 0 to 100, or None for the usual one.
    `sample_rate` is the share of decided runs that is drawn by chance, 0 to 1; None: as the
    installation says. `cap_per_day` bounds the flagged ones of a UTC day, None: unbounded.
    """

    reasons: Mapping[ReviewReason, int | None] = field(
        default_factory=lambda: dict(USUAL_REVIEW_REASONS), hash=False
    )
    sample_rate: float | None = None
    cap_per_day: int | None = None
    expires_after_hours: int | None = 168
    is_blind: bool = False
    reviewers: int = 1

    @property
    def asks_nobody(self) -> bool:
        """For certain: an installation may still draw by chance where the file does not say."""
        return not self.reasons and self.sample_rate == 0

    @property
    def spec(self) -> dict[str, Any]:
        """The policy under the keys of a file, None where the file leaves it open."""
        reasons = {reason.value: urgency for reason, urgency in self.reasons.items()}
        return {
            "reasons": reasons,
            "sample_rate": self.sample_rate,
            "cap_per_day": self.cap_per_day,
            "expires_after_hours": self.expires_after_hours,
            "blind": self.is_blind,
            "reviewers": self.reviewers,
        }


@dataclass(frozen=True, slots=True)
class ProcessPolicy:
    mode: str = "llm_first"
    tool_success_policy: ToolSuccessPolicy = ToolSuccessPolicy.ALL_TOOLS_HARD
    lint_commands: LintCommands = LintCommands.TABLE
    gate_seconds: Mapping[str, int] = field(default_factory=dict, hash=False)
    """By gate, 1 to 1,800: what it may take in place of the usual."""
    gates_without_sandbox: GatesWithoutSandbox = GatesWithoutSandbox.UNDECIDED
    syntax_advisory_paths: tuple[str, ...] = ()
    """Files, folders and wildcards: what does not parse there is a warning at most."""
    max_attempts: int | None = None
    auto_commit: AutoCommit = AutoCommit.BUILD_OR_TESTS
    treat_verifier_infra_as_warning: bool = False
    """Asked for by old files. Doubt is never a warning here: only the lint reads it."""
    review: ReviewPolicy = ReviewPolicy()


@dataclass(frozen=True, slots=True)
class Definition:
    """A whole process file that holds no error."""

    name: str
    phases: tuple[Phase, ...]
    title: str = ""
    description: str = ""
    schema_version: int = 1
    version: str = "1.0"
    author: str = ""
    persona: str = ""
    tags: tuple[str, ...] = ()
    risk_level: str = "medium"
    phase_mode: str = "guided"
    rules: tuple[Rule, ...] = ()
    policy: ProcessPolicy = ProcessPolicy()
    remediation: Mapping[str, Any] = field(default_factory=dict, hash=False)
    verifier_constraints: str = ""
    """Goes into the judge's prompt."""
    remediation_instructions: Mapping[str, str] = field(default_factory=dict, hash=False)
    """By reason code; `default` stands for every other. Goes into feedback."""
    places: Mapping[str, tuple[int, int]] = field(default_factory=dict, compare=False, repr=False)
    """Line and column in the file, from 1, by key path."""

    @property
    def shown_title(self) -> str:
        """The title; without one, the name as a person would write it."""
        return self.title or self.name.replace("-", " ").capitalize()

    def place(self, path: str) -> tuple[int, int]:
        """Return line and column of what stands at a key path, or of what holds it."""
        while path and path not in self.places:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return self.places.get(path, (1, 1))

    def needs_sandbox(self, phase: Phase) -> bool:
        """Return whether a phase that asks for gates cannot be decided without a sandbox."""
        setting = phase.gates_without_sandbox or self.policy.gates_without_sandbox
        return bool(phase.gates) and setting is GatesWithoutSandbox.UNDECIDED

    def phase(self, phase_id: str) -> Phase | None:
        return next((phase for phase in self.phases if phase.id == phase_id), None)

    def phases_of(self, rule: Rule) -> tuple[str, ...]:
        """Return the ids of the phases that a rule applies to under the default flags.

        A rule that names no phase belongs to the only phase of its process. Where there are
        several, it belongs to none.
        """
        if rule.is_scoped and ANY_PHASE not in rule.applies_to_phases:
            return rule.applies_to_phases
        phase_ids = tuple(phase.id for phase in self.phases)
        return phase_ids if rule.is_scoped or len(phase_ids) == 1 else ()
