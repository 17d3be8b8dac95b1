"""One defect: a module of the engine with another text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ENGINE = Path(__file__).resolve().parents[2] / "verification" / "engine"


@dataclass(frozen=True, slots=True)
class Mutant:
    """`told` says what was changed, and in which line."""

    area: str
    path: Path
    source: str
    told: str

    @property
    def module(self) -> str:
        parts = self.path.relative_to(ENGINE.parents[1]).with_suffix("").parts
        return ".".join(part for part in parts if part != "__init__")

    @property
    def name(self) -> str:
        return f"{self.path.relative_to(ENGINE)}:{self.told}"

    @property
    def key(self) -> str:
        """As `name`, but for the line: that moves."""
        return f"{self.path.relative_to(ENGINE)}: {self.told.partition(': ')[2]}"
