"""Which side is shown first: another one for everybody, the same one each time."""

from __future__ import annotations

from django.utils.crypto import salted_hmac

from verification.trials.models import Comparison, Judged

FIRST, SECOND = "first", "second"


def is_old_first(reviewer: str, comparison: Comparison) -> bool:
    """Nobody can work it out without the installation's secret."""
    return drawn(f"side {comparison.uuid}", reviewer) % 2 == 0


def drawn(what: str, reviewer: str) -> int:
    """A number of 63 bits that this reviewer draws for it, always the same."""
    digest = salted_hmac("verification.trials.judging", f"{what} {reviewer}", algorithm="sha256")
    return int.from_bytes(digest.digest()[:8], "big") >> 1


def said_of(answer: str, *, old_first: bool) -> str:
    """What was said of first and second, as said of old and new; '' for anything else."""
    if answer in (FIRST, SECOND):
        return (Judged.OLD if (answer == FIRST) is old_first else Judged.NEW).value
    return answer if answer in (Judged.BOTH, Judged.NEITHER) else ""
