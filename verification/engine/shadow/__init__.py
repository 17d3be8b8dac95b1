"""Two verifiers over the same work: where they differ, and in which class that falls."""

from verification.engine.shadow.aligning import Aligned, aligned
from verification.engine.shadow.classes import DiffClass, Side, SideOutcome, diff_class
from verification.engine.shadow.comparing import Compared, Finer, Full, compare, scope_changes

__all__ = [
    "Aligned",
    "Compared",
    "DiffClass",
    "Finer",
    "Full",
    "Side",
    "SideOutcome",
    "aligned",
    "compare",
    "diff_class",
    "scope_changes",
]
