"""What judged runs when, and the way back to what did before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from loomverify.accounts.models import AuditEntry, Project
from verification.verifiers.comparing import judges_by
from verification.verifiers.models import VerifierVersion

MAX_PERIODS = 50
VERB = "verifier.activated"


@dataclass(frozen=True, slots=True)
class Period:
    """A time in which a version judged runs that were submitted then. `until` None: it does now.

    `is_return`: it went back to what had judged before.
    """

    number: int
    since: datetime
    until: datetime | None
    actor: str
    reason: str
    is_return: bool


def periods(project: Project) -> list[Period]:
    """Newest first, the last `MAX_PERIODS` of them."""
    rows = AuditEntry.objects.filter(project=project, verb=VERB).order_by("-at", "-pk")
    entries = list(rows[: MAX_PERIODS + 1])
    found = [
        Period(
            number=_active(entry)[1] or 0,
            since=entry.at,
            until=entries[place - 1].at if place else None,
            actor=entry.actor,
            reason=entry.reason,
            is_return=_is_return(entry, entries[place + 1 :][:1]),
        )
        for place, entry in enumerate(entries[:MAX_PERIODS])
    ]
    return found if len(entries) > MAX_PERIODS else [*found, *_first(project, entries)]


def numbers_before(project: Project) -> list[int]:
    """The versions that judged runs until another was activated, the last of them first."""
    rows = AuditEntry.objects.filter(project=project, verb=VERB).order_by("-at", "-pk")
    numbers = [_active(entry)[0] for entry in rows[:MAX_PERIODS]]
    return list(dict.fromkeys(number for number in numbers if number is not None))


def before_active(project: Project, active: VerifierVersion | None) -> VerifierVersion | None:
    """What judged before, and would judge otherwise; None where there is no way back.

    A version of an older build is no way back by itself: what says the same is taken instead,
    where there is such a version of this build.
    """
    if active is None:
        return None
    numbers = numbers_before(project)
    versions = VerifierVersion.objects.filter(project=project, number__in=numbers)
    by_number = {version.number: version for version in versions}
    current = judges_by(active)
    for number in numbers:
        version = by_number.get(number)
        if version is not None and judges_by(version) != current:
            return _twin_of_this_build(version)
    return None


def _active(entry: AuditEntry) -> Sequence[int | None]:
    return entry.diff.get("active") or (None, None)


def _is_return(entry: AuditEntry, earlier: Sequence[AuditEntry]) -> bool:
    return any(_active(entry)[1] == _active(one)[0] for one in earlier)


def _first(project: Project, entries: Sequence[AuditEntry]) -> list[Period]:
    """The version that judged from the first start on: nobody activated it."""
    versions = VerifierVersion.objects.filter(project=project)
    number = _active(entries[-1])[0] if entries else None
    which: dict[str, Any] = {"number": number} if entries else {"is_active": True}
    first = versions.filter(**which).first()
    if first is None:
        return []
    until = entries[-1].at if entries else None
    return [Period(first.number, first.created_at, until, first.created_by, first.note, False)]


def _twin_of_this_build(version: VerifierVersion) -> VerifierVersion:
    rows = VerifierVersion.objects.filter(project=version.project_id)
    return rows.filter(spec_sha256=judges_by(version).sha256).first() or version
