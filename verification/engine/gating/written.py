"""What a command wrote, as people read it."""

from __future__ import annotations

from verification.engine.finding import cleaned
from verification.engine.gating.stages import Ended
from verification.engine.reports.contents import uncoloured

TAIL_LINES = 12
MAX_TAIL_CHARS = 1_200


def last_words(ended: Ended) -> str:
    """What was written last, for whoever mends it."""
    written = readable(ended.err).strip() or readable(ended.out).strip()
    tail = "\n".join(written.splitlines()[-TAIL_LINES:])[-MAX_TAIL_CHARS:]
    return f"\n{tail}" if tail else ""


def readable(content: bytes) -> str:
    """Without a terminal's colours, as a database can hold it."""
    return cleaned(uncoloured(content.decode(errors="replace")))
