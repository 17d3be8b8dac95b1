"""What pages about replays have in common: marks, and what a replay was over."""

from __future__ import annotations

from dataclasses import dataclass

from verification.engine.golden.standing import Change, Standing
from verification.golden.models import Replay, ReplayState
from verification.golden.wording import CHANGES, NOT_REPLAYED
from verification.runs import wording
from verification.runs.models import RunState
from verification.runs.wording import Badge

SHORT = {Change.NEW: "new", Change.NOT_JUDGED: "not judged"}
COUNTED = {Standing.HELD: "held", Standing.FAILING: "failing", Standing.NOT_JUDGED: "not judged"}
"""After a number."""
STATES = {
    ReplayState.QUEUED: wording.STATES[RunState.QUEUED],
    ReplayState.RUNNING: wording.STATES[RunState.RUNNING],
    ReplayState.FINISHED: Badge("finished", "pass", wording.PASS.sign),
    ReplayState.CANCELLED: wording.STATES[RunState.CANCELLED],
    ReplayState.ERRORED: wording.STATES[RunState.ERRORED],
}


@dataclass(frozen=True, slots=True)
class Mark:
    """A badge for a narrow cell: `word` is short, `words` says all."""

    badge: Badge
    word: str

    @property
    def counted(self) -> str:
        """The short word after a number."""
        return "held" if self.badge is CHANGES[Change.HELD] else self.word

    @property
    def words(self) -> str:
        return self.badge.word


def mark(change: str) -> Mark:
    return MARKS.get(change, UNMARKED)


MARKS = {
    change.value: Mark(badge, SHORT.get(change, badge.word)) for change, badge in CHANGES.items()
}
UNMARKED = Mark(NOT_REPLAYED, "not yet")


def over_words(replay: Replay) -> str:
    """Of which processes; as they were published then, where no state is named."""
    if replay.process is None:
        version = replay.process_version
        return f"all processes, one by its v{version.number}" if version else "all processes"
    if replay.process_version:
        return f"{replay.process.slug} v{replay.process_version.number}"
    if replay.candidate_sha256:
        return f"{replay.process.slug}, an unpublished text"
    return f"{replay.process.slug} alone"


def count_rows(replay: Replay) -> list[tuple[str, Mark, int]]:
    """Each change with how many cases it has, most urgent first, those of none left out."""
    found = [(one.value, MARKS[one.value], int(replay.counts.get(one.value, 0))) for one in Change]
    return [row for row in found if row[2]]


def share_held(replay: Replay) -> float | None:
    """Of all cases, 0 to 1; None where there were none. What could not be judged did not hold."""
    if not replay.total:
        return None
    held = replay.counts.get(Change.HELD.value, 0) + replay.counts.get(Change.FIXED.value, 0)
    return min(1.0, float(held / replay.total))


def spaced(code: str) -> str:
    return code.replace("_", " ")
