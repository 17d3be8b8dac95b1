"""Which fields a process file has at each place, and which words they take.

For completion while YAML is typed. A test holds it against what the reader asks for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from processes.definition.load import CRITICAL_PATH_BEHAVIORS, PHASE_MODES, RISK_LEVELS
from processes.definition.model import (
    AutoCommit,
    Enforcement,
    Expect,
    GatesWithoutSandbox,
    LintCommands,
    ReviewReason,
    RuleType,
    Severity,
    Target,
    ToolSuccessPolicy,
)
from processes.definition.phases import GATES
from processes.definition.review import USUAL
from processes.definition.rules import FAILURE_CLASSES, REMEDIATION_MODES

PHASE_ID = "<phase>"
"""Stands for the ids of the phases that are typed."""
FLAGS = ("true", "false")

Words = Sequence[str]
Place = Mapping[str, Words]

RULE: Place = {
    "name": (),
    "check": (),
    "type": tuple(RuleType),
    "severity": tuple(Severity),
    "description": (),
    "enforcement": tuple(Enforcement),
    "target": tuple(Target),
    "applies_to_phases": (PHASE_ID, '"*"'),
    "scope": ("phase", "global"),
    "expect": tuple(Expect),
    "min_count": (),
    "requires_exact_cardinality": FLAGS,
    "failure_class": FAILURE_CLASSES,
    "remediation_mode": REMEDIATION_MODES,
    "suggestion": (),
    "examples": (),
}
PHASE: Place = {
    "id": (),
    "description": (),
    "depends_on": (PHASE_ID,),
    "verification_tier": ("1", "2", "3"),
    "may_lower_tier": FLAGS,
    "model_tier": (),
    "is_critical_path": FLAGS,
    "is_synthesis": FLAGS,
    "advisory": FLAGS,
    "acceptance_criteria": (),
    "deliverables": (),
    "gates": GATES,
    "gates_without_sandbox": tuple(GatesWithoutSandbox),
    "score": (),
    "custom_verifier": (),
    "max_attempts": (),
    "confidence_floor": (),
    "rules": (),
}
PROCESS: Place = {
    "name": (),
    "title": (),
    "description": (),
    "schema_version": ("1", "2"),
    "version": (),
    "author": (),
    "persona": (),
    "tags": (),
    "risk_level": tuple(dict.fromkeys(RISK_LEVELS.values())),
    "phase_mode": PHASE_MODES,
    "phases": (),
    "verification": (),
    "prompt_contracts": (),
    "tools": (),
    "tool_guidance": (),
}
PLACES: Mapping[str, Place] = {
    "": PROCESS,
    "tools": {"guidance": (), "required": (), "excluded": ()},
    "prompt_contracts": {"verifier_constraints": (), "remediation_instructions": ()},
    "phases[]": PHASE,
    "phases[].rules[]": RULE,
    "phases[].rules[].examples": {"pass": (), "fail": ()},
    "phases[].score": {"threshold": (), "max_iterations": (), "budget_usd": ()},
    "verification": {"rules": (), "policy": (), "remediation": ()},
    "verification.rules[]": RULE,
    "verification.rules[].examples": {"pass": (), "fail": ()},
    "verification.policy": {
        "mode": ("llm_first", "static_first"),
        "static_checks": (),
        "semantic_checks": (),
        "outcome_policy": (),
        "max_attempts": (),
        "auto_commit": tuple(AutoCommit),
        "review": (),
    },
    "verification.policy.static_checks": {
        "tool_success_policy": tuple(ToolSuccessPolicy),
        "lint_commands": tuple(LintCommands),
        "gate_seconds": (),
        "gates_without_sandbox": tuple(GatesWithoutSandbox),
        "syntax_advisory_paths": (),
    },
    "verification.policy.static_checks.gate_seconds": dict.fromkeys(GATES, ()),
    "verification.policy.semantic_checks[]": {
        "id" if key == "name" else key: words for key, words in RULE.items()
    },
    "verification.policy.outcome_policy": {"treat_verifier_infra_as_warning": FLAGS},
    "verification.policy.review": {
        "reasons": tuple(ReviewReason),
        "sample_rate": (),
        "cap_per_day": (),
        "expires_after_hours": ("never",),
        "blind": FLAGS,
        "reviewers": ("1", "2"),
    },
    "verification.policy.review.reasons": dict.fromkeys(ReviewReason, (USUAL,)),
    "verification.remediation": {
        "critical_path_behavior": CRITICAL_PATH_BEHAVIORS,
        "retry_budget": (),
        "strategies": (),
        "default_strategy": (),
        "transient_retry_policy": (),
    },
    "verification.remediation.retry_budget": {"max_attempts": ()},
}
