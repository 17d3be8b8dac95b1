"""What a judge gives for each part of the work, where a phase asks for a score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Self

SEMANTIC_PARTS: Mapping[str, int] = {
    "correctness": 3,
    "completeness": 2,
    "testing": 2,
    "quality": 2,
    "practice": 1,
}
"""The most that can be given for each: 10 in all."""
DECISIVE_PARTS = ("correctness", "completeness")
"""Parts without which work cannot pass."""


@dataclass(frozen=True, slots=True)
class Rating:
    """Points by part, each from 0 to its most. None: not given, or nothing that can be read."""

    correctness: float | None = None
    completeness: float | None = None
    testing: float | None = None
    quality: float | None = None
    practice: float | None = None

    @property
    def points(self) -> Mapping[str, float | None]:
        return {name: getattr(self, name) for name in SEMANTIC_PARTS}

    @property
    def total(self) -> float | None:
        """0 to 10. None where any part is wanting: it is not known what it would have been."""
        given = [one for one in self.points.values() if one is not None]
        return sum(given) if len(given) == len(SEMANTIC_PARTS) else None

    def contradiction_of(self, passed: bool) -> str:
        """Why these points cannot stand beside the verdict, '' if they can."""
        for name in DECISIVE_PARTS:
            if passed and self.points[name] == 0:
                return f"The work passed, and its {name} got 0 of {SEMANTIC_PARTS[name]} points."
        if not passed and self.total == sum(SEMANTIC_PARTS.values()):
            return "The work was rejected, and it got all points."
        return ""

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(name for name, points in self.points.items() if points is None)

    def to_json(self) -> dict[str, float | None]:
        return asdict(self)

    @classmethod
    def from_json(cls, saved: Mapping[str, float | None]) -> Self:
        return cls(**saved)
