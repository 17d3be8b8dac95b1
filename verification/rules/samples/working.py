"""The workers' side of a sample: take a run, ask the judge, store what it said."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from functools import partial

from django.db import DatabaseError, transaction

from loomverify.errors import FaultError
from verification.engine.judges.one_rule import Said
from verification.rules.models import Sample, SampledRun, SampleStop
from verification.rules.samples import claiming, results, waking
from verification.rules.samples.asking import Asking, Purse
from verification.rules.samples.claiming import Claimed, RunTaken, SampleOver
from verification.runs.judging import BUDGET_EXHAUSTED
from verification.runs.side_by_side import Here, Interrupted, side_by_side

logger = logging.getLogger(__name__)

TURN_SECONDS = 10.0
"""Then the sample goes on with a fresh message, behind what came meanwhile."""
AT_ONCE = 4
"""Judges are waited for: so many at a time."""
MOST_IN_VAIN = 5
"""With so many answers lost and none heard, the judge is away for all."""
BROKEN = "infra_verifier_error"
LOST = "The verifier was lost on this run."


class Lost:
    """No answer came."""


def work_on(sample_id: int, *, seconds: float = TURN_SECONDS) -> None:
    """Ask about runs until none can be had, nothing can be paid, or the time is up."""
    sample = claiming.begin(sample_id)
    if sample is None:
        return
    until = time.monotonic() + seconds
    try:
        asking = Asking.of(sample)
        while claimed := claiming.claim(sample, batch=AT_ONCE):
            if stopped := _work_off(asking, claimed):
                _finish(sample, stopped)
                return
            if time.monotonic() >= until:
                waking.wake(sample_id)
                return
        _finish(sample)
    except SampleOver as over:
        logger.info("sample_over %s", over)
    except FaultError:
        logger.exception("sample_unreadable sample=%s", sample_id)
        claiming.finish(sample_id, SampleStop.TEXT)


def _work_off(asking: Asking, claimed: Sequence[Claimed]) -> SampleStop | None:
    """Ask about these runs side by side; say why to ask no further."""
    made = side_by_side([partial(_ask_about, asking, Purse(one)) for one in claimed])
    stopped = [one for one in made if isinstance(one, SampleStop)]
    if stopped:
        return SampleStop.AGREED if SampleStop.AGREED in stopped else SampleStop.BUDGET
    is_in_vain = Lost in made and _asks_in_vain(asking.sample)
    return SampleStop.JUDGE if is_in_vain else None


def _ask_about(asking: Asking, purse: Purse, here: Here) -> SampleStop | type[Lost] | None:
    """Store what was said of a run as soon as it was, or leave it where it could not be paid."""
    try:
        said = _said(asking, purse, here)
        if said.lost == BUDGET_EXHAUSTED:
            here(partial(claiming.put_back, purse.claimed))
            return SampleStop.AGREED if purse.is_spent else SampleStop.BUDGET
        here(partial(claiming.store, purse.claimed, said))
    except RunTaken as taken:
        logger.info("sampled_run_taken %s", taken)
        return None
    return Lost if said.lost else None


def _said(asking: Asking, purse: Purse, here: Here) -> Said:
    """One that breaks is told as such, and ends nothing but itself."""
    if purse.claimed.claims > claiming.MAX_CLAIMS:
        return Said(lost=BROKEN, why=LOST)
    try:
        return asking.said(purse, here)
    except (DatabaseError, SampleOver, RunTaken, Interrupted):
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
    with transaction.atomic():
        if claiming.finish(sample.pk, stopped):
            results.remember(sample)
