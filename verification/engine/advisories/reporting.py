"""What a lock file's comparison says of the work, as reports of the gate `security`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from verification.engine.advisories.comparing import Compared, Known, compared
from verification.engine.advisories.locked import kind_of, read_locked
from verification.engine.advisories.model import MAX_LOCK_BYTES, BeyondBounds, Ecosystem, Locked
from verification.engine.gates import GateReport
from verification.engine.gating.judging import MAX_TOLD, Judged
from verification.engine.gating.stages import SECURITY
from verification.engine.outcome import Status
from verification.engine.reports.model import (
    Problem,
    ProblemReport,
    Unreadable,
)

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


def reports_of(
    path: str, content: bytes | None, knowledge: Knowledge | None, look: Look
) -> tuple[Judged, ...]:
    """Compare one lock file; `content` None is one that is larger than what is read.

    Two where something is found, and more may be there than can be told.

    Source: docs/advisories.md, "What follows".
    """
    kind = kind_of(path)
    told = GateReport(SECURITY, Status.SKIPPED, path)
    if kind is None:
        return (Judged(replace(told, detail="It is no lock file.")),)
    if knowledge is None:
        why = f"No known vulnerabilities of {kind.ecosystem} are loaded: loomverify advisories load FILE"
        return (Judged(replace(told, detail=why)),)
    try:
        if content is None:
            raise BeyondBounds(f"It is larger than {MAX_LOCK_BYTES:,} bytes.")
        locked = read_locked(path, content)
        if not locked:
            return (Judged(replace(told, detail=NOTHING_LOCKED)),)
        found = compared(locked, look(kind.ecosystem, {one.name for one in locked}))
    except (BeyondBounds, Unreadable) as error:
        why = f"{path} was not compared with known vulnerabilities. {error}"
        return (Judged(replace(told, status=Status.ERROR, detail=why)),)
    return tuple(_judged(told, locked, found, knowledge))


def _judged(
    told: GateReport, locked: tuple[Locked, ...], found: Compared, knowledge: Knowledge
) -> Iterator[Judged]:
    """What is found counts, however old; that nothing is found counts while it is fresh."""
    doubt = _doubt(told.component, found, knowledge)
    doubted = told.component
    if found.problems or not doubt:
        many = f"{len(locked)} package{'' if len(locked) == 1 else 's'}"
        why = f"{many} beside the known vulnerabilities of {knowledge.taken_at:%Y-%m-%d}."
        status = Status.FAILED if found.has_high else Status.PASSED
        yield _with_problems(replace(told, status=status, detail=why), found.problems)
        doubted = f"{doubted} (in doubt)"  # one report of a gate has each name
    if doubt:
        yield Judged(replace(told, component=doubted, status=Status.ERROR, detail=doubt))


def _with_problems(told: GateReport, problems: tuple[Problem, ...]) -> Judged:
    total = len(problems)
    report = replace(told, problems=problems[:MAX_TOLD], problem_count=total)
    return Judged(report, problems=ProblemReport(total, problems))


def _doubt(path: str, found: Compared, knowledge: Knowledge) -> str:
    """Why more may be there; '' where nothing says so."""
    if found.doubts:
        return f"{'. '.join(found.doubts[:MAX_DOUBTS_TOLD])}."
    if knowledge.is_stale:
        old = f"Known vulnerabilities are {knowledge.age_days} days old"
        return f"{old}: newer ones may touch what {path} names."
    return ""
