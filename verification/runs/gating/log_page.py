"""What one gate wrote, as people read it: its lines with their colours, so many at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from verification.adapters.sandbox.capture import MAX_STREAM_BYTES
from verification.runs.gating.page import ShownGate
from verification.runs.gating.terminal import Line, lines_of
from verification.runs.models import GateResult

LINES_OF_PAGE = 2_000


@dataclass
class LogPage:
    """`asked` is the line that it begins with, as it stands in the address."""

    row: GateResult
    content: bytes
    asked: str = ""

    @property
    def gate(self) -> ShownGate:
        return ShownGate(self.row)

    @cached_property
    def all(self) -> Sequence[Line]:
        """Only what is as long as a stream may be was cut: what says so in others is the work's."""
        text = self.content.decode(errors="replace")
        return lines_of(text, is_cut=len(self.content) >= MAX_STREAM_BYTES)

    @cached_property
    def first(self) -> int:
        """From 1."""
        asked = int(self.asked) if self.asked.isdecimal() and len(self.asked) < 9 else 1
        return max(1, min(asked, len(self.all)))

    @property
    def lines(self) -> Sequence[tuple[int, Line]]:
        start = self.first - 1
        return list(enumerate(self.all[start : start + LINES_OF_PAGE], start=self.first))

    @property
    def last(self) -> int:
        return min(len(self.all), self.first + LINES_OF_PAGE - 1)

    @property
    def before(self) -> int | None:
        """Where the lines before these begin."""
        return max(1, self.first - LINES_OF_PAGE) if self.first > 1 else None

    @property
    def after(self) -> int | None:
        return self.last + 1 if self.last < len(self.all) else None

    @property
    def end(self) -> int:
        """Where the last lines begin."""
        return max(1, len(self.all) - LINES_OF_PAGE + 1)

    @cached_property
    def left_out(self) -> int:
        """How many bytes of the middle were not kept."""
        return sum(one.left_out for one in self.all)

    @cached_property
    def cut_at(self) -> int | None:
        return next((n for n, one in enumerate(self.all, start=1) if one.left_out), None)
