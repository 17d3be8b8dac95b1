"""A violated or unknown rule with its place, and the trace of every rule."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Self

from processes.definition.model import Enforcement, Severity, Target
from verification.engine.outcome import FindingVerdict, Source

FINGERPRINT_VERSION = "1"
SWITCHED_OFF = "switched_off"
"""A place: the operator runs no such thing here, so that nothing was lost."""
WAIVED = "waived"
"""A place: who accepts it until when, and why. The message ends with the same words."""
LINE = "line_sha256"
"""A place: the first digits of what the line says, for problems that gates found."""
TEST = "test"
"""A place: the name of the failed test, with its suite."""
MAX_PATH_CHARS = 500
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_PLACES_IN_TEXT = re.compile(r"\b(line|column|col|char|row|position|offset)\s+\d+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem. `line` and `column` count from 1; an output has the path ''.

    `rule` is the name of a process's rule or the id of a check; `rule_sha256` is '' for a check.
    `fingerprint` is '' until a tier ends.
    """

    rule: str
    reason_code: str
    message: str
    enforcement: Enforcement
    verdict: FindingVerdict = FindingVerdict.VIOLATED
    source: Source = Source.DETERMINISTIC
    tier: int = 1
    rule_sha256: str = ""
    target: Target | None = None
    severity: Severity | None = None
    quote: str = ""
    quote_verified: bool | None = None
    path: str = ""
    line: int | None = None
    column: int | None = None
    place: Mapping[str, Any] = field(default_factory=dict, hash=False)
    confidence: float | None = None
    suggestion: str = ""
    fingerprint: str = ""

    def to_json(self) -> dict[str, Any]:
        saved = {name: getattr(self, name) for name in self.__slots__}
        return {**saved, "place": dict(self.place)}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Self:
        target, severity = saved["target"], saved["severity"]
        return cls(
            **{
                **saved,
                "enforcement": Enforcement(saved["enforcement"]),
                "verdict": FindingVerdict(saved["verdict"]),
                "source": Source(saved["source"]),
                "target": Target(target) if target else None,
                "severity": Severity(severity) if severity else None,
            }
        )


class TraceVerdict(StrEnum):
    SATISFIED = "satisfied"
    VIOLATED = "violated"
    UNKNOWN = "unknown"
    NOT_REACHED = "not_reached"


class TraceReason(StrEnum):
    """Why a rule was applied, or was not. Source: docs/engine.md, "Rules and phases"."""

    PHASE = "phase"
    EVERY_PHASE = "every_phase"
    UNSCOPED = "unscoped"
    GLOBAL_SCOPE = "global_scope"
    OBSERVED = "observed"
    OTHER_PHASE = "other_phase"
    NO_PHASE = "no_phase"
    TIER_NOT_REACHED = "tier_not_reached"
    UNSUPPORTED_PATTERN = "unsupported_pattern"


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """What became of one rule in one phase."""

    rule: str
    phase: str
    applied: bool
    verdict: TraceVerdict
    reason: TraceReason
    rule_sha256: str = ""

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Self:
        return cls(
            **{
                **saved,
                "verdict": TraceVerdict(saved["verdict"]),
                "reason": TraceReason(saved["reason"]),
            }
        )


def with_fingerprints(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Name each finding so that the same one is known again when lines have moved.

    The n-th of several identical ones under one rule has a name of its own.
    """
    seen: Counter[str] = Counter()
    named = []
    for finding in map(_storable, findings):
        identity = _identity(finding)
        seen[identity] += 1
        digest = hashlib.sha256(f"{identity}\n{seen[identity]}".encode())
        named.append(replace(finding, fingerprint=digest.hexdigest()))
    return tuple(named)


def _identity(finding: Finding) -> str:
    found = finding.message.removesuffix(str(finding.place.get(WAIVED, "")))
    anchor = finding.quote or _PLACES_IN_TEXT.sub(r"\1", found)
    parts = [
        FINGERPRINT_VERSION,
        finding.rule,
        finding.reason_code,
        finding.target or "",
        finding.path,
        " ".join(anchor.split()),
    ]
    if finding.source is Source.GATE and finding.severity:
        parts.append(finding.severity)  # who accepts a mild problem accepts no grave one
    if LINE in finding.place:
        parts.append(finding.place[LINE])  # nor the same on another line
    return json.dumps(parts)


def _storable(finding: Finding) -> Finding:
    """Without what no database or XML text can hold, and with a path of bounded length."""
    texts = {
        name: clean
        for name in ("message", "quote", "path", "suggestion")
        if (clean := cleaned(getattr(finding, name))) != getattr(finding, name)
    }
    if len(texts.get("path", finding.path)) > MAX_PATH_CHARS:
        texts["path"] = f"{texts.get('path', finding.path)[: MAX_PATH_CHARS - 1]}…"
    return replace(finding, **texts) if texts else finding  # type: ignore[arg-type]


def cleaned(text: str) -> str:
    """Replace what neither a database nor XML can hold."""
    if text.isprintable():
        return text
    return _UNSTORABLE.sub("\ufffd", text)
