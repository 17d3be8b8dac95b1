"""Security findings that people accept for a time: recorded, and not counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from processes.definition.model import Enforcement
from verification.engine.finding import WAIVED, Finding, cleaned, with_fingerprints
from verification.engine.gating.stages import SECURITY
from verification.engine.outcome import FindingVerdict, Source
from verification.engine.reports.model import Problem, ProblemSeverity

WAIVABLE = "security_failed"


class Found(Protocol):
    """A finding, as the engine has it or as it was stored."""

    @property
    def rule(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def reason_code(self) -> str: ...
    @property
    def verdict(self) -> str: ...
    @property
    def path(self) -> str: ...


def is_waivable(found: Found) -> bool:
    """One certain problem in one file. What names no file could stand for any other."""
    is_security = found.rule == SECURITY and found.source == Source.GATE
    is_certain = found.reason_code == WAIVABLE and found.verdict == FindingVerdict.VIOLATED
    return is_security and is_certain and bool(found.path)


def accepted(findings: Iterable[Finding], waivers: Mapping[str, str]) -> Mapping[Finding, str]:
    """Who accepts which of these gates' findings until when, and why. Source: docs/gates.md, "Waivers"."""
    if not waivers:
        return {}
    found = tuple(dict.fromkeys(findings))
    return {
        finding: waivers[named.fingerprint]
        for finding, named in zip(found, with_fingerprints(found), strict=True)
        if named.fingerprint in waivers and is_waivable(named)
    }


def unnamed(problems: Sequence[Problem], total: int) -> int:
    """Beside waived ones, how many of the total are not told, and may be as bad: the worst come first."""
    if not any(one.waived for one in problems) or problems[-1].severity is not ProblemSeverity.HIGH:
        return 0
    return max(0, total - len(problems))


def waived(finding: Finding, words: str) -> Finding:
    """It keeps its fingerprint: the words are told apart from what was found."""
    said = cleaned(" ".join(words.split()))
    return replace(
        finding,
        message=f"{finding.message} {said}",
        enforcement=Enforcement.OBSERVE,
        place={**finding.place, WAIVED: said},
    )
