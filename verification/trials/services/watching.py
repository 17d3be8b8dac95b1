"""After a cutover: the outcomes of runs are held against what the trial had promised.

A trial of which too little was known by then promises nothing. There the first runs since the
cutover stand in for it, and what comes after them is held against these.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.audit import record
from verification.engine.drift import NEEDED, Against, Rise, risen
from verification.engine.shadow import SideOutcome
from verification.runs.models import Run, RunState
from verification.trials.figures import COUNTED
from verification.trials.models import Comparison, StopReason, Trial, TrialState
from verification.trials.promoted import candidate_judges, live_is_promoted
from verification.trials.selectors import RELATED
from verification.trials.services import telling
from verification.trials.services.stopping import close

FIRST_LOOK = 50
"""So many runs after a cutover are looked at first, then twice as many, and so on: an alarm that
looked at every run would sooner or later ring by chance."""
MOST_RUNS = FIRST_LOOK * 2**11
LOOKS_EVERY = timedelta(minutes=1)
FEWEST_DAYS = timedelta(days=7)
"""At least so long before a cutover it is looked how often a verification breaks anyhow."""
ENDED = (RunState.FINISHED, RunState.ERRORED)
CHANGED = "Something else judges runs now."


@dataclass(frozen=True, slots=True)
class Basis:
    """So many pairs had the trial before its cutover; so many runs came since."""

    pairs: int
    runs: int = 0

    @property
    def lacking(self) -> int:
        """Pairs that the trial had too few: its outcomes cannot be held against anything."""
        return max(0, NEEDED - self.pairs)

    @property
    def first_runs(self) -> int:
        """How many of the runs stand in for the trial where it lacks pairs."""
        return min(self.runs, NEEDED)


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
    """Watches whose time is not over and that have seen nothing yet, or run on after an alarm.

    One that stopped itself evaluates no more; runs are looked at all the same.
    """
    given_up = (StopReason.REPLACED, StopReason.PERSON)
    is_quiet, runs = Q(drift_at=None), Q(state=TrialState.RUNNING)
    rows = Trial.objects.filter(is_quiet | runs, ends_at__gt=now)
    rows = rows.filter(watches__state=TrialState.PROMOTED).exclude(stop_reason__in=given_up)
    related = (*RELATED, "watches__project", "watches__process")
    more = ("watches__baseline_verifier", "watches__candidate_verifier")
    return rows.select_related(*related, *more).order_by("pk")


def look(watch: Trial) -> bool:
    """Hold what runs came to since the cutover against the trial. True: the alarm rang.

    One that rang rings no more, but ends as any other when something else judges.
    """
    trial = watch.watches
    if trial is None or trial.promoted_at is None:
        return False
    if not (live_is_promoted(trial) and candidate_judges(watch)):
        close(watch, state=TrialState.ENDED, reason=StopReason.REPLACED, text=CHANGED)
        return False
    if watch.drift_at is not None:
        return False
    before, skipped = promised(trial), 0
    if Basis(before.total()).lacking:
        before, skipped = _outcomes(_first(watch, 0, NEEDED)), NEEDED
    runs = _due_runs(watch, skipped)
    if not skipped:
        before += Counter({SideOutcome.UNDECIDED: _broken_as_ever(trial, before.total(), runs)})
    rises = risen(before, _outcomes(runs))
    return bool(rises) and _ring(
        watch, trial, rises, Against.FIRST_RUNS if skipped else Against.TRIAL
    )


def basis_of(trial: Trial) -> Basis | None:
    """What the watch of a promoted trial has to compare with; None: nothing is watched now."""
    watch = watched(timezone.now()).filter(watches=trial, drift_at=None).first()
    if watch is None:
        return None
    return Basis(promised(trial).total(), _runs(watch)[:MOST_RUNS].count())


def promised(trial: Trial) -> Counter[SideOutcome]:
    """The candidate's outcomes in its trial, over runs of before the cutover."""
    rows = Comparison.objects.filter(trial=trial, origin__in=COUNTED).exclude(diff_class="")
    if trial.promoted_at:
        early = Q(created_at__lte=trial.promoted_at) | Q(run__finished_at__lte=trial.promoted_at)
        rows = rows.filter(early)
    counted = rows.order_by().values_list("new").annotate(count=Count("pk"))
    return Counter({SideOutcome(new): count for new, count in counted})


def _broken_as_ever(trial: Trial, pairs: int, after: QuerySet[Run]) -> int:
    """So many runs would have broken beside so many pairs, which a trial takes of finished runs.

    The share is that of before the cutover, and no more than that of `after`: where fewer break
    by now, nothing else has risen by it.
    """
    until = trial.promoted_at or timezone.now()
    rows = Run.objects.filter(
        project=trial.project,
        state__in=ENDED,
        created_at__range=(min(trial.created_at, until - FEWEST_DAYS), until),
    )
    if trial.process_id:
        rows = rows.filter(process=trial.process_id)
    share = min(_broken_share(rows), _broken_share(after))
    return round(pairs * share / (1 - share)) if share < 1 else 0


def _broken_share(runs: QuerySet[Run]) -> float:
    broken = Count("pk", filter=Q(state=RunState.ERRORED))
    found = runs.aggregate(all=Count("pk"), broken=broken)
    return found["broken"] / found["all"] if found["all"] else 0.0


def came_to(watch: Trial, *, skipped: int = 0) -> Counter[SideOutcome]:
    """The outcomes of the first runs after the cutover: as many as the last look is due at.

    `skipped`: so many that others are held against are left out.
    """
    return _outcomes(_due_runs(watch, skipped))


def _due_runs(watch: Trial, skipped: int) -> QuerySet[Run]:
    return _first(watch, skipped, _due(_runs(watch)[: skipped + MOST_RUNS].count() - skipped))


def _first(watch: Trial, skipped: int, taken: int) -> QuerySet[Run]:
    first = _runs(watch).order_by("finished_at", "pk").values("pk")[skipped : skipped + taken]
    return Run.objects.filter(pk__in=first)


def _outcomes(runs: QuerySet[Run]) -> Counter[SideOutcome]:
    """A run whose verification broke came to no verdict, as it does in a trial."""
    grouped = runs.values_list("state", "outcome", "verdict")
    counted: Counter[SideOutcome] = Counter()
    for state, outcome, verdict, count in grouped.annotate(count=Count("pk")):
        is_errored = state == RunState.ERRORED
        found = SideOutcome.UNDECIDED if is_errored else SideOutcome.of(outcome, verdict)
        counted[found] += count
    return counted


def _runs(watch: Trial) -> QuerySet[Run]:
    """Those that were submitted after the cutover and judged by what it brought, or not at all."""
    trial = watch.watches
    rows = Run.objects.filter(
        project=watch.project,
        state__in=ENDED,
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


def _ring(watch: Trial, trial: Trial, rises: tuple[Rise, ...], against: Against) -> bool:
    """Once, whoever sees it first."""
    now, told = timezone.now(), [{**_rise(one), "against": against.value} for one in rises]
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
        "before_n": one.before_n,
        "after_n": one.after_n,
    }
