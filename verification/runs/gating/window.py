"""A part of many, and the ways to what stands before and after it. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Window:
    """So many of what was told, from `first` on; `total` were counted, of which `told` are kept."""

    first: int
    most: int
    told: int
    total: int

    @property
    def start(self) -> int:
        return max(1, min(self.first, self.told))

    @property
    def last(self) -> int:
        return min(self.told, self.start + self.most - 1)

    @property
    def part(self) -> slice:
        return slice(self.start - 1, self.last)

    @property
    def before(self) -> int | None:
        return max(1, self.start - self.most) if self.start > 1 else None

    @property
    def after(self) -> int | None:
        return self.last + 1 if self.last < self.told else None

    @property
    def is_walked(self) -> bool:
        return self.told > self.most

    @property
    def untold(self) -> int:
        """Counted, and not kept one by one."""
        return max(0, self.total - self.told)
