"""A run that is not decided yet and verifies itself again: how often it did, and until when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from verification.engine.outcome import COUNTING, Verdict
from verification.runs import reverifying, wording
from verification.runs.models import Evaluation, Run, RunState


@dataclass(frozen=True, slots=True)
class Undecided:
    """`tries` are evaluations that ended in doubt; `next_at` None: one is under way."""

    reason_code: str
    tries: int
    next_at: datetime | None
    until: datetime

    def headline(self, now: datetime) -> wording.Headline:
        tries = "once" if self.tries == 1 else f"{self.tries} times"
        if self.next_at is None:
            following = "trying again now"
        else:
            following = f"next try {_in(int((self.next_at - now).total_seconds()))}"
        until = f"{self.until.astimezone(UTC):%H:%M} UTC"
        return wording.Headline(
            wording.IN_DOUBT,
            f"Not decided yet: {wording.reason(self.reason_code)}.",
            f"Tried {tries}; {following}, until {until}. {wording.NOT_BLAMED}",
        )


def undecided(run: Run) -> Undecided | None:
    """Where a run stands that still tries by itself. None: it is decided, over, or not begun."""
    if not run.is_in_doubt or run.undecided_since is None:
        return None
    doubtful = Evaluation.objects.filter(
        run=run, purpose__in=COUNTING, verdict=Verdict.UNDECIDED, finished_at__isnull=False
    )
    codes = list(
        doubtful.filter(finished_at__gte=run.undecided_since)
        .order_by("finished_at", "id")
        .values_list("reason_code", flat=True)
    )
    return Undecided(
        reason_code=codes[-1] if codes else "",
        tries=max(len(codes), 1),
        next_at=run.next_at if run.state == RunState.QUEUED else None,
        until=reverifying.deadline(run.undecided_since),
    )


def _in(seconds: int) -> str:
    if seconds < 5:
        return "at once"
    if seconds < 90:
        return f"in about {-(-seconds // 5) * 5} s"
    return f"in about {round(seconds / 60)} min"
