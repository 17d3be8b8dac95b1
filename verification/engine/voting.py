"""Tier 3: independent votes, side by side; the majority of all of them counts."""

from __future__ import annotations

from collections.abc import Sequence

from verification.engine.case import Case, Ports
from verification.engine.judging import Conversation, Judge
from verification.engine.semantic import lost
from verification.engine.tiers import TierReport


def vote(case: Case, ports: Ports, judge: Judge, done: Sequence[TierReport]) -> TierReport:
    """Count the votes of tier 3. Never raises for a lost one."""
    talk = Conversation(judge)
    return lost(talk, "verifier_unavailable", "Votes are not counted yet.", tier=3)
