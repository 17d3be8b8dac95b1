"""What the targets count of runs and comparisons: by hours, each counted when it changed.

An hour that is marked, and the current one, are counted from the rows until the relay has
counted them anew. What is counted stands in `runs` and `compared`: the rows' own queries.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet, Sum
from django.utils import timezone

from loomverify.accounts.models import Project
from verification.runs.figures import hold_hour
from verification.runs.models import DirtyHour, TargetHour, TargetMark
from verification.runs.spans import start_of_hour
from verification.trials.acceptance import compared, measures, runs
from verification.trials.acceptance.behind import Behind, Which
from verification.trials.acceptance.measures import FalseFails
from verification.trials.acceptance.scope import Scope

HOURS_A_TURN = 24
CLAIMS = "claims"
FALSE_KEPT = "false_kept"
FALSE = measures.FALSE_FAILS.name
OF_RUNS: Mapping[str, Callable[[Scope], Behind[Any]]] = {
    measures.UNREADABLE.name: runs.unreadable,
    measures.RETRIES.name: runs.retries,
    measures.NAMED.name: runs.named,
    measures.TRACED.name: runs.traced,
    measures.RECOMMENDATIONS.name: runs.recommendations,
}
COUNTED: Mapping[str, Callable[[Scope], Behind[Any]]] = {
    **OF_RUNS,
    measures.COMPLETING.name: compared.completing,
}
HOLDING = {
    Which.COUNTED: Q(counted__gt=0),
    Which.ALL: Q(of_all__gt=0),
    Which.REST: Q(of_all__gt=F("counted")),
    Which.KNOWN: Q(of_all__gt=0),
}
"""Of an hour's figures: that it holds such rows."""


@dataclass(frozen=True, slots=True)
class Figure:
    process: str
    figure: str
    counted: int
    of_all: int


def counts(scope: Scope) -> dict[str, tuple[int, int]]:
    """Of each figure, how many were counted of how many."""
    raw = _raw(scope)
    stored = _stored(scope, raw).order_by().values_list("figure")
    found: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    found |= {name: (n, of) for name, n, of in stored.annotate(n=Sum("counted"), of=Sum("of_all"))}
    for one in _from_rows(replace(scope, hours=raw)):
        counted, of_all = found[one.figure]
        found[one.figure] = counted + one.counted, of_all + one.of_all
    return found


def false_fails(found: Mapping[str, tuple[int, int]]) -> FalseFails:
    (new, old), (kept, known) = found[FALSE], found[FALSE_KEPT]
    return FalseFails(known, old - kept, kept, new - kept)


def narrowed(scope: Scope, name: str, which: Which, *, until: datetime | None, rows: int) -> Scope:
    """The newest hours that hold the first rows of a page, and none that holds no such row."""
    last = start_of_hour(until or scope.now)
    raw = _raw(scope)
    figure = FALSE_KEPT if which is Which.KNOWN else name
    held = _stored(scope, raw).filter(HOLDING[which], figure=figure, hour__lte=last)
    # The last hour may hold none but newer ones; one row more tells of a next page.
    newest = held.order_by("-hour").values_list("hour", flat=True).distinct()[: rows + 2]
    return replace(scope, hours=raw | frozenset(newest))


def recount(project_id: int, hour: datetime) -> None:
    """Count an hour anew. Idempotent."""
    with transaction.atomic():
        hold_hour(project_id, hour)
        TargetMark.objects.filter(project_id=project_id, hour=hour).delete()
        TargetHour.objects.filter(project=project_id, hour=hour).delete()
        project = Project.objects.filter(pk=project_id).first()
        if project is None:
            return
        scope = Scope(project, None, 1, timezone.now(), frozenset([hour]))
        TargetHour.objects.bulk_create(
            TargetHour(
                project=project,
                hour=hour,
                process=one.process,
                figure=one.figure,
                counted=one.counted,
                of_all=one.of_all,
            )
            for one in _from_rows(scope)
        )


def sweep() -> int:
    """Count marked hours that are over, oldest first; return how many."""
    due = TargetMark.objects.filter(hour__lt=start_of_hour(timezone.now())).order_by("hour")
    marks = list(due.values_list("project_id", "hour")[:HOURS_A_TURN])
    for project_id, hour in marks:
        recount(project_id, hour)
    return len(marks)


def _raw(scope: Scope) -> frozenset[datetime]:
    """The hours of the span that are counted from the rows."""
    since, project = scope.since, scope.project.pk
    dirty = DirtyHour.objects.filter(project=project, hour__gte=since).values_list("hour")
    marked = TargetMark.objects.filter(project_id=project, hour__gte=since).values_list("hour")
    found = {hour for (hour,) in dirty.union(marked)}
    return frozenset(found | {start_of_hour(timezone.now())})


def _stored(scope: Scope, raw: frozenset[datetime]) -> QuerySet[TargetHour]:
    rows = TargetHour.objects.filter(project=scope.project, hour__gte=scope.since)
    rows = rows.exclude(hour__in=raw)
    return rows.filter(process=scope.slug) if scope.process else rows


def _from_rows(scope: Scope) -> Iterator[Figure]:
    for name, behind in COUNTED.items():
        place = "process__slug" if name in OF_RUNS else "process"
        for process, counted, of_all in behind(scope).by_process(place):
            yield Figure(process, name, counted, of_all)
    yield from _claims(scope)
    yield from _false(scope)


def _claims(scope: Scope) -> Iterator[Figure]:
    rows = runs.recommendations(scope).counted.order_by().values_list("process__slug")
    for process, unconfirmed in rows.annotate(n=runs.UNCONFIRMED_CLAIMS):
        yield Figure(process, CLAIMS, unconfirmed, unconfirmed)


def _false(scope: Scope) -> Iterator[Figure]:
    rows = compared.judged(scope).order_by().values_list("process")
    for process, old, new, kept, known in rows.annotate(**compared.FALSE_FAILS):
        yield Figure(process, FALSE, new, old)
        yield Figure(process, FALSE_KEPT, kept, known)
