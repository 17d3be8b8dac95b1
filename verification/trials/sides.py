"""All that a side of a comparison made of a run, read back from its rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import Any

from processes.definition.model import Enforcement, Severity, Target
from verification.engine.finding import Finding, TraceEntry
from verification.engine.outcome import FindingVerdict, Outcome, Source, Verdict
from verification.engine.shadow import Full
from verification.runs.models import Evaluation
from verification.runs.models import Finding as FindingRow

_FINDING = (
    "rule", "reason_code", "message", "enforcement", "verdict", "source", "tier", "target",
    "severity", "quote", "quote_verified", "path", "line", "column", "place", "confidence",
    "suggestion", "fingerprint",
)  # fmt: skip


def full_of(evaluation_ids: Collection[int]) -> dict[int, Full]:
    """By evaluation, those that have ended; in two queries."""
    ids = list(set(evaluation_ids))
    findings: defaultdict[int, list[Finding]] = defaultdict(list)
    rows = FindingRow.objects.filter(evaluation__in=ids).order_by("evaluation_id", "position")
    for evaluation, *told in rows.values_list("evaluation_id", *_FINDING):
        findings[evaluation].append(_finding(dict(zip(_FINDING, told, strict=True))))
    ended = Evaluation.objects.filter(pk__in=ids, finished_at__isnull=False).values_list(
        "pk", "outcome", "verdict", "reason_code", "severity_class", "rule_trace"
    )
    return {
        pk: Full(
            outcome=Outcome(outcome),
            verdict=Verdict(verdict),
            reason_code=reason_code,
            severity_class=severity_class,
            findings=tuple(findings[pk]),
            trace=tuple(TraceEntry.from_json(one) for one in trace),
        )
        for pk, outcome, verdict, reason_code, severity_class, trace in ended
    }


def _finding(told: dict[str, Any]) -> Finding:
    return Finding(
        **{
            **told,
            "enforcement": Enforcement(told["enforcement"]),
            "verdict": FindingVerdict(told["verdict"]),
            "source": Source(told["source"]),
            "target": Target(told["target"]) if told["target"] else None,
            "severity": Severity(told["severity"]) if told["severity"] else None,
        }
    )
