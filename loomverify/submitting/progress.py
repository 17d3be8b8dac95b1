from __future__ import annotations

import time
from typing import Any, TextIO

from loomverify.submitting.gates import running_words
from loomverify.submitting.report import plain

MAX_CHARS = 60
"""One line of a narrow terminal is rewritten, two are not."""


class ProgressLine:
    """One line on a terminal that is rewritten, and gone at the end; nothing elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_shown = stream.isatty()
        self._started = time.monotonic()

    def show(self, run: dict[str, Any]) -> None:
        elapsed = time.monotonic() - self._started
        self.say(f"{_stage(run)}, {elapsed:.0f} s")

    def say(self, text: str) -> None:
        if self._is_shown:
            self._stream.write(f"\r\x1b[K{text}")
            self._stream.flush()

    def clear(self) -> None:
        self.say("")


def _stage(run: dict[str, Any]) -> str:
    if run.get("state") == "finished":
        return "waiting for a person"
    if running := running_words(run.get("running") or ()):
        return f"{run.get('state')}: {plain(running)[:MAX_CHARS]}"
    tier = min(int(run.get("tier_achieved") or 0) + 1, int(run.get("tier_requested") or 1))
    return f"{run.get('state')}: tier {tier} of {run.get('tier_requested')}"
