"""What one tier found out: saved as it ends, so that another worker can go on from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from verification.engine.finding import Finding, TraceEntry
from verification.engine.outcome import Status


@dataclass(frozen=True, slots=True)
class TierReport:
    """`cost_usd` is a decimal string: what this tier cost, never a running total.

    `confidence` (0 to 1) is None where the tier has none to offer.
    """

    tier: int
    status: Status
    findings: tuple[Finding, ...] = ()
    trace: tuple[TraceEntry, ...] = ()
    detail: str = ""
    duration_ms: int = 0
    model: str = ""
    calls: int = 0
    cached: int = 0
    recovery: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: str = "0"
    confidence: float | None = None

    def to_json(self) -> dict[str, Any]:
        saved = {name: getattr(self, name) for name in self.__slots__}
        saved["findings"] = [finding.to_json() for finding in self.findings]
        saved["trace"] = [entry.to_json() for entry in self.trace]
        return saved

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Self:
        return cls(
            **{
                **saved,
                "status": Status(saved["status"]),
                "findings": tuple(Finding.from_json(one) for one in saved["findings"]),
                "trace": tuple(TraceEntry.from_json(one) for one in saved["trace"]),
            }
        )
