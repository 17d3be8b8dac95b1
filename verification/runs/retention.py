"""What is kept no longer: runs past their date, content that no run names, spent notices."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from loomverify.accounts.models import Project
from verification.runs import evidence_store
from verification.runs.models import (
    OPEN_STATES,
    Artefact,
    Blob,
    GateResult,
    Heartbeat,
    ModelCall,
    OutboxEvent,
    Run,
    RunFile,
)

BATCH = 200
ORPHAN_AGE = timedelta(days=1)
"""Content this young may belong to a submission that is being taken in."""
SPENT_AGE = timedelta(days=7)


def purge_expired(now: datetime | None = None) -> int:
    """Delete runs past their retention date, with all that hangs on them; return how many."""
    now = now or timezone.now()
    purged = 0
    while True:
        with transaction.atomic():
            due = list(
                Run.objects.select_for_update(skip_locked=True)
                .filter(retain_until__lt=now)
                .exclude(state__in=OPEN_STATES)
                .order_by("retain_until")
                .values_list("pk", flat=True)[:BATCH]
            )
            Run.objects.filter(pk__in=due).delete()
        purged += len(due)
        if len(due) < BATCH:
            return purged


def sweep_content(now: datetime | None = None) -> int:
    """Delete stored content that nothing names any more; return how many files went."""
    now = now or timezone.now()
    swept = 0
    for project in Project.objects.all():
        _forget_unnamed_blobs(project, now)
        known = Blob.objects.filter(project=project)
        for name in _old_content(project, now):
            if not known.filter(sha256=name.rpartition("/")[2]).exists():
                evidence_store.delete_content(project, name)
                swept += 1
    return swept


def forget_spent(now: datetime | None = None) -> None:
    """Delete notices that were handed on, and processes not seen for long."""
    past = (now or timezone.now()) - SPENT_AGE
    OutboxEvent.objects.filter(dispatched_at__lt=past).delete()
    Heartbeat.objects.filter(at__lt=past).delete()


def _forget_unnamed_blobs(project: Project, now: datetime) -> None:
    blob = OuterRef("pk")
    Blob.objects.filter(
        ~Exists(RunFile.objects.filter(blob=blob)),
        ~Exists(GateResult.objects.filter(log=blob)),
        ~Exists(ModelCall.objects.filter(request=blob)),
        ~Exists(ModelCall.objects.filter(reply=blob)),
        ~Exists(Artefact.objects.filter(blob=blob)),
        project=project,
        created_at__lt=now - ORPHAN_AGE,
    ).delete()


def _old_content(project: Project, now: datetime) -> Iterator[str]:
    for name, stored_at in evidence_store.stored_contents(project):
        if stored_at < now - ORPHAN_AGE:
            yield name
