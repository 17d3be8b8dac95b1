"""What a replayed case came to, as a side of a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from processes.definition.model import Enforcement, Severity, Target
from verification.engine.finding import Finding, TraceEntry, TraceReason, TraceVerdict
from verification.engine.golden.observing import Observed
from verification.engine.outcome import FindingVerdict, Outcome, Source, Verdict
from verification.engine.shadow.comparing import Full


def full_of_observed(observed: Observed, *, phase: str = "") -> Full:
    """Read back what `observed_of` wrote, whole or bounded."""
    return Full(
        outcome=Outcome(observed["outcome"]),
        verdict=Verdict(observed["verdict"]),
        reason_code=observed["reason_code"] or "",
        severity_class=observed["severity_class"] or "",
        findings=tuple(map(_finding, observed["findings"])),
        trace=tuple(_trace(observed["rules"], phase)),
    )


def _finding(saved: Mapping[str, Any]) -> Finding:
    target, severity = saved["target"], saved["severity"]
    return Finding(
        **{
            **saved,
            "enforcement": Enforcement(saved["enforcement"]),
            "verdict": FindingVerdict(saved["verdict"]),
            "source": Source(saved["source"]),
            "target": Target(target) if target else None,
            "severity": Severity(severity) if severity else None,
        }
    )


def _trace(rules: Mapping[str, Any], phase: str) -> Iterator[TraceEntry]:
    for one in rules["applied"]:
        verdict, reason = TraceVerdict(one["verdict"]), TraceReason(one["reason"])
        yield TraceEntry(one["rule"], phase, applied=True, verdict=verdict, reason=reason)
    for one in rules["skipped"]:
        reason = TraceReason(one["reason"])
        yield TraceEntry(
            one["rule"], phase, applied=False, verdict=TraceVerdict.NOT_REACHED, reason=reason
        )
