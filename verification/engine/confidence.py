"""How sure a conclusion is, and what a caller does with it."""

from __future__ import annotations

from collections.abc import Sequence

from processes.definition.model import Enforcement
from verification.engine.finding import Finding
from verification.engine.outcome import Action, ConfidenceLevel, FindingVerdict, Source, Verdict

HIGH, MEDIUM, FAILED = ConfidenceLevel.HIGH, ConfidenceLevel.MEDIUM, ConfidenceLevel.FAILED

_BY_REASON: tuple[tuple[frozenset[str], ConfidenceLevel], ...] = (
    (frozenset({"install_failed", "build_failed"}), FAILED),
    (frozenset({"tests_failed"}), FAILED),
    (
        frozenset({"gate_error", "gate_contradiction", "sandbox_unavailable", "no_tests"}),
        MEDIUM,
    ),
)
_CUT_OFF = frozenset({"gate_timed_out", "gate_out_of_memory"})
"""Beside whatever else is wanting: a linter's are advisory, and no more than its findings."""
_DOUBTFUL = frozenset({"low_confidence", "vote_divergence"})


def level(
    verdict: Verdict,
    findings: Sequence[Finding],
    *,
    tier_requested: int,
    tier_achieved: int,
    tests_passed: bool = False,
    is_excused: bool = False,
) -> ConfidenceLevel:
    """First that fits. `is_excused`: a gate failed by what was there before the work.

    Source: docs/engine.md, "Confidence and action".
    """
    codes = {finding.reason_code for finding in findings if _counts(finding)}
    if any(one.reason_code in _CUT_OFF and one.enforcement is Enforcement.HARD for one in findings):
        return FAILED
    for reasons, told in _BY_REASON:
        if codes & reasons:
            return told
    if any(finding.source is Source.LLM and _counts(finding) for finding in findings):
        return MEDIUM
    if verdict is Verdict.UNDECIDED or codes & _DOUBTFUL:
        return MEDIUM
    if verdict is Verdict.REJECT:
        return FAILED
    all_done = tier_achieved >= tier_requested and not is_excused
    return HIGH if all_done and (tests_passed or tier_achieved >= 2) else MEDIUM


def action(
    verdict: Verdict, level: ConfidenceLevel, *, attempts_left: int, terminal: str = ""
) -> Action:
    """What a caller does next; the work is run again only for a reject with attempts left."""
    if verdict is Verdict.REJECT and attempts_left > 0 and not terminal:
        return Action.RETRY
    return {
        HIGH: Action.AUTO_COMMIT,
        MEDIUM: Action.REVIEW_BRANCH,
        FAILED: Action.REVERT,
    }[level]


def _counts(finding: Finding) -> bool:
    is_told = finding.verdict is not FindingVerdict.SATISFIED
    return is_told and finding.enforcement is not Enforcement.OBSERVE
