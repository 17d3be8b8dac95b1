"""A side whose judge was away is asked again, as a live run verifies itself again.

The same doubt, the same pauses, the same deadline: what a judge could not say blames neither side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

from verification.engine import policy
from verification.engine.outcome import Verdict
from verification.engine.reasons import reason
from verification.runs import reverifying
from verification.runs.beside.looking import BegunBefore
from verification.runs.casting import verifier_spec
from verification.runs.models import Evaluation
from verification.trials.sides import full_of
from verification.trials.working.claiming import Claimed
from verification.trials.working.comparing import Done
from verification.verifiers import budgets

LOOKS_AGAIN = timedelta(hours=1)

PutOff = tuple[Claimed, datetime]
"""A comparison, and when it is taken again."""


def doubtful(claimed: Iterable[Claimed], before: Iterable[BegunBefore]) -> dict[int, str]:
    """Of what was made for comparisons that were put off, those that are asked again."""
    runs = {one.run_id for one in claimed if one.asked_again}
    found = [one for one in before if one.is_finished and one.wanted.run_id in runs]
    return _in_doubt({one.evaluation_id: one.wanted.verifier_version_id for one in found})


def parted(done: Sequence[Done], now: datetime) -> tuple[list[PutOff], list[Done]]:
    """Those that are put off, and those that are compared now: with their doubt, if some is left.

    An evaluation of the run's own is not asked again here: the run did so by itself.
    """
    versions = {
        one.made[wanted.key]: wanted.verifier_version_id
        for one in done
        for wanted in one.pair.wanted
    }
    in_doubt = _in_doubt(versions)
    put_off: list[PutOff] = []
    compared = []
    for one in done:
        reasons = [
            in_doubt[pk] for wanted in one.pair.wanted if (pk := one.made[wanted.key]) in in_doubt
        ]
        turn = _turn(one, now) if reasons else None
        if turn:
            put_off.append((one.pair.claimed, turn.at))
        else:
            compared.append(replace(one, doubt=_told(one.pair.claimed, reasons)))
    return put_off, compared


def affordable(now: datetime) -> datetime:
    """When the day's budgets may hold a call: a day is one of UTC, and they may be raised in it."""
    tomorrow = datetime.combine(budgets.day_of(now) + timedelta(days=1), time(), UTC)
    return min(tomorrow, now + LOOKS_AGAIN)


def _in_doubt(versions: Mapping[int, int]) -> dict[int, str]:
    """By evaluation the reason of its doubt, where that may pass; `versions` are the verifiers'."""
    undecided = Evaluation.objects.filter(
        pk__in=list(versions), verdict=Verdict.UNDECIDED, finished_at__isnull=False
    )
    ids = list(undecided.values_list("pk", flat=True))
    found = full_of(ids) if ids else {}
    return {
        pk: one.reason_code
        for pk, one in found.items()
        if policy.decide(one.findings, verifier_spec(versions[pk]).flags).may_pass
    }


def _turn(done: Done, now: datetime) -> reverifying.Turn | None:
    claimed = done.pair.claimed
    if claimed.is_lost:
        return None
    return reverifying.turn_after(
        claimed.asked_again,
        since=claimed.undecided_since or now,
        now=now,
        retry_after=done.retry_after,
    )


def _told(claimed: Claimed, reasons: Sequence[str]) -> str:
    if not reasons:
        return ""
    times = f"{claimed.asked_again + 1} times" if claimed.asked_again else "once"
    return f"{reason(reasons[0]).title} It was asked {times}."
