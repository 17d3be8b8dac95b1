"""Whether a judge's confidence keeps what it says, and which floor follows for each process.

A vote has none: what stands there is the share of votes that pass, which says nothing of how sure
a rejection is. Decisions about tier 2 alone are counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, DecimalField, Expression, IntegerField, Q, QuerySet, Sum
from django.db.models.functions import Cast
from django.db.models.functions import Floor as RoundedDown
from django.utils import timezone

from loomverify.accounts.models import Project
from processes.definition.model import Definition
from processes.models import Process
from processes.selectors import definitions_of, process_list
from verification.engine.outcome import Outcome, Verdict
from verification.engine.statistics.calibration import (
    STEPS,
    Bin,
    Bucket,
    Floor,
    NoFloor,
    NoFloorReason,
    expected_calibration_error,
    propose_floor,
    reliability,
)
from verification.engine.statistics.estimates import TooFew
from verification.reviews.agreement.filters import JUDGED_TIER, AgreementFilters, decided
from verification.runs.models import Review, Run
from verification.runs.selectors import moment

ENTERED = (Verdict.ACCEPT, Verdict.REJECT)
SPAN = timedelta(days=90)
"""Over how long runs are counted that a floor would send to people, where no time is asked for."""
EXACT = DecimalField(max_digits=9, decimal_places=6)


@dataclass(frozen=True, slots=True)
class Judged:
    """Runs of one phase whose confidence begins with this hundredth."""

    process: int
    phase: str
    hundredth: int
    n: int


@dataclass(frozen=True, slots=True)
class ProcessFloor:
    """A process's floor as it is, by phase, and the one proposed.

    Of `runs` that a model judged lately, `below_now` and `below_then` lie below them.
    """

    process: str
    n: int
    floors: Mapping[str, float]
    proposal: Floor | NoFloor
    runs: int
    below_now: int
    below_then: int

    @property
    def present(self) -> tuple[float, float]:
        """The lowest and the highest of its phases."""
        return min(self.floors.values()), max(self.floors.values())

    @property
    def advice(self) -> str:
        """What to do: raise, lower, keep, wait until more is known, or none: no floor does."""
        if isinstance(self.proposal, NoFloor):
            return "wait" if self.proposal.reason is NoFloorReason.TOO_FEW else "none"
        low, high = self.present
        if self.proposal.floor > low:
            return "raise"
        return "lower" if self.proposal.floor < high else "keep"


@dataclass(frozen=True, slots=True)
class Calibration:
    """`error` is the expected calibration error, 0 to 1."""

    n: int
    bins: Sequence[Bin]
    error: float | TooFew
    floors: Sequence[ProcessFloor]


def calibration(project: Project, filters: AgreementFilters) -> Calibration:
    """Raises InputError and NotFound where a filter is none."""
    by_process = _buckets(project, filters)
    every = _merged(by_process.values())
    return Calibration(
        n=sum(one.n for one in every),
        bins=reliability(every),
        error=expected_calibration_error(every),
        floors=_floors(project, filters, by_process),
    )


def _buckets(project: Project, filters: AgreementFilters) -> dict[int, list[Bucket]]:
    agreed = Q(evaluation__verdict=Verdict.REJECT, outcome=Outcome.FAIL) | Q(
        ~Q(outcome=Outcome.FAIL), evaluation__verdict=Verdict.ACCEPT
    )
    counted = (
        calibrated(decided(project, filters))
        .order_by()
        .annotate(hundredth=hundredth("evaluation__confidence"))
        .values_list("process_id", "hundredth")
        .annotate(
            n=Count("pk"), said_sum=Sum("evaluation__confidence"), agreed=Count("pk", filter=agreed)
        )
    )
    found: dict[int, list[Bucket]] = defaultdict(list)
    for process, step, n, said, right in counted:
        found[process].append(Bucket(step, n, said, right))
    return found


def calibrated(rows: QuerySet[Review]) -> QuerySet[Review]:
    """Those of which a judge's own confidence stands behind a verdict."""
    return rows.filter(
        evaluation__tier_achieved=JUDGED_TIER,
        evaluation__verdict__in=ENTERED,
        evaluation__confidence__range=(0, 1),
    )


def hundredth(field: str) -> Expression:
    """Where a confidence stands on a scale of hundredths, 0 to 100: 0.29 at 29, and not at 28."""
    return Cast(RoundedDown(Cast(field, EXACT) * STEPS), IntegerField())


def _merged(buckets: Iterable[Sequence[Bucket]]) -> list[Bucket]:
    found: dict[int, Bucket] = {}
    for one in (bucket for several in buckets for bucket in several):
        old = found.get(one.hundredth, Bucket(one.hundredth, 0, 0.0, 0))
        found[one.hundredth] = Bucket(
            one.hundredth, old.n + one.n, old.confidence + one.confidence, old.agreed + one.agreed
        )
    return list(found.values())


def _floors(
    project: Project, filters: AgreementFilters, buckets: Mapping[int, Sequence[Bucket]]
) -> list[ProcessFloor]:
    judged: dict[int, list[Judged]] = defaultdict(list)
    for one in _judged(project, filters):
        judged[one.process].append(one)
    processes = [one for one in process_list(project) if one.pk in buckets or one.pk in judged]
    published = definitions_of(one.published_id for one in processes if one.published_id)
    floors = [
        _floor(process, definition, buckets.get(process.pk, ()), judged[process.pk])
        for process in processes
        if (definition := published.get(process.published_id or 0))
    ]
    return sorted(floors, key=lambda one: (-one.n, one.process))


def _floor(
    process: Process,
    definition: Definition,
    buckets: Sequence[Bucket],
    judged: Sequence[Judged],
) -> ProcessFloor:
    floors = {phase.id: phase.confidence_floor for phase in definition.phases}
    usual = min(floors.values(), default=0.0)
    proposal = propose_floor(buckets)
    then = proposal.floor if isinstance(proposal, Floor) else 0.0
    return ProcessFloor(
        process=process.slug,
        n=sum(one.n for one in buckets),
        floors=floors or {"": usual},
        proposal=proposal,
        runs=sum(one.n for one in judged),
        below_now=sum(
            one.n for one in judged if one.hundredth < floors.get(one.phase, usual) * STEPS
        ),
        below_then=sum(one.n for one in judged if one.hundredth < then * STEPS),
    )


def _judged(project: Project, filters: AgreementFilters) -> list[Judged]:
    since = moment("since", filters.since) if filters.since else timezone.now() - SPAN
    rows = Run.objects.filter(
        project=project,
        created_at__gte=since,
        verdict__in=ENTERED,
        live_evaluation__tier_achieved__gte=JUDGED_TIER,
        live_evaluation__confidence__range=(0, 1),
    )
    if filters.until:
        rows = rows.filter(created_at__lt=moment("until", filters.until))
    if filters.process:
        rows = rows.filter(process__slug=filters.process)
    if filters.phase:
        rows = rows.filter(phase_id=filters.phase)
    counted = (
        rows.order_by()
        .annotate(hundredth=hundredth("live_evaluation__confidence"))
        .values_list("process_id", "phase_id", "hundredth")
        .annotate(n=Count("pk"))
    )
    return [Judged(*row) for row in counted]
