"""After a cutover: the outcomes of runs are held against what the trial had promised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.audit import record
from verification.engine.drift import Rise, risen
from verification.engine.shadow import SideOutcome
from verification.runs.models import Run, RunState
from verification.trials.figures import figures_of
from verification.trials.models import StopReason, Trial, TrialState
from verification.trials.selectors import RELATED
from verification.trials.services import telling
from verification.trials.services.promoting import live_is_promoted
from verification.trials.services.stopping import close

FIRST_LOOK = 50
"""So many runs after a cutover are looked at first, then twice as many, and so on: an alarm that
looked at every run would sooner or later ring by chance."""
MOST_RUNS = FIRST_LOOK * 2**11
LOOKS_EVERY = timedelta(minutes=1)
CHANGED = "Something else judges runs now."


@dataclass(slots=True)
class Pace:
    """When to look again: the relay turns every second."""

    next_at: datetime | None = None

    def may_look(self, now: datetime) -> bool:
        if self.next_at and self.next_at - LOOKS_EVERY <= now < self.next_at:
            return False
        self.next_at = now + LOOKS_EVERY
        return True


_pace = Pace()


def sweep(*, pace: Pace = _pace, now: datetime | None = None) -> int:
    """Look at every cutover that is watched; return how many alarms rang. The relay calls this."""
    now = now or timezone.now()
    return sum(look(watch) for watch in watched(now)) if pace.may_look(now) else 0


def watched(now: datetime) -> QuerySet[Trial]:
    """Watches whose time is not over and that have seen nothing yet.

    One that stopped itself evaluates no more; runs are looked at all the same.
    """
    given_up = (StopReason.REPLACED, StopReason.PERSON)
    rows = Trial.objects.filter(drift_at=None, ends_at__gt=now)
    rows = rows.filter(watches__state=TrialState.PROMOTED).exclude(stop_reason__in=given_up)
    related = (*RELATED, "watches__project", "watches__process")
    more = ("watches__baseline_verifier", "watches__candidate_verifier")
    return rows.select_related(*related, *more).order_by("pk")


def look(watch: Trial) -> bool:
    """Hold what runs came to since the cutover against the trial. True: the alarm rang."""
    trial = watch.watches
    if trial is None or trial.promoted_at is None:
        return False
    if not live_is_promoted(trial):
        close(watch, state=TrialState.ENDED, reason=StopReason.REPLACED, text=CHANGED)
        return False
    rises = risen(promised(trial), came_to(watch))
    return bool(rises) and _ring(watch, trial, rises)


def promised(trial: Trial) -> Mapping[SideOutcome, int]:
    """The candidate's outcomes in its trial."""
    counted: Counter[SideOutcome] = Counter()
    for group in figures_of(trial).groups:
        counted[group.new] += group.count
    return counted


def came_to(watch: Trial) -> Mapping[SideOutcome, int]:
    """The outcomes of the first runs after the cutover: as many as the last look is due at."""
    rows = _runs(watch)
    taken = _due(rows[:MOST_RUNS].count())
    if not taken:
        return {}
    first = rows.order_by("finished_at", "pk").values("pk")[:taken]
    grouped = Run.objects.filter(pk__in=first).values_list("outcome", "verdict")
    counted: Counter[SideOutcome] = Counter()
    for outcome, verdict, count in grouped.annotate(count=Count("pk")):
        counted[SideOutcome.of(outcome, verdict)] += count
    return counted


def _runs(watch: Trial) -> QuerySet[Run]:
    """Those that were submitted after the cutover and judged by what it brought."""
    trial = watch.watches
    rows = Run.objects.filter(
        project=watch.project,
        state=RunState.FINISHED,
        verifier_version=watch.candidate_verifier,
    )
    if trial and trial.promoted_at:
        rows = rows.filter(created_at__gte=trial.promoted_at, finished_at__gte=trial.promoted_at)
    if watch.process_id:
        rows = rows.filter(process=watch.process_id)
    if watch.candidate_process_version_id:
        rows = rows.filter(process_version=watch.candidate_process_version_id)
    return rows


def _due(count: int) -> int:
    """The largest of 50, 100, 200, … that so many runs reach; 0 for none."""
    taken = 0
    while (following := taken * 2 or FIRST_LOOK) <= count:
        taken = following
    return taken


def _ring(watch: Trial, trial: Trial, rises: tuple[Rise, ...]) -> bool:
    """Once, whoever sees it first."""
    now, told = timezone.now(), [_rise(one) for one in rises]
    with transaction.atomic():
        quiet = Trial.objects.filter(pk=watch.pk, drift_at=None)
        if not quiet.update(drift=told, drift_at=now):
            return False
        watch.drift, watch.drift_at = told, now
        diff = {one["outcome"]: [one["before"], one["after"]] for one in told}
        record(SYSTEM, "trial.drifted", trial, project=trial.project, diff=diff)
        telling.drifted(trial, watch)
    return True


def _rise(one: Rise) -> dict[str, Any]:
    return {
        "outcome": one.outcome.value,
        **{name: round(getattr(one, name), 6) for name in ("before", "after", "low", "high")},
    }
