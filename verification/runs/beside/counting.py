"""What evaluations cost and took in full, and which runs they make candidates for a false fail."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import connection
from django.db.models import Sum

from verification.runs import figures
from verification.runs.models import Evaluation

# A verification that went on paid for its first tiers in the evaluation before.
_MADE = """
    with side as (
        select id, run_id, purpose, trial_id, seq, verifier_version_id from runs_evaluation
        where id = any(%(evaluations)s)
    ), made as (
        select side.id as side, call.*,
               dense_rank() over (
                   partition by side.id, call.tier order by call.evaluation_id desc
               ) as turn
        from side
        join runs_evaluation past on past.run_id = side.run_id and past.id <= side.id
            and (
                past.id = side.id or (
                    side.purpose = 'reverify' and past.purpose in ('live', 'reverify')
                    and past.verifier_version_id = side.verifier_version_id
                ) or (
                    side.purpose in ('shadow', 'aa') and past.purpose = side.purpose
                    and past.trial_id = side.trial_id and past.seq %% 2 = side.seq %% 2
                )
            )
        join runs_modelcall call on call.evaluation_id = past.id
        where past.id = side.id or exists (
            select from runs_tierresult reached
            where reached.evaluation_id = side.id and reached.tier = call.tier
        )
    )
"""
_CALL_IDS = f"{_MADE} select side, id from made where turn = 1"  # noqa: S608 - constants of this module
_CALLS = f"""
    {_MADE}
    select made.side, made.tier, made.ask, made.cached,
           case when made.cached then coalesce(first.cost_usd, 0) else made.cost_usd end,
           case when made.cached then coalesce(first.duration_ms, 0) else made.duration_ms end
    from made
    left join lateral (
        select sum(tried.cost_usd) as cost_usd, sum(tried.duration_ms) as duration_ms
        from runs_modelcall tried
        where made.cached and tried.cache_key = made.cache_key and not tried.cached
          and tried.evaluation_id = (
              select evaluation_id from runs_modelcall answered
              where answered.cache_key = made.cache_key and not answered.cached
                and answered.lost = ''
              order by answered.id desc limit 1
          )
    ) first on true
    where made.turn = 1
"""  # noqa: S608 - constants of this module

_FALSE_FAILS = f"""
    select run.id, run.project_id, run.created_at from runs_run run
    where {figures.SHADOW_PASSED} and exists (
        select from runs_evaluation beside
        where beside.id = any(%s) and beside.run_id = run.id and beside.purpose = 'shadow'
          and beside.verdict = 'accept' and beside.tier_achieved > 1
    )
"""  # noqa: S608 - constants


@dataclass(frozen=True, slots=True)
class InFull:
    """What an evaluation would have cost and taken with no answer out of the cache."""

    cost_usd: Decimal
    duration_ms: int


@dataclass(frozen=True, slots=True)
class FalseFail:
    """A run that tier 1 alone rejected, and that a judge accepts beside it."""

    run_id: int
    project_id: int
    created_at: datetime


def in_full(evaluation_ids: Collection[int], *, with_calls: bool) -> dict[int, InFull]:
    """By evaluation. `with_calls` False: none of them asked a judge, so there is less to look up."""
    rows = Evaluation.objects.filter(pk__in=list(evaluation_ids))
    counted = rows.annotate(tiers_ms=Sum("tiers__duration_ms")).order_by()
    found = {
        pk: InFull(Decimal(0), max(took, tiers or 0))
        for pk, took, tiers in counted.values_list("pk", "duration_ms", "tiers_ms")
    }
    if with_calls:
        for pk, calls in _calls(evaluation_ids).items():
            found[pk] = _with(found[pk], calls)
    return found


def calls_of(evaluation_ids: Collection[int]) -> defaultdict[int, list[int]]:
    """By evaluation the calls that it came from, also those of tiers that were carried over."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(_CALL_IDS, {"evaluations": list(evaluation_ids)})
        for side, call in cursor.fetchall():
            found[side].append(call)
    return found


def false_fails(evaluation_ids: Collection[int]) -> list[FalseFail]:
    """The runs that these evaluations make candidates, by the definition of the figures."""
    with connection.cursor() as cursor:
        cursor.execute(_FALSE_FAILS, [list(evaluation_ids)])
        return [FalseFail(*row) for row in cursor.fetchall()]


def _calls(evaluation_ids: Collection[int]) -> dict[int, list[tuple[Any, ...]]]:
    found: defaultdict[int, list[tuple[Any, ...]]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(_CALLS, {"evaluations": list(evaluation_ids)})
        for side, *call in cursor.fetchall():
            found[side].append(tuple(call))
    return found


def _with(own: InFull, calls: Sequence[tuple[Any, ...]]) -> InFull:
    """Calls for the same end are made side by side: the longest of them is what they take."""
    longest: defaultdict[tuple[int, str, bool], int] = defaultdict(int)
    cost = own.cost_usd
    for tier, ask, cached, usd, took in calls:
        cost += usd
        longest[tier, ask, cached] = max(longest[tier, ask, cached], took)
    saved = sum(
        max(0, took - longest.get((tier, ask, False), 0))
        for (tier, ask, cached), took in longest.items()
        if cached
    )
    return InFull(cost, own.duration_ms + saved)
