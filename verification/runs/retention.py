"""What is kept no longer: runs past their date, content that no run names, spent notices."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
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

TIDIED_ELSEWHERE: list[Callable[[], object]] = []
"""What rooms above keep of runs outside of the database, called once a day."""


def purge_expired(now: datetime | None = None) -> int:
    """Delete runs past their retention date, with all that hangs on them; return how many."""
    return purge(Run.objects.filter(retain_until__lt=now or timezone.now()))


def purge(runs: QuerySet[Run], *, until: float = math.inf) -> int:
    """Delete those that are over, batch by batch, and none after `until` of the monotonic clock."""
    over = runs.exclude(state__in=OPEN_STATES)
    purged = after = 0
    while time.monotonic() < until:
        asked = list(over.filter(pk__gt=after).order_by("pk").values_list("pk", flat=True)[:BATCH])
        purged += _purge(over, asked)
        if len(asked) < BATCH:
            break
        after = asked[-1]
    return purged


def _purge(over: QuerySet[Run], asked: list[int]) -> int:
    """Delete those that nobody is at work on; the others have their turn another day.

    The review is locked before its run, as everywhere: a decision would wait for us, and we for it.
    """
    with transaction.atomic():
        reviews = Review.objects.filter(run__in=asked).order_by("pk")
        mine = list(reviews.select_for_update(skip_locked=True).values_list("pk", flat=True))
        free = over.filter(Q(review__isnull=True) | Q(review__in=mine), pk__in=asked)
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
    """Delete notices that were handed on, and processes not seen for long.

    The latest process of each role stays: it is the record that this installation has such a one.
    """
    past = (now or timezone.now()) - SPENT_AGE
    OutboxEvent.objects.filter(dispatched_at__lt=past).delete()
    newer = Heartbeat.objects.filter(role=OuterRef("role"), at__gt=OuterRef("at"))
    Heartbeat.objects.filter(Exists(newer), at__lt=past).delete()


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
