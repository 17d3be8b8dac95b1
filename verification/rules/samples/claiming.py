"""Who asks about which run of a sample: held by a lease, paid from what was agreed to.

A row's `claims` is the fencing number too: who comes back with an older one writes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from verification.engine.finding import Finding
from verification.engine.judges.one_rule import Said
from verification.rules.models import Sample, SampledRun, SampleState, SampleStop
from verification.rules.samples.waking import AGAIN
from verification.runs.storable import storable

LEASES = 2
"""A run is held for so many times the lease of a live one."""
MAX_CLAIMS = 3
MAX_TEXT = 500


class SampleOver(Exception):
    """Nothing more is asked or written for it."""


class RunTaken(Exception):
    """Another worker holds the run, or it was deleted."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """One run of a sample, held by who claimed it."""

    sample: Sample
    pk: int
    run_id: int
    claims: int


def grant(one: Claimed, estimate: Decimal, *, seconds: float) -> bool:
    """Hold the run for a call that may take so long, and enter what it costs at most.

    False: what was agreed to does not hold it.

    Raises:
        SampleOver, RunTaken: there is nobody to ask for.
    """
    now, sample = timezone.now(), one.sample.pk
    with transaction.atomic():
        keep(sample, now, longer=seconds)
        rows = SampledRun.objects.filter(pk=one.pk, claims=one.claims, answered_at=None)
        if not rows.update(lease_until=lease_until(now, longer=seconds)):
            raise RunTaken(f"run {one.run_id} of sample {sample}")
        within = Sample.objects.filter(pk=sample, max_usd__gte=F("cost_usd") + estimate)
        return bool(within.update(cost_usd=F("cost_usd") + estimate))


def settle(one: Claimed, granted: Decimal, actual: Decimal) -> None:
    """Put what a call cost in the place of what was granted."""
    Sample.objects.filter(pk=one.sample.pk).update(cost_usd=F("cost_usd") - granted + actual)


def begin(sample_id: int) -> Sample | None:
    """None: it is over."""
    rows = Sample.objects.filter(pk=sample_id, state=SampleState.OPEN)
    return rows.select_related("project", "process", "verifier_version").first()


def claim(sample: Sample, *, batch: int) -> list[Claimed]:
    """Take runs that nobody holds; empty: none can be had now.

    What killed a worker once is taken alone, so that it takes no other with it.
    """
    now = timezone.now()
    waiting = SampledRun.objects.filter(sample=sample, answered_at=None)
    free = waiting.filter(Q(lease_until=None) | Q(lease_until__lte=now)).order_by("pk")
    for which, limit in ((Q(claims=0), batch), (Q(claims__gt=0), 1)):
        with transaction.atomic():
            found = list(free.filter(which).select_for_update(skip_locked=True)[:limit])
            rows = SampledRun.objects.filter(pk__in=[one.pk for one in found])
            rows.update(claims=F("claims") + 1, lease_until=lease_until(now))
        if found:
            return [Claimed(sample, one.pk, one.run_id, one.claims + 1) for one in found]
    return []


def store(one: Claimed, said: Said) -> None:
    """Write what came of a run.

    Raises:
        SampleOver: there is nobody to write it for.
    """
    now = timezone.now()
    with transaction.atomic():
        keep(one.sample.pk, now)
        rows = SampledRun.objects.filter(pk=one.pk, claims=one.claims, answered_at=None)
        rows.update(
            answered_at=now,
            lease_until=None,
            findings=storable(_told(said.findings)),
            lost=said.lost,
            why=storable(said.why)[:MAX_TEXT],
            calls=said.calls,
        )


def put_back(one: Claimed) -> None:
    """It was not asked about: it is left as it was."""
    rows = SampledRun.objects.filter(pk=one.pk, claims=one.claims, answered_at=None)
    rows.update(claims=one.claims - 1, lease_until=None)


def finish(sample_id: int, stopped: SampleStop | None = None) -> bool:
    """End it, where nothing is left to ask, or nothing can be asked. False: it goes on.

    Call it in the transaction that keeps what came of it.
    """
    rows = Sample.objects.filter(pk=sample_id, state=SampleState.OPEN)
    waiting = SampledRun.objects.filter(sample=sample_id, answered_at=None)
    if stopped is None and waiting.exists():
        return False
    return bool(
        rows.update(
            state=SampleState.FINISHED,
            stopped=stopped or "",
            finished_at=timezone.now(),
            next_at=None,
        )
    )


def keep(sample_id: int, now: datetime, *, longer: float = 0) -> None:
    """Locks the sample's row until the transaction ends. Nobody is woken while a judge thinks.

    Raises:
        SampleOver: it is over.
    """
    rows = Sample.objects.filter(pk=sample_id, state=SampleState.OPEN)
    if not rows.update(next_at=now + AGAIN + timedelta(seconds=longer)):
        raise SampleOver(f"sample {sample_id}")


def lease_until(now: datetime, *, longer: float = 0) -> datetime:
    return now + timedelta(seconds=LEASES * settings.RUN_LEASE_SECONDS + longer)


def _told(findings: Sequence[Finding]) -> list[object]:
    return [one.to_json() for one in findings]
