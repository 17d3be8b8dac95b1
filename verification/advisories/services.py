"""Taking a snapshot of known vulnerabilities in: the old one stays until the new one is whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from django.db import connection, transaction

from loomverify.errors import Conflict, InputError
from verification.advisories.models import MAX_SOURCE_CHARS, Advisory, Snapshot
from verification.advisories.sources import contents_of
from verification.engine.advisories.model import Ecosystem
from verification.engine.advisories.osv import Entry, read_entry
from verification.engine.finding import cleaned
from verification.engine.reports.model import Unreadable

LOCK_KEY = (0x4C56, 0x4144)
BATCH_ROWS = 1_000
BATCH_BYTES = 8_000_000
READABLE_OF = 100
"""More than one unreadable in so many, and the whole is not trusted."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """`first_unreadable` says which one and why, '' where all were read."""

    snapshots: tuple[Snapshot, ...]
    unreadable: int = 0
    first_unreadable: str = ""


@dataclass(slots=True)
class _Draft:
    """What is read so far; nobody sees it before it is published."""

    now: datetime
    source: str
    snapshots: dict[Ecosystem, Snapshot] = field(default_factory=dict)
    counts: dict[Ecosystem, int] = field(default_factory=dict)
    waiting: list[Advisory] = field(default_factory=list)
    waiting_bytes: int = 0
    common: set[Ecosystem] = field(default_factory=lambda: set(Ecosystem))
    newest: datetime | None = None
    total: int = 0
    unreadable: int = 0
    first_unreadable: str = ""


def load(
    *,
    path: Path,
    now: datetime,
    ecosystems: Sequence[Ecosystem] = (),
    taken_at: datetime | None = None,
    may_shrink: bool = False,
) -> Loaded:
    """Replace the snapshots of these ecosystems; of none named, of the one that all advisories name.

    Raises:
        InputError: `advisories.…`: nothing has changed.
    """
    if taken_at and taken_at > now:
        raise InputError("advisories.future", "It cannot have been taken in the future.")
    with _alone():
        Snapshot.objects.filter(is_current=False).delete()  # of a load that was killed
        draft = _Draft(now, cleaned(path.name)[:MAX_SOURCE_CHARS])
        try:
            _read(path, draft)
            wanted = _wanted(draft, ecosystems)
            _need_trust(draft, wanted, may_shrink=may_shrink)
            published = _publish(draft, wanted, taken_at or draft.newest or now)
        finally:
            Snapshot.objects.filter(is_current=False).delete()
    return Loaded(published, draft.unreadable, draft.first_unreadable)


@contextmanager
def _alone() -> Iterator[None]:
    """PostgreSQL takes the lock back from whoever dies."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_try_advisory_lock(%s, %s)", LOCK_KEY)
        if not cursor.fetchone()[0]:
            raise Conflict("advisories.loading", "Advisories are being loaded already.")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("select pg_advisory_unlock(%s, %s)", LOCK_KEY)


def _read(path: Path, draft: _Draft) -> None:
    for name, content in contents_of(path):
        draft.total += 1
        try:
            if content is None:
                raise Unreadable("It is damaged, or too large.")
            entry = read_entry(content)
        except Unreadable as error:
            draft.unreadable += 1
            draft.first_unreadable = draft.first_unreadable or f"{cleaned(name)[:200]}: {error}"
            continue
        _add(draft, entry, len(content))
    _flush(draft)


def _add(draft: _Draft, entry: Entry, size: int) -> None:
    modified = min(entry.modified, draft.now)
    draft.newest = max(draft.newest or modified, modified)
    ecosystems = {one.ecosystem for one in entry.affected}
    if ecosystems:
        draft.common &= ecosystems
    for ecosystem in ecosystems:
        draft.counts[ecosystem] = draft.counts.get(ecosystem, 0) + 1
        if ecosystem not in draft.snapshots:
            draft.snapshots[ecosystem] = Snapshot.objects.create(
                ecosystem=ecosystem, taken_at=modified, loaded_at=draft.now, source=draft.source
            )
    draft.waiting += [
        Advisory(
            snapshot=draft.snapshots[one.ecosystem],
            ecosystem=one.ecosystem,
            name=one.name,
            osv_id=one.id,
            aliases=one.aliases,
            summary=one.summary,
            score=one.score,
            ranges=one.ranges,
            versions=one.versions,
        )
        for one in entry.affected
    ]
    draft.waiting_bytes += size
    if len(draft.waiting) >= BATCH_ROWS or draft.waiting_bytes >= BATCH_BYTES:
        _flush(draft)


def _flush(draft: _Draft) -> None:
    Advisory.objects.bulk_create(draft.waiting, batch_size=BATCH_ROWS)
    draft.waiting, draft.waiting_bytes = [], 0


def _wanted(draft: _Draft, ecosystems: Sequence[Ecosystem]) -> list[Ecosystem]:
    """Advisories of one ecosystem name others by the way: these are no snapshot of the others."""
    if not draft.counts:
        raise InputError("advisories.none", "It holds no advisory that can be compared.")
    wanted = list(ecosystems or draft.common)
    found = ", ".join(sorted(draft.counts))
    if missing := [one for one in wanted if one not in draft.counts]:
        raise InputError(
            "advisories.none", f"It holds no advisory of {', '.join(missing)}, but of {found}."
        )
    if not ecosystems and len(wanted) != 1:
        raise InputError(
            "advisories.ecosystem",
            f"It holds advisories of {found}: say of which it is a whole snapshot, "
            "with --ecosystem.",
        )
    return wanted


def _need_trust(draft: _Draft, wanted: Sequence[Ecosystem], *, may_shrink: bool) -> None:
    if draft.unreadable * READABLE_OF > draft.total:
        raise InputError(
            "advisories.damaged",
            f"{draft.unreadable} of {draft.total} advisories cannot be read. "
            f"{draft.first_unreadable}",
        )
    for old in Snapshot.objects.filter(is_current=True, ecosystem__in=wanted):
        new = draft.counts[Ecosystem(old.ecosystem)]
        if new * 2 < old.advisories and not may_shrink:
            raise InputError(
                "advisories.fewer",
                f"It holds {new} advisories of {old.ecosystem}, and {old.advisories} are known: "
                "is it whole? If it is, say --fewer.",
            )


def _publish(
    draft: _Draft, wanted: Sequence[Ecosystem], taken_at: datetime
) -> tuple[Snapshot, ...]:
    published = [draft.snapshots[one] for one in sorted(wanted)]
    with transaction.atomic():
        Snapshot.objects.filter(is_current=True, ecosystem__in=wanted).delete()
        for one in published:
            one.taken_at, one.is_current = taken_at, True
            one.advisories = draft.counts[Ecosystem(one.ecosystem)]
            one.unreadable = draft.unreadable
            one.save()
    return tuple(published)
