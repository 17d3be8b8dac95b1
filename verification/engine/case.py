"""What an evaluation is about, and what it may reach for in the world."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from processes.definition.model import Definition, Phase
from verification.engine.evidence import Probe, Submission, Workspace
from verification.engine.tiers import TierReport
from verification.engine.verifier import VerifierSpec


@dataclass(frozen=True, slots=True)
class Case:
    """`tier` is the highest tier asked for, 1 to 3."""

    definition: Definition
    phase: Phase
    submission: Submission
    verifier: VerifierSpec
    tier: int
    judge_available: bool = False

    @property
    def is_legacy(self) -> bool:
        return not self.verifier.flags.policy_engine_enabled


class Judge(Protocol):
    """An independent model's reading of a submission."""

    def assess(self, case: Case, tier: int, done: Sequence[TierReport]) -> TierReport:
        """Answer for tier 2 (one reading) or tier 3 (several). Never raises for lost answers."""


@dataclass(frozen=True, slots=True)
class Ports:
    """`clock` gives monotonic seconds."""

    workspace: Workspace
    probe: Probe
    clock: Callable[[], float]
    judge: Judge | None = None
