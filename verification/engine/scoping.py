"""Which rules speak in a phase, and how hard."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from processes.definition.model import (
    ANY_PHASE,
    Definition,
    Enforcement,
    Rule,
    RuleType,
    Severity,
)
from verification.engine.case import Case
from verification.engine.finding import TraceEntry, TraceReason, TraceVerdict
from verification.engine.verifier import Flags, PhaseScope


@dataclass(frozen=True, slots=True)
class Scope:
    applies: bool
    reason: TraceReason


def scope_of(rule: Rule, definition: Definition, phase_id: str, phase_scope: PhaseScope) -> Scope:
    """Say whether a rule applies in a phase. Names of tasks play no part.

    Source: docs/engine.md, "Rules and phases".
    """
    if ANY_PHASE in rule.applies_to_phases:
        return Scope(True, TraceReason.EVERY_PHASE)
    if phase_id in definition.phases_of(rule):
        return Scope(True, TraceReason.PHASE)
    if phase_scope is PhaseScope.GLOBAL:
        return Scope(True, TraceReason.GLOBAL_SCOPE if rule.is_scoped else TraceReason.UNSCOPED)
    if not rule.is_scoped:
        return Scope(False, TraceReason.NO_PHASE)
    return Scope(False, TraceReason.OTHER_PHASE)


@lru_cache(maxsize=8192)
def rule_sha256(rule: Rule) -> str:
    """A rule's content hash, made once: it is asked for in every evaluation."""
    return rule.content_sha256


def case_scope(rule: Rule, case: Case) -> Scope:
    flags = case.verifier.flags
    everywhere = PhaseScope.GLOBAL if case.is_legacy else flags.phase_scope_default
    return scope_of(rule, case.definition, case.phase.id, everywhere)


def rule_enforcement(rule: Rule, flags: Flags) -> Enforcement:
    """How a violation of this rule counts. Source: docs/engine.md, "Findings"."""
    if rule.enforcement is Enforcement.OBSERVE:
        return Enforcement.OBSERVE
    if not flags.policy_engine_enabled and rule.type is RuleType.REGEX:
        return Enforcement.HARD
    if rule.enforcement is not None:
        return rule.enforcement
    if rule.type is RuleType.REGEX:
        return Enforcement.ADVISORY if flags.regex_default_advisory else Enforcement.HARD
    return Enforcement.HARD if rule.severity is Severity.ERROR else Enforcement.ADVISORY


def entry(
    rule: Rule, case: Case, *, applied: bool, verdict: TraceVerdict, reason: TraceReason
) -> TraceEntry:
    return TraceEntry(
        rule=rule.name,
        phase=case.phase.id,
        applied=applied,
        verdict=verdict,
        reason=reason,
        rule_sha256=rule_sha256(rule),
    )


def skipped(rule: Rule, case: Case, reason: TraceReason) -> TraceEntry:
    return entry(rule, case, applied=False, verdict=TraceVerdict.NOT_REACHED, reason=reason)
