"""The workers' side of a sample: take a run, ask the judge, store what it said."""

from __future__ import annotations

import logging
import time

from django.db import DatabaseError

from verification.engine.judges.one_rule import Said
from verification.rules.models import Sample, SampledRun, SampleStop
from verification.rules.samples import claiming, results, waking
from verification.rules.samples.asking import Asking, Purse
from verification.rules.samples.claiming import SampleOver
from verification.runs.judging import BUDGET_EXHAUSTED

logger = logging.getLogger(__name__)

TURN_SECONDS = 10.0
"""Then the sample goes on with a fresh message, behind what came meanwhile."""
MOST_IN_VAIN = 5
"""With so many answers lost and none heard, the judge is away for all."""
BROKEN = "infra_verifier_error"
LOST = "The verifier was lost on this run."


def work_on(sample_id: int, *, seconds: float = TURN_SECONDS) -> None:
    """Ask about runs until none can be had, nothing can be paid, or the time is up."""
    sample = claiming.begin(sample_id)
    if sample is None:
        return
    asking, until = Asking.of(sample), time.monotonic() + seconds
    try:
        while one := claiming.claim(sample):
            purse = Purse(one)
            said = _said(asking, purse)
            if said.lost == BUDGET_EXHAUSTED:
                claiming.put_back(one)
                _finish(sample, SampleStop.AGREED if purse.is_spent else SampleStop.BUDGET)
                return
            claiming.store(one, said)
            if said.lost and _asks_in_vain(sample):
                _finish(sample, SampleStop.JUDGE)
                return
            if time.monotonic() >= until:
                waking.wake(sample_id)
                return
        _finish(sample)
    except SampleOver as over:
        logger.info("sample_over %s", over)


def _said(asking: Asking, purse: Purse) -> Said:
    """One that breaks is told as such, and ends nothing but itself."""
    if purse.claimed.claims > claiming.MAX_CLAIMS:
        return Said(lost=BROKEN, why=LOST)
    try:
        return asking.said(purse)
    except (DatabaseError, SampleOver):
        raise
    except Exception as error:
        logger.exception("sampled_run_failed run=%s", purse.claimed.run_id)
        return Said(lost=BROKEN, why=f"{type(error).__name__} in the verifier: {error}")


def _asks_in_vain(sample: Sample) -> bool:
    answered = SampledRun.objects.filter(sample=sample, answered_at__isnull=False)
    if answered.filter(lost="", calls__gt=0).exists():
        return False
    return answered.exclude(lost="").count() >= MOST_IN_VAIN


def _finish(sample: Sample, stopped: SampleStop | None = None) -> None:
    if claiming.finish(sample.pk, stopped):
        results.remember(sample)
