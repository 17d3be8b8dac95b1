"""Findings as checks write them: the usual enforcement unless the check knows better."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from processes.definition.model import Enforcement, Severity, Target
from verification.engine.finding import Finding
from verification.engine.outcome import FindingVerdict
from verification.engine.policy import CHECK_ENFORCEMENT


def violated(
    check_id: str,
    reason_code: str,
    message: str,
    *,
    enforcement: Enforcement | None = None,
    target: Target | None = None,
    path: str = "",
    line: int | None = None,
    column: int | None = None,
    place: Mapping[str, Any] | None = None,
    suggestion: str = "",
) -> Finding:
    counted = enforcement or CHECK_ENFORCEMENT[reason_code]
    return Finding(
        rule=check_id,
        reason_code=reason_code,
        message=message,
        enforcement=counted,
        target=target,
        severity=Severity.ERROR if counted is Enforcement.HARD else Severity.WARNING,
        path=path,
        line=line,
        column=column,
        place=place or {},
        suggestion=suggestion,
    )


def not_inspected(
    check_id: str,
    message: str,
    *,
    enforcement: Enforcement,
    target: Target | None = None,
    path: str = "",
    rule_sha256: str = "",
) -> Finding:
    """Nothing is known about the material: neither for nor against the work."""
    return Finding(
        rule=check_id,
        rule_sha256=rule_sha256,
        reason_code="infra_verifier_error",
        message=message,
        enforcement=enforcement,
        verdict=FindingVerdict.UNKNOWN,
        target=target,
        path=path,
    )
