"""The workers' side of a replay: take some cases, replay them, store what came of them."""

from __future__ import annotations

import logging
import time

from django.db import DatabaseError

from loomverify.errors import FaultError, InputError
from verification.engine.golden.replay import CannotReplay
from verification.golden.cases.selectors import versions_to_read
from verification.golden.models import GoldenCaseVersion
from verification.golden.replays import claiming, finishing, waking
from verification.golden.replays.claiming import Claimed, ReplayOver
from verification.golden.replays.judging import CaseJudge, Columns, not_judged

logger = logging.getLogger(__name__)

TURN_SECONDS = 10.0
"""Then the replay goes on with a fresh message, behind what came meanwhile."""
LOST = "The verifier was lost on this case."
GONE = "This version of the case is gone."


def work_on(replay_id: int, *, seconds: float = TURN_SECONDS) -> None:
    """Replay cases until none can be had, or the time is up: then another message goes on.

    A case that breaks is told as such, and ends nothing but itself.
    """
    replay = claiming.begin(replay_id)
    if replay is None:
        return
    judge = CaseJudge.of(replay)
    batch = 1 if replay.is_live else waking.BATCH
    until = time.monotonic() + seconds
    try:
        while claimed := claiming.claim(replay_id, batch=batch):
            _work_off(judge, claimed, until=until)
            if time.monotonic() >= until:
                waking.wake(replay_id)
                return
        finishing.finish(replay_id)
    except ReplayOver:
        logger.info("replay_over replay=%s", replay_id)


sweep = waking.sweep


def _work_off(judge: CaseJudge, claimed: list[Claimed], *, until: float) -> None:
    """Replay a batch and store it at once; what the time does not hold is given back."""
    versions = versions_to_read().in_bulk([one.version for one in claimed])
    rows = []
    for number, one in enumerate(claimed):
        if number and time.monotonic() >= until:
            claiming.give_back(claimed[number:])
            break
        began = time.monotonic()
        columns = _columns(judge, one, versions.get(one.version))
        took = round((time.monotonic() - began) * 1000)
        rows.append({"id": one.pk, "claims": one.claims, "duration_ms": took, **columns})
    claiming.store(judge.replay.pk, rows)


def _columns(judge: CaseJudge, one: Claimed, version: GoldenCaseVersion | None) -> Columns:
    if one.claims > claiming.MAX_CLAIMS or version is None:
        return not_judged(GONE if version is None else LOST)
    try:
        return judge.columns(one, version)
    except (DatabaseError, ReplayOver):
        raise
    except (CannotReplay, InputError, FaultError) as error:
        return not_judged(str(error))
    except Exception as error:
        logger.exception("golden_case_failed replay=%s version=%s", judge.replay.pk, one.version)
        return not_judged(f"{type(error).__name__} in the verifier: {error}")
