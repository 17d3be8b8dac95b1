"""Escaped defects before and since what is in force was promoted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Q, QuerySet

from processes.models import Process
from verification.engine.outcome import Outcome, Verdict
from verification.reviews.agreement.filters import AgreementFilters, decided
from verification.runs.models import Review
from verification.trials.acceptance.behind import Behind
from verification.trials.acceptance.scope import Scope
from verification.trials.models import Trial, TrialState
from verification.trials.promoted import still_in_force

HEAVY = ("evaluation__rule_trace", "evaluation__feedback", "evaluation__claims",
         "evaluation__claim_list", "process__description", "run__search", "run__result")  # fmt: skip
REJECTED = Q(outcome=Outcome.FAIL)
Span = Callable[[datetime], Q]


@dataclass(frozen=True, slots=True)
class Canaries:
    """The processes whose judging was changed by a promotion in force, and when."""

    cuts: dict[int, datetime]

    @property
    def first(self) -> datetime | None:
        return min(self.cuts.values(), default=None)


def canaries(scope: Scope) -> Canaries:
    """A trial over all processes makes each of them one; the newest promotion counts.

    Where something else was activated or published since, none is in force.
    """
    rows = Trial.objects.filter(
        project=scope.project, state=TrialState.PROMOTED, promoted_at__isnull=False
    ).order_by("promoted_at")
    rows = rows.only("project_id", "process_id", "state", "promoted_at", "promotion")
    found = list(rows)
    standing = still_in_force(found)
    promoted = [(one.process_id, one.promoted_at) for one in found if one.pk in standing]
    if not promoted:
        return Canaries({})
    processes = Process.objects.filter(project=scope.project)
    if scope.process:
        processes = processes.filter(pk=scope.process.pk)
    cuts: dict[int, datetime] = {}
    for pk in processes.values_list("pk", flat=True):
        for process, at in promoted:
            if at and process in (None, pk):
                cuts[pk] = at
    return Canaries(cuts)


def since(scope: Scope, found: Canaries) -> Behind[Review]:
    """In the span; from the promotion on where that was later."""
    return _sampled(
        scope,
        found,
        lambda cut: Q(created_at__gte=max(cut, scope.since), created_at__lte=scope.now),
    )


def before(scope: Scope, found: Canaries) -> Behind[Review]:
    """As many days up to the promotion."""
    days = timedelta(days=scope.days)
    return _sampled(scope, found, lambda cut: Q(created_at__gte=cut - days, created_at__lt=cut))


def _sampled(scope: Scope, found: Canaries, span: Span) -> Behind[Review]:
    sample = AgreementFilters(sample="only")
    rows: QuerySet[Review] = decided(scope.project, sample)
    rows = rows.filter(sample_rate__gt=0, evaluation__verdict=Verdict.ACCEPT)
    by_cut: dict[datetime, list[int]] = {}
    for process, cut in found.cuts.items():
        by_cut.setdefault(cut, []).append(process)
    within = Q(pk__in=())
    for cut, processes in by_cut.items():
        within |= Q(process__in=processes) & span(cut)
    rows = rows.filter(within).select_related("run__task", "process", "evaluation").defer(*HEAVY)
    return Behind.split(rows, REJECTED)


def counts(found: Behind[Review]) -> tuple[int, int]:
    """The counted ones, and of how many."""
    counted = found.all.order_by().aggregate(of_all=Count("pk"), hit=Count("pk", filter=found.hit))
    return counted["hit"], counted["of_all"]
