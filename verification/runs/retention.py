"""What is kept no longer: runs past their date, content that no run names, spent notices."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.utils import timezone

from loomverify.accounts.models import Project
from verification.runs import evidence_store
from verification.runs.models import (
    OPEN_STATES,
    Artefact,
    BaseFile,
    BaseGateResult,
    Blob,
    GateResult,
    Heartbeat,
    ModelCall,
    OutboxEvent,
    Review,
    Run,
    RunFile,
)

BATCH = 200
ORPHAN_AGE = timedelta(days=1)
"""Content this young may belong to a submission that is being taken in."""
SPENT_AGE = timedelta(days=7)

NAMED_ELSEWHERE: list[type[Model]] = []
"""Models of rooms above whose `blob` names content: registered in their `AppConfig.ready()`."""


def purge_expired(now: datetime | None = None) -> int:
    """Delete runs past their retention date, with all that hangs on them; return how many."""
    now = now or timezone.now()
    purged = after = 0
    while True:
        due = _due(now).filter(pk__gt=after).order_by("pk").values_list("pk", flat=True)
        asked = list(due[:BATCH])
        purged += _purge(asked, now)
        if len(asked) < BATCH:
            return purged
        after = asked[-1]


def _due(now: datetime) -> QuerySet[Run]:
    return Run.objects.filter(retain_until__lt=now).exclude(state__in=OPEN_STATES)


def _purge(asked: list[int], now: datetime) -> int:
    """Delete those that nobody is at work on; the others have their turn another day.

    The review is locked before its run, as everywhere: a decision would wait for us, and we for it.
    """
    with transaction.atomic():
        reviews = Review.objects.filter(run__in=asked).order_by("pk")
        mine = list(reviews.select_for_update(skip_locked=True).values_list("pk", flat=True))
        free = _due(now).filter(Q(review__isnull=True) | Q(review__in=mine), pk__in=asked)
        locked = free.select_for_update(of=("self",), skip_locked=True)
        gone = list(locked.values_list("pk", flat=True))
        Run.objects.filter(pk__in=gone).delete()
    return len(gone)


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
        ~Exists(BaseFile.objects.filter(blob=blob)),
        *(
            ~Exists(rows._default_manager.filter(**{name: blob}))
            for rows in (GateResult, BaseGateResult)
            for name in ("log", "record")
        ),
        ~Exists(ModelCall.objects.filter(request=blob)),
        ~Exists(ModelCall.objects.filter(reply=blob)),
        ~Exists(Artefact.objects.filter(blob=blob)),
        *(~Exists(names._default_manager.filter(blob=blob)) for names in NAMED_ELSEWHERE),
        project=project,
        created_at__lt=now - ORPHAN_AGE,
    ).delete()


def _old_content(project: Project, now: datetime) -> Iterator[str]:
    for name, stored_at in evidence_store.stored_contents(project):
        if stored_at < now - ORPHAN_AGE:
            yield name
