"""The old engine as a preset: every failure of tier 1 is hard, and there are two outcomes."""

from __future__ import annotations

from dataclasses import replace

from processes.definition.model import Enforcement
from verification.engine.finding import Finding
from verification.engine.grammars import grammar_of
from verification.engine.outcome import FindingVerdict

NOTES = frozenset(
    {
        "odd_payload",
        "tool_result_error",
        "unsupported_pattern",
        "file_type_mismatch",
        "claim_label_invalid",
        "recommendation_unconfirmed",
        "unconfirmed_critical_path",
        "unconfirmed_above_threshold",
    }
)
"""The old engine did not know of these: they are told, and count for nothing."""


def hardened(finding: Finding) -> Finding:
    """How the old engine counts a finding of tier 1."""
    if finding.reason_code in NOTES:
        return replace(finding, enforcement=Enforcement.OBSERVE)
    if finding.enforcement is not Enforcement.ADVISORY:
        return finding
    counts = finding.place.get("certain", True) and not _could_only_warn(finding)
    return replace(finding, enforcement=Enforcement.HARD if counts else Enforcement.OBSERVE)


def _could_only_warn(finding: Finding) -> bool:
    """Whether what was lost could not have been held against the work, had it been seen."""
    if finding.verdict is not FindingVerdict.UNKNOWN:
        return False
    grammar = grammar_of(finding.path)
    return grammar is None or not grammar.is_certain
