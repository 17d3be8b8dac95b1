"""What a lock file's comparison says of the work, as a report of the gate `security`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime

from verification.engine.advisories.comparing import Compared, Known, compared
from verification.engine.advisories.locked import kind_of, read_locked
from verification.engine.advisories.model import MAX_LOCK_BYTES, BeyondBounds, Ecosystem, Locked
from verification.engine.gates import SECURITY, GateReport
from verification.engine.outcome import Status
from verification.engine.reports.model import Problem, ProblemSeverity, Unreadable

MAX_TOLD = 50
MAX_DOUBTS_TOLD = 3
NOTHING_LOCKED = "It pins no version of a package from a registry."

Look = Callable[[Ecosystem, Collection[str]], Known]
"""What is known of packages of an ecosystem."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """When what is known of one ecosystem was taken, and how old that may be."""

    taken_at: datetime
    now: datetime
    max_age_days: int

    @property
    def age_days(self) -> int:
        return max(0, (self.now - self.taken_at).days)

    @property
    def is_stale(self) -> bool:
        return self.age_days > self.max_age_days


def report_of(
    path: str, content: bytes | None, knowledge: Knowledge | None, look: Look
) -> GateReport:
    """Compare one lock file; `content` None is one that is larger than what is read.

    Source: docs/advisories.md, "What follows".
    """
    kind = kind_of(path)
    told = GateReport(SECURITY, Status.SKIPPED, path)
    if kind is None:
        return replace(told, detail="It is no lock file.")
    if knowledge is None:
        why = f"No known vulnerabilities of {kind.ecosystem} are loaded: loomverify advisories load"
        return replace(told, detail=why)
    try:
        if content is None:
            raise BeyondBounds(f"It is larger than {MAX_LOCK_BYTES:,} bytes.")
        locked = read_locked(path, content)
        if not locked:
            return replace(told, detail=NOTHING_LOCKED)
        found = compared(locked, look(kind.ecosystem, {one.name for one in locked}))
    except BeyondBounds as error:
        why = f"{path} was not compared with known vulnerabilities. {error}"
        return replace(told, status=Status.ERROR, detail=why)
    except Unreadable as error:
        said = f"This lock file cannot be read, and what it names was not compared. {error}"
        problem = Problem(said, path, severity=ProblemSeverity.MEDIUM)
        return replace(told, problems=(problem,), problem_count=1, detail=said)
    return _judged(told, locked, found, knowledge)


def _judged(
    told: GateReport, locked: tuple[Locked, ...], found: Compared, knowledge: Knowledge
) -> GateReport:
    """What is found counts, however old; that nothing is found counts while it is fresh."""
    told = replace(told, problems=found.problems[:MAX_TOLD], problem_count=len(found.problems))
    taken = f"the known vulnerabilities of {knowledge.taken_at:%Y-%m-%d}"
    if found.has_high:
        why = f"{told.component} names packages with known vulnerabilities."
        return replace(told, status=Status.FAILED, detail=why)
    if found.doubts:
        why = f"{'. '.join(found.doubts[:MAX_DOUBTS_TOLD])}."
        return replace(told, status=Status.ERROR, detail=why)
    if knowledge.is_stale:
        why = f"Known vulnerabilities are {knowledge.age_days} days old: {told.component} may be touched by newer ones."
        return replace(told, status=Status.ERROR, detail=why)
    many = f"{len(locked)} package{'' if len(locked) == 1 else 's'}"
    return replace(told, status=Status.PASSED, detail=f"{many} beside {taken}.")
