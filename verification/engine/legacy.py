"""The old engine as a preset: every failure of tier 1 is hard, and there are two outcomes."""

from __future__ import annotations

from dataclasses import replace

from processes.definition.model import Enforcement
from verification.engine.finding import Finding
from verification.engine.outcome import FindingVerdict

NOTES = frozenset(
    {"odd_payload", "unsupported_pattern", "claim_label_invalid", "file_type_mismatch"}
)
"""The old engine did not know of these: they are told, and count for nothing."""


def hardened(finding: Finding) -> Finding:
    """How the old engine counts a finding of tier 1."""
    if finding.enforcement is not Enforcement.ADVISORY:
        return finding
    is_failure = finding.verdict is FindingVerdict.VIOLATED and finding.reason_code not in NOTES
    counts = is_failure and finding.place.get("certain", True)
    return replace(finding, enforcement=Enforcement.HARD if counts else Enforcement.OBSERVE)
