"""Whether the new verifier may take the old one's place: the criteria, and what they lack.

Source: docs/engine.md, "Cutover".
"""

from verification.engine.cutover.evidence import (
    Corpus,
    Criterion,
    CriterionState,
    Evidence,
    Flips,
    Gate,
    GateState,
    Pairs,
    People,
    Shown,
)
from verification.engine.cutover.gate import gate

__all__ = [
    "Corpus",
    "Criterion",
    "CriterionState",
    "Evidence",
    "Flips",
    "Gate",
    "GateState",
    "Pairs",
    "People",
    "Shown",
    "gate",
]
