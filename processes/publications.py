"""What judged runs when, who said so and why; read from the audit log, which nobody edits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from loomverify.accounts.models import AuditEntry
from loomverify.paging import paged
from processes.models import Process

VERB = "process.published"
NEWEST = 5
"""So many stand on the process's page."""


@dataclass(frozen=True, slots=True)
class Published:
    """Version `number` took the place of `before`; None: nothing was published until then."""

    at: datetime
    by: str
    number: int
    before: int | None
    reason: str

    @property
    def is_back(self) -> bool:
        return self.before is not None and self.before > self.number


def page(
    process: Process, *, cursor: str = "", limit: int = NEWEST
) -> tuple[list[Published], str | None]:
    """Newest first, and the cursor of what follows.

    Raises:
        InputError: the cursor is none.
    """
    found, following = paged(_entries(process), by="-at", cursor=cursor, limit=limit)
    return [_published(entry) for entry in found], following


def numbers(process: Process) -> Iterator[tuple[datetime, int]]:
    """When which version was published, newest first."""
    rows = _entries(process).order_by("-at").values_list("at", "diff")
    for at, diff in rows.iterator(chunk_size=100):
        yield at, diff["published"][1]


def _entries(process: Process) -> QuerySet[AuditEntry]:
    return AuditEntry.objects.filter(
        project=process.project_id, object_id=str(process.uuid), verb=VERB
    )


def _published(entry: AuditEntry) -> Published:
    before, number = entry.diff["published"]
    return Published(entry.at, entry.actor, number, before, entry.reason)
