"""Work that is left to do after a run, drafted for whoever takes it on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from processes.definition.model import Enforcement
from verification.engine import scoping
from verification.engine.case import Case
from verification.engine.claims import routing
from verification.engine.claims.labels import CONFIRMED, is_recommendation
from verification.engine.claims.settlement import CountedClaim, RemediationDraft
from verification.engine.finding import Finding
from verification.engine.outcome import FindingVerdict, Verdict

CONFIRM_OR_PRUNE, QUEUE_FOLLOW_UP = "confirm_or_prune", "queue_follow_up"
REMEDIATE_AND_RETRY = "remediate_and_retry"
MODES = (CONFIRM_OR_PRUNE, "targeted_remediation", QUEUE_FOLLOW_UP, REMEDIATE_AND_RETRY)
MAX_CLAIMS = 200
MAX_DRAFTS = 50
EXPECTED = (
    "Submit a run of the same task and phase whose `remediation` is this one's id. It is resolved"
    " when that run is accepted."
)
_OF_CLAIMS = (
    "recommendation_pruned",
    "recommendation_unconfirmed",
    "unconfirmed_above_threshold",
    "unconfirmed_critical_path",
)


def drafts(
    case: Case, verdict: Verdict, findings: Sequence[Finding], claims: Sequence[CountedClaim]
) -> tuple[RemediationDraft, ...]:
    """One for each shortfall of claims, and one for each violated rule that asks for it.

    Doubt asks for nothing: the run is verified again first. `findings` are ordered.

    Source: docs/engine.md, "Remediations".
    """
    if verdict is Verdict.UNDECIDED:
        return ()
    counted = [
        one
        for one in findings
        if one.verdict is FindingVerdict.VIOLATED and one.enforcement is not Enforcement.OBSERVE
    ]
    drafted = [*_of_claims(case, verdict, counted, claims), *_of_rules(case, verdict, counted)]
    return tuple(drafted[:MAX_DRAFTS])


def _of_claims(
    case: Case, verdict: Verdict, findings: Sequence[Finding], claims: Sequence[CountedClaim]
) -> Iterator[RemediationDraft]:
    """Only where people are to put it right: rejected work comes back by itself."""
    hard = [one for one in findings if one.enforcement is Enforcement.HARD]
    for reason_code in dict.fromkeys(one.reason_code for one in hard):
        told = [one for one in hard if one.reason_code == reason_code]
        if reason_code not in _OF_CLAIMS:
            continue
        if verdict is Verdict.REJECT and case.verifier.flags.auto_confirm_prune_critical_path:
            continue
        usual = QUEUE_FOLLOW_UP if reason_code == "recommendation_pruned" else CONFIRM_OR_PRUNE
        strategy = _strategy(case, reason_code)
        yield RemediationDraft(
            _mode(strategy, usual),
            {
                **_request(case, reason_code, strategy),
                "claims": [_claim(one) for one in _meant(reason_code, told, claims)],
            },
        )


def _of_rules(
    case: Case, verdict: Verdict, findings: Sequence[Finding]
) -> Iterator[RemediationDraft]:
    by_rule = {(one.rule, one.rule_sha256): one for one in reversed(findings)}
    for rule in case.definition.rules:
        found = by_rule.get((rule.name, scoping.rule_sha256(rule)))
        if found is None or rule.remediation_mode not in MODES:
            continue
        if rule.remediation_mode == REMEDIATE_AND_RETRY and verdict is Verdict.REJECT:
            continue  # The feedback of the rejected run asks for just this.
        strategy = _strategy(case, found.reason_code)
        yield RemediationDraft(
            rule.remediation_mode,
            {
                **_request(case, found.reason_code, strategy),
                "rule": rule.name,
                "message": found.message,
                "path": found.path,
                "line": found.line,
                "suggestion": found.suggestion or rule.suggestion,
                "claims": [],
            },
        )


def _request(case: Case, reason_code: str, strategy: Mapping[str, Any]) -> dict[str, Any]:
    told = case.definition.remediation_instructions
    request = {
        "reason_code": reason_code,
        "instructions": told.get(reason_code) or told.get("default", ""),
        "expected": EXPECTED,
    }
    return {**request, "strategy": dict(strategy)} if strategy else request


def _strategy(case: Case, reason_code: str) -> Mapping[str, Any]:
    """The process's strategy for this reason, else its default one; empty: it has none."""
    written = case.definition.remediation.get("strategies") or []
    known = [one for one in written if isinstance(one, dict)]
    for one in known:
        codes = one.get("reason_codes", one.get("reason_code"))
        if reason_code in (codes if isinstance(codes, list) else [codes]):
            return one
    usual = case.definition.remediation.get("default_strategy")
    named = (one for one in known if usual and usual in (one.get("id"), one.get("name")))
    return next(named, {"mode": usual} if usual in MODES else {})


def _mode(strategy: Mapping[str, Any], usual: str) -> str:
    mode = strategy.get("mode")
    return mode if mode in MODES else usual


def _meant(
    reason_code: str, told: Sequence[Finding], claims: Sequence[CountedClaim]
) -> Sequence[CountedClaim]:
    """The claims that the findings name; where more are meant than named, all of their side."""
    named = [number for one in told for number in one.place.get("claims", ())]
    if len(named) < routing.MAX_SHOWN:
        return [claims[number] for number in dict.fromkeys(named) if number < len(claims)]
    sides = {is_recommendation(claims[number]) for number in named if number < len(claims)}
    of_sides = [one for one in claims if one.label != CONFIRMED and is_recommendation(one) in sides]
    return of_sides[:MAX_CLAIMS]


def _claim(claim: CountedClaim) -> dict[str, Any]:
    return {
        "text": claim.text,
        "label": claim.label,
        "section": claim.section,
        "evidence": list(claim.evidence),
        "state": claim.state,
    }
