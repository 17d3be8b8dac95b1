"""What one gate wrote, as people read it: its lines with their colours, so many at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from django.utils.safestring import SafeString, mark_safe

from verification.adapters.sandbox.capture import MAX_STREAM_BYTES
from verification.runs.gating.page import ShownGate
from verification.runs.gating.terminal import CUT, Line, read, split
from verification.runs.gating.window import Window
from verification.runs.models import GateResult

LINES_OF_PAGE = 2_000


@dataclass
class LogPage:
    """`asked` is the line that it begins with, as far as there is one."""

    row: GateResult
    content: bytes
    asked: int = 1

    @property
    def gate(self) -> ShownGate:
        return ShownGate(self.row)

    @cached_property
    def all(self) -> Sequence[str]:
        return split(self.content.decode(errors="replace"))

    @property
    def is_cut(self) -> bool:
        """Only what is as long as a stream may be was cut: what says so in others is the work's."""
        return len(self.content) >= MAX_STREAM_BYTES

    @cached_property
    def shown(self) -> Window:
        """Which of its lines stand on this page."""
        return Window(self.asked, LINES_OF_PAGE, len(self.all), len(self.all))

    @property
    def html(self) -> SafeString:
        """Thousands of lines: each escapes itself."""
        lines = enumerate(read(self.all[self.shown.part], is_cut=self.is_cut), self.shown.start)
        return mark_safe("".join(_html(number, one) for number, one in lines))  # noqa: S308

    @property
    def end(self) -> int:
        """Where the last lines begin."""
        return max(1, len(self.all) - LINES_OF_PAGE + 1)

    @cached_property
    def cut(self) -> tuple[int, int] | None:
        """How many bytes of the middle were not kept, and the line before them."""
        for number, line in enumerate(self.all if self.is_cut else ()):
            if line.startswith("…") and (found := CUT.fullmatch(line)):
                return int(found[1]), number
        return None


def _html(number: int, line: Line) -> str:
    if line.left_out:
        return f'<span class="cut" id="L{number}">{line.left_out:,} bytes are left out here.</span>'
    return f'<span class="l" data-n="{number}" id="L{number}">{line.html}</span>'
