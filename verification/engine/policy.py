"""From findings to outcome and verdict. A judge answers per rule; only this decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from processes.definition.model import Enforcement
from verification.engine.finding import SWITCHED_OFF, Finding
from verification.engine.outcome import (
    FindingVerdict,
    Outcome,
    RetryStrategy,
    SeverityClass,
    Source,
    Status,
    Verdict,
)
from verification.engine.reasons import RESULTS, Effect, Reason, reason
from verification.engine.verifier import Flags

HARD, ADVISORY, OBSERVE = Enforcement.HARD, Enforcement.ADVISORY, Enforcement.OBSERVE

CHECK_ENFORCEMENT: Mapping[str, Enforcement] = {
    "output_empty": HARD,
    "path_outside_workspace": HARD,
    "deliverable_missing": HARD,
    "deliverable_empty": HARD,
    "tool_failed": HARD,
    "nonzero_return_code": HARD,
    "install_failed": HARD,
    "build_failed": HARD,
    "types_failed": HARD,
    "tests_failed": HARD,
    "security_failed": HARD,
    "run_failed": HARD,
    "gate_timed_out": HARD,
    "gate_out_of_memory": HARD,
    "syntax_invalid": ADVISORY,
    "odd_payload": ADVISORY,
    "tool_result_error": ADVISORY,
    "changed_file_missing": ADVISORY,
    "lint_failed": ADVISORY,
    "no_tests": ADVISORY,
    "file_type_mismatch": ADVISORY,
    "claim_label_invalid": ADVISORY,
}
"""How a check's finding counts, unless the check knows better of this very file or tool."""

_BY_WEIGHT = (
    Effect.REJECT,
    Effect.UNDECIDED,
    Effect.UNDECIDED_PARTLY,
    Effect.ACCEPT_PARTLY,
    Effect.WARN,
    Effect.NOTE,
)
_GATES_NOT_RUN = frozenset({"sandbox_unavailable", "gate_error"})
_LOST = (Effect.UNDECIDED, Effect.UNDECIDED_PARTLY)
_ENFORCEMENT_ORDER = {HARD: 0, ADVISORY: 1, OBSERVE: 2}
_CLASS_ORDER: Mapping[SeverityClass | None, int] = {
    one: position for position, one in enumerate((*SeverityClass, None))
}


@dataclass(frozen=True, slots=True)
class Decision:
    """`may_pass`: undecided, and for causes alone that may be gone when the judge is asked later."""

    outcome: Outcome
    verdict: Verdict
    reason_code: str = ""
    severity_class: SeverityClass | None = None
    retry_strategy: RetryStrategy = RetryStrategy.NONE
    review_reasons: tuple[str, ...] = ()
    may_pass: bool = False


def effect_of(finding: Finding) -> Effect | None:
    """What one finding does to the run; None: nothing, it is only told.

    A hard finding rejects whatever its reason, unless the reason itself speaks of doubt.
    What is unknown never counts as violated.
    """
    why = reason(finding.reason_code)
    usual = (finding.place.get(SWITCHED_OFF) and why.when_switched_off) or why.effect
    if finding.enforcement is OBSERVE or finding.verdict is FindingVerdict.SATISFIED:
        return None
    if finding.verdict is FindingVerdict.UNKNOWN:
        if finding.enforcement is ADVISORY:
            return None
        return usual if usual in _LOST else Effect.UNDECIDED
    if finding.enforcement is ADVISORY:
        return Effect.NOTE if usual is Effect.NOTE or usual in _LOST else Effect.WARN
    return Effect.REJECT if usual in (Effect.WARN, Effect.TERMINAL) else usual


def allowed(effect: Effect, flags: Flags) -> Effect:
    """Translate an effect where a flag knows fewer outcomes."""
    if flags.allow_partial_verified and flags.policy_engine_enabled:
        return effect
    stricter = {
        Effect.ACCEPT_PARTLY: Effect.REJECT,
        Effect.UNDECIDED_PARTLY: Effect.UNDECIDED,
    }
    return stricter.get(effect, effect)


def heaviest(findings: Iterable[Finding], flags: Flags) -> Effect | None:
    """The effect that decides; None: nothing counts."""
    effects = (effect_of(finding) for finding in findings)
    counted = {allowed(effect, flags) for effect in effects if effect is not None}
    return min(counted, key=_BY_WEIGHT.index, default=None)


def outcome_of(findings: Iterable[Finding], flags: Flags) -> tuple[Outcome, Verdict]:
    """What findings come to, in any order; `decide` says why, too."""
    effect = heaviest(findings, flags)
    return (Outcome.PASS, Verdict.ACCEPT) if effect is None else _result(effect, flags)


def is_open(findings: Iterable[Finding], flags: Flags) -> bool:
    """Whether a later tier could still lead to an accept: no certain blame, and nothing lost."""
    return heaviest(findings, flags) not in (Effect.REJECT, *_LOST)


