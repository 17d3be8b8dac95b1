"""Golden cases' inputs in short words, and what their replays come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from processes.definition.model import Definition
from tests.engine.cases import Files, case
from verification.engine.fakes import FixedClock, InProcessProbe, MemoryWorkspace
from verification.engine.gates import GateReport
from verification.engine.golden.given import Given, History, Recording, Seats
from verification.engine.golden.replay import Replayed, World, replay
from verification.engine.judges.asking import Ask
from verification.engine.verifier import VerifierSpec


@dataclass(frozen=True, slots=True)
class Golden:
    given: Given
    definition: Definition
    world: World

    def replayed(self, verifier: VerifierSpec = VerifierSpec()) -> Replayed:  # noqa: B008 - frozen
        return replay(self.given, self.definition, verifier, self.world)

    def but(self, **changed: Any) -> Golden:
        return replace(self, given=replace(self.given, **changed))


def golden(
    *replies: Recording,
    files: Files | None = None,
    tier: int = 1,
    seats: Seats = Seats(),  # noqa: B008 - frozen
    reported: Sequence[GateReport] | None = None,
    history: History = History(),  # noqa: B008 - frozen
    **about: Any,
) -> Golden:
    """A case in the words of `tests.engine.cases.case`, with the replies that were recorded."""
    asked = case(files=files, tier=tier, **about)
    given = Given(
        phase=asked.phase.id,
        submission=asked.submission,
        tier=tier,
        recordings=replies,
        seats=seats,
        gates=reported,
        history=history,
    )
    world = World(MemoryWorkspace(files), InProcessProbe(), clock=FixedClock())
    return Golden(given, asked.definition, world)


def answered(text: str, ask: Ask = Ask.ASSESS, number: int = 1, **about: Any) -> Recording:
    return Recording(about.pop("tier", 2), ask, number, text, **about)


def lost(code: str, ask: Ask = Ask.ASSESS, number: int = 1, tier: int = 2) -> Recording:
    return Recording(tier, ask, number, lost=code)


def votes(*texts: str) -> list[Recording]:
    """One reply to each vote of tier 3."""
    return [answered(text, Ask.VOTE, number, tier=3) for number, text in enumerate(texts, start=1)]
