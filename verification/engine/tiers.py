"""What one tier found out: saved as it ends, so that another worker can go on from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from verification.engine.case import Case
from verification.engine.claims.settlement import Artefact, CountedClaim
from verification.engine.finding import Finding, TraceEntry
from verification.engine.gates import GateReport
from verification.engine.judges.asking import Ballot
from verification.engine.outcome import Status
from verification.engine.rating import Rating


@dataclass(frozen=True, slots=True)
class TierReport:
    """`cost_usd` is a decimal string: what this tier cost, never a running total.

    `confidence` (0 to 1) is None where the tier has none to offer. `claims` None: this tier
    did not settle them. `result` is what a custom verifier returned; `is_final`: it said that
    no further attempt can help. `ratings` are those of judges that gave any part of a score.
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
    ballots: tuple[Ballot, ...] = ()
    claims: tuple[CountedClaim, ...] | None = None
    artefacts: tuple[Artefact, ...] = ()
    result: Any = field(default=None, hash=False)
    is_final: bool = False
    ratings: tuple[Rating, ...] = ()
    gates: tuple[GateReport, ...] = ()

    def to_json(self) -> dict[str, Any]:
        saved = {name: getattr(self, name) for name in self.__slots__}
        for name in ("findings", "trace", "artefacts", "ratings", "gates"):
            saved[name] = [one.to_json() for one in saved[name]]
        saved["ballots"] = [asdict(one) for one in self.ballots]
        if self.claims is not None:
            saved["claims"] = [one.to_json() for one in self.claims]
        return saved

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Self:
        read = {**saved, "status": Status(saved["status"])}
        read["findings"] = tuple(Finding.from_json(one) for one in saved["findings"])
        read["trace"] = tuple(TraceEntry.from_json(one) for one in saved["trace"])
        read["ballots"] = tuple(Ballot(**one) for one in saved.get("ballots", ()))
        read["artefacts"] = tuple(Artefact.from_json(one) for one in saved.get("artefacts", ()))
        read["gates"] = tuple(GateReport.from_json(one) for one in saved.get("gates", ()))
        read["ratings"] = tuple(Rating.from_json(one) for one in saved.get("ratings", ()))
        read.pop(
            "score", None
        )  # a number of no parts, as tiers were saved before there were ratings
        if saved.get("claims") is not None:
            read["claims"] = tuple(CountedClaim.from_json(one) for one in saved["claims"])
        return cls(**read)


def ratings_of(case: Case, given: Iterable[Rating | None]) -> tuple[Rating, ...]:
    """Where no score was asked for, none is taken from whatever a judge wrote there."""
    return tuple(one for one in given if one) if case.phase.score else ()