def goes_on(findings: Iterable[Finding], flags: Flags) -> bool:
    """Whether the next tier is asked. Where gates could not run, a judge reviews the work alone."""
    return is_open((one for one in findings if one.reason_code not in _GATES_NOT_RUN), flags)


def is_rejected(findings: Iterable[Finding], flags: Flags) -> bool:
    """Whether the work is at fault for certain."""
    return heaviest(findings, flags) is Effect.REJECT


def status_of(findings: Sequence[Finding], flags: Flags) -> Status:
    """How a tier ended that found this."""
    if is_rejected(findings, flags):
        return Status.FAILED
    return Status.PASSED if is_open(findings, flags) else Status.ERROR


def decide(findings: Sequence[Finding], flags: Flags) -> Decision:
    """Find the outcome, first that fits. `findings` are ordered, most severe first.

    Source: docs/engine.md, "Outcome and verdict".
    """
    effects = [
        (allowed(effect, flags), finding)
        for finding in findings
        if (effect := effect_of(finding)) is not None
    ]
    if not effects:
        return Decision(Outcome.PASS, Verdict.ACCEPT)
    deciding = min((effect for effect, _ in effects), key=_BY_WEIGHT.index)
    most_severe = next(finding for effect, finding in effects if effect is deciding)
    why = reason(most_severe.reason_code)
    outcome, verdict = _result(deciding, flags)
    return Decision(
        outcome=outcome,
        verdict=verdict,
        reason_code=why.code,
        severity_class=_severity_class(deciding, why),
        retry_strategy=_retry_strategy(deciding, why),
        review_reasons=_review_reasons(effects, deciding),
        may_pass=deciding in _LOST and _causes_may_pass(effects),
    )


def ordered(findings: Iterable[Finding], rule_order: Mapping[str, int]) -> tuple[Finding, ...]:
    """Most severe first: enforcement, severity class, tier, rule order, then place."""

    def weight(finding: Finding) -> tuple[object, ...]:
        return (
            _ENFORCEMENT_ORDER[finding.enforcement],
            _CLASS_ORDER[reason(finding.reason_code).severity_class],
            finding.tier,
            rule_order.get(finding.rule, len(rule_order)),
            finding.rule,
            _number(finding),
            finding.path,
            finding.line or 0,
            finding.column or 0,
            finding.fingerprint,
        )

    return tuple(sorted(findings, key=weight))


def _number(finding: Finding) -> int:
    """Which call or claim it is about, in the order in which they were submitted."""
    number = finding.place.get("tool_call", 0)
    for claim in finding.place.get("claims", ())[:1]:
        number = claim
    return int(number)


def _result(effect: Effect, flags: Flags) -> tuple[Outcome, Verdict]:
    if effect in RESULTS:
        return RESULTS[effect]
    warns = effect is Effect.WARN and flags.policy_engine_enabled
    return (Outcome.PASS_WITH_WARNINGS if warns else Outcome.PASS), Verdict.ACCEPT


def _severity_class(effect: Effect, why: Reason) -> SeverityClass | None:
    if effect is Effect.REJECT:
        return why.severity_class or SeverityClass.HARD_INVARIANT
    if effect in _LOST:
        if why.severity_class in (SeverityClass.INCONCLUSIVE, SeverityClass.SEMANTIC):
            return SeverityClass.INCONCLUSIVE
        return SeverityClass.INFRA
    return why.severity_class if effect is Effect.ACCEPT_PARTLY else None


def _retry_strategy(effect: Effect, why: Reason) -> RetryStrategy:
    if effect is Effect.REJECT and why.retry_strategy is RetryStrategy.NONE:
        return RetryStrategy.GENERIC
    is_of_the_work = why.effect is Effect.REJECT
    if effect in (Effect.WARN, Effect.NOTE) or (effect in _LOST and is_of_the_work):
        return RetryStrategy.NONE
    return why.retry_strategy


def _causes_may_pass(effects: Sequence[tuple[Effect, Finding]]) -> bool:
    """Checks look at what stays as it is: asking them again would answer the same."""
    return all(
        (finding.tier > 1 or finding.source in (Source.CUSTOM, Source.GATE))
        and not finding.place.get(SWITCHED_OFF)
        and reason(finding.reason_code).may_pass
        for effect, finding in effects
        if effect in _LOST
    )


def _review_reasons(effects: Sequence[tuple[Effect, Finding]], deciding: Effect) -> tuple[str, ...]:
    """Codes that ask for a person. Doubt beside a certain reject asks nobody."""
    asked = [
        finding.reason_code
        for effect, finding in effects
        if (effect is Effect.NOTE and reason(finding.reason_code).asks_a_person)
        or (effect in _LOST and deciding in _LOST)
    ]
    return tuple(dict.fromkeys(asked))
