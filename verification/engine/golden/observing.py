"""What a replay came to, as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from verification.engine.attempts import Accounted
from verification.engine.claims.settlement import Artefact
from verification.engine.climb import Conclusion
from verification.engine.finding import Finding, TraceEntry, cleaned
from verification.engine.grammars.text import wide_encoding
from verification.engine.tiers import TierReport

MAX_ARTEFACT_CHARS = 20_000
MAX_FINDINGS = 1_000
Observed = Mapping[str, Any]
"""See `observed_of`."""


def observed_of(
    tiers: Sequence[TierReport],
    conclusion: Conclusion,
    feedback: str,
    overruled: Accounted | None = None,
) -> dict[str, Any]:
    """All that can be expected of a replay, as JSON, without ids, times and durations.

    `overruled` is what a person's word makes of the task. Texts hold nothing that a database or XML could not. Artefacts and findings are whole.
    """
    observed = {
        **_concluded(conclusion),
        "findings": [_finding(one) for one in conclusion.findings],
        "rules": _rules(conclusion.trace),
        "claims": dict(conclusion.claims),
        "claim_list": [one.to_json() for one in conclusion.counted_claims],
        "review": conclusion.review_reasons,
        "attempt": _attempt(conclusion.accounted),
        "decided": _attempt(overruled) if overruled else None,
        "tiers": [_tier(one) for one in tiers],
        "votes": [asdict(one) for one in conclusion.ballots],
        "artefacts": [_artefact(one) for one in conclusion.artefacts],
        "remediations": [one.to_json() for one in conclusion.remediations],
        "feedback": feedback,
    }
    return {name: plain(value) for name, value in observed.items()}


def bounded(observed: Observed) -> dict[str, Any]:
    """As it is kept: the beginning of long artefacts, and as many findings as can be read.

    What is left out is told: `is_cut` of an artefact, `findings_left_out`.
    """
    findings = observed["findings"]
    kept = {
        **observed,
        "findings": findings[:MAX_FINDINGS],
        "artefacts": [
            {**one, "text": one["text"][:MAX_ARTEFACT_CHARS], "is_cut": True}
            if len(one["text"]) > MAX_ARTEFACT_CHARS
            else one
            for one in observed["artefacts"]
        ],
    }
    if len(findings) > MAX_FINDINGS:
        kept["findings_left_out"] = len(findings) - MAX_FINDINGS
    return kept


def plain(value: Any) -> Any:
    """The same as JSON holds it: texts for enumerations, and null for what is no number."""
    if isinstance(value, str):
        return cleaned(str(value))
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, Mapping):
        return {cleaned(str(name)): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return cleaned(str(value))


def _concluded(conclusion: Conclusion) -> dict[str, Any]:
    return {
        "outcome": conclusion.outcome,
        "verdict": conclusion.verdict,
        "reason_code": conclusion.reason_code,
        "severity_class": conclusion.severity_class,
        "retry_strategy": conclusion.retry_strategy,
        "tier_achieved": conclusion.tier_achieved,
        "confidence": conclusion.confidence,
        "vote_share": conclusion.vote_share,
        "confidence_level": conclusion.confidence_level,
        "action": conclusion.action,
        "rerun_execution": conclusion.reruns_execution,
        "may_pass": conclusion.may_pass,
    }


def _tier(report: TierReport) -> dict[str, Any]:
    names = ("tier", "status", "recovery", "calls", "detail")
    return {name: getattr(report, name) for name in names}


def _artefact(made: Artefact) -> dict[str, Any]:
    text = made.content.decode(wide_encoding(made.content) or "utf-8", "replace")
    return {"kind": made.kind, "path": made.path, "text": text}


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "reason_code": finding.reason_code,
        "enforcement": finding.enforcement,
        "verdict": finding.verdict,
        "source": finding.source,
        "tier": finding.tier,
        "target": finding.target,
        "severity": finding.severity,
        "path": finding.path,
        "line": finding.line,
        "column": finding.column,
        "message": finding.message,
        "quote": finding.quote,
        "quote_verified": finding.quote_verified,
        "suggestion": finding.suggestion,
        "fingerprint": finding.fingerprint,
    }


def _rules(trace: Sequence[TraceEntry]) -> dict[str, Any]:
    applied = [
        {"rule": one.rule, "verdict": one.verdict, "reason": one.reason}
        for one in trace
        if one.applied
    ]
    skipped = [{"rule": one.rule, "reason": one.reason} for one in trace if not one.applied]
    return {"applied": applied, "skipped": skipped}


def _attempt(accounted: Accounted) -> dict[str, Any]:
    history = accounted.history
    return {
        "number": accounted.attempt,
        "counted": accounted.counted,
        "used": history.attempts_used,
        "left": history.attempts_left,
        "repeats": history.repeats,
        "submissions": history.submissions,
        "last_outcome": history.last_outcome,
        "terminal": accounted.terminal,
        "exhausted": history.exhausted,
        "last_candidate": history.last_candidate_sha256,
    }
