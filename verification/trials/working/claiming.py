"""Who works on which comparisons: taken in batches, held by a lease, counted.

A row's `claims` is the fencing number too: who comes back with an older one writes nothing. One
that is put off, to ask again a judge that was away, gets a new number with that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import connection, transaction
from django.db.models import Exists, Min, OuterRef, Q, QuerySet
from django.utils import timezone
from psycopg.types.json import Jsonb

from verification.runs import leases
from verification.runs.holding import LeaseLost
from verification.runs.storable import storable
from verification.trials.models import Comparison, Trial, TrialReplay, TrialState
from verification.trials.working import waking
from verification.verifiers.budgets import SHARE_BESIDE_LIVE

MAX_CLAIMS = 3
"""A comparison that was taken so often in vain is one that kills its workers."""
MOST_PUT_OFF = 20
"""With so many put off a judge is away for all, and no further run is begun."""

_WANTED = """
    case when comparison.replay_id is null then trial.state = 'running'
         else not replay.is_cancelled end
"""
_OF = """
    trials_comparison comparison
    join trials_trial trial on trial.id = comparison.trial_id
    left join trials_trialreplay replay on replay.id = comparison.replay_id
"""
_FRESH = """
    comparison.claims = 0 and (%(may_begin)s or comparison.origin = 'corpus')
    order by comparison.replay_id nulls first, comparison.id
"""
_LEFT = """
    comparison.claims > 0 and (comparison.lease_until is null or comparison.lease_until <= %(now)s)
    order by comparison.id
"""
_CLAIM = f"""
    with free as materialized (
        select comparison.id from {_OF}
        where comparison.trial_id = %(trial)s and comparison.compared_at is null and {_WANTED}
          and {{which}} limit %(batch)s
        for update of comparison skip locked
    )
    update trials_comparison set claims = claims + 1, lease_until = %(until)s
    where id in (select id from free)
    returning id, claims, replay_id, run_id, case_version_id, is_aa, asked_again, undecided_since
"""  # noqa: S608 - constants of this module
"""Looked for once: a subquery that the planner runs again for each row finds further ones."""
_HELD = f"""
    select comparison.id from {_OF}
    join unnest(%(ids)s::bigint[], %(claims)s::int[]) as mine (id, claims)
        on mine.id = comparison.id and mine.claims = comparison.claims
    where comparison.compared_at is null and {_WANTED}
"""  # noqa: S608 - constants of this module
_LENGTHEN = """
    update trials_comparison comparison set lease_until = %(until)s
    from unnest(%(ids)s::bigint[], %(claims)s::int[]) as mine (id, claims)
    where mine.id = comparison.id and mine.claims = comparison.claims
      and comparison.compared_at is null and comparison.lease_until is not null
"""
_GIVE_BACK = """
    update trials_comparison comparison
    set lease_until = null, claims = comparison.claims - %(uncounted)s
    from unnest(%(ids)s::bigint[], %(claims)s::int[]) as mine (id, claims)
    where mine.id = comparison.id and mine.claims = comparison.claims
      and comparison.compared_at is null
"""
_PUT_OFF = """
    update trials_comparison comparison
    set claims = comparison.claims + 1, asked_again = asked_again + 1, lease_until = mine.until,
        undecided_since = coalesce(undecided_since, %(since)s)
    from unnest(%(ids)s::bigint[], %(claims)s::int[], %(until)s::timestamptz[])
        as mine (id, claims, until)
    where mine.id = comparison.id and mine.claims = comparison.claims
      and comparison.compared_at is null
"""
_COLUMNS: Mapping[str, tuple[str, Any]] = {
    "error_text": ("text", ""),
    "old_evaluation_id": ("bigint", None),
    "new_evaluation_id": ("bigint", None),
    "old_observed": ("jsonb", {}),
    "new_observed": ("jsonb", {}),
    "old": ("text", ""),
    "new": ("text", ""),
    "old_reason": ("text", ""),
    "new_reason": ("text", ""),
    "old_again": ("text", ""),
    "new_again": ("text", ""),
    "old_cost_usd": ("numeric", "0"),
    "new_cost_usd": ("numeric", "0"),
    "old_ms": ("int", 0),
    "new_ms": ("int", 0),
    "has_failed": ("boolean", False),
    "diff_class": ("text", ""),
    "finer": ("text[]", []),
    "rules": ("text[]", []),
    "summary": ("text", ""),
    "kind": ("text", ""),
    "judged": ("text", ""),
}
"""What working on a comparison can come to: the type of each column, and what it is else."""
_STORE = f"""
    update trials_comparison as comparison set
        compared_at = %(now)s, lease_until = null,
        judged_at = case when new.judged = '' then null else %(now)s end,
        {", ".join(f"{name} = new.{name}" for name in _COLUMNS)}
    from jsonb_to_recordset(%(rows)s) as new (
        id bigint, claims int, {", ".join(f"{name} {kind}" for name, (kind, _) in _COLUMNS.items())}
    )
    where comparison.id = new.id and comparison.claims = new.claims
      and comparison.compared_at is null
    returning comparison.id
"""  # noqa: S608 - constants of this module


@dataclass(frozen=True, slots=True)
class Claimed:
    """One comparison, to be made by who claimed it.

    `asked_again`: how often it was put off, the first time at `undecided_since`.
    """

    pk: int
    claims: int
    replay_id: int | None
    run_id: int | None
    case_version_id: int | None
    is_aa: bool
    asked_again: int = 0
    undecided_since: datetime | None = None

    @property
    def in_vain(self) -> int:
        """How often it was taken, and neither put off nor stored."""
        return self.claims - 2 * self.asked_again

    @property
    def is_lost(self) -> bool:
        return self.in_vain > MAX_CLAIMS

    @property
    def is_hopeless(self) -> bool:
        """It could not be stored as doubt either."""
        return self.in_vain > MAX_CLAIMS + 1


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """What a worker has claimed at a time. The heart lengthens its lease."""

    trial_id: int
    claimed: Sequence[Claimed]

    def lengthen(self) -> None:
        now = timezone.now()
        given = {**_named(self.claimed), "until": leases.until(now)}
        with transaction.atomic():
            Trial.objects.filter(pk=self.trial_id).update(next_at=now + waking.AGAIN)
            with connection.cursor() as cursor:
                cursor.execute(_LENGTHEN, given)
                if not cursor.rowcount:
                    raise LeaseLost(f"trial {self.trial_id}")


@dataclass(frozen=True, slots=True)
class ComparisonHold:
    """A comparison's claim, for the evaluations beside its run. What they cost is the trial's."""

    trial_id: int
    claimed: Claimed

    @property
    def share_of_day(self) -> Decimal:
        return SHARE_BESIDE_LIVE

    def check(self) -> None:
        """Inside a transaction it stays so until that ends. Also lost: the budget is spent."""
        if not held(self.trial_id, [self.claimed], within_budget=True):
            raise LeaseLost(f"comparison {self.claimed.pk} claim {self.claimed.claims}")

    def add_cost(self, evaluation_id: int, usd: Decimal) -> bool | None:
        if usd:
            with connection.cursor() as cursor:
                cursor.execute(
                    "update trials_trial set cost_usd = cost_usd + %s where id = %s",
                    [usd, self.trial_id],
                )
        with connection.cursor() as cursor:
            cursor.execute(
                "update runs_evaluation set cost_usd = cost_usd + %s where id = %s",
                [usd, evaluation_id],
            )
            if not cursor.rowcount:
                return None
        return bool(held(self.trial_id, [self.claimed]))


def claim(trial_id: int, *, batch: int) -> list[Claimed]:
    """Take waiting comparisons; empty: none can be had now. Each is had by one worker alone."""
    now = timezone.now()
    Trial.objects.filter(pk=trial_id).update(next_at=now + waking.AGAIN)
    given: dict[str, Any] = {
        "trial": trial_id,
        "now": now,
        "until": leases.until(now),
        "may_begin": put_off_of(trial_id)[:MOST_PUT_OFF].count() < MOST_PUT_OFF,
    }
    # What killed a worker once is taken alone, so that it takes no other with it.
    for which, limit in ((_FRESH, batch), (_LEFT, 1)):
        with connection.cursor() as cursor:
            cursor.execute(_CLAIM.format(which=which), {**given, "batch": limit})
            rows = cursor.fetchall()
        if rows:
            return sorted((Claimed(*row) for row in rows), key=lambda one: one.pk)
    return []


def held(
    trial_id: int,
    claimed: Sequence[Claimed],
    *,
    within_budget: bool = False,
    for_storing: bool = False,
) -> set[int]:
    """Those of them that are still wanted from us; inside a transaction they stay so.

    `for_storing` locks them against everybody else.
    """
    which = "and (trial.budget_usd is null or trial.cost_usd < trial.budget_usd)"
    lock = "for update of comparison" if for_storing else "for share of comparison"
    statement = f"{_HELD} {which if within_budget else ''} order by comparison.id {lock}"
    with connection.cursor() as cursor:
        cursor.execute(statement, _named(claimed))
        return {row[0] for row in cursor.fetchall()}


def store(rows: Sequence[Mapping[str, Any]]) -> set[int]:
    """Write what came of claimed comparisons: `{column: value}` with `id` and `claims`.

    Those that were ours still are returned.
    """
    usual = {name: value for name, (_, value) in _COLUMNS.items()}
    given: dict[str, Any] = {
        "now": timezone.now(),
        "rows": Jsonb([{**usual, **storable(dict(row))} for row in rows]),
    }
    with connection.cursor() as cursor:
        cursor.execute(_STORE, given)
        return {row[0] for row in cursor.fetchall()}


def give_back(claimed: Sequence[Claimed], *, is_untouched: bool = True) -> None:
    """Free for another: as if it had not been taken, or else as one that is taken alone."""
    given = {**_named(claimed), "uncounted": int(is_untouched)}
    with connection.cursor() as cursor:
        cursor.execute(_GIVE_BACK, given)


def put_off(these: Sequence[tuple[Claimed, datetime]], *, since: datetime | None) -> None:
    """Have comparisons taken again at a time of their own; `since`: a judge is away."""
    until = [at for _, at in these]
    given = {**_named([one for one, _ in these]), "until": until, "since": since}
    with connection.cursor() as cursor:
        cursor.execute(_PUT_OFF, given)


def put_off_of(trial_id: int) -> QuerySet[Comparison]:
    return Comparison.objects.filter(
        trial=trial_id, compared_at__isnull=True, asked_again__gt=0
    ).order_by()


def rest(trial_id: int) -> None:
    """Nothing can be had: say when the trial is looked at again, and end what is over.

    What nobody wants any more goes; a trial without anything that waits sleeps until it is woken.
    """
    with transaction.atomic():
        trial = Trial.objects.select_for_update().filter(pk=trial_id).first()
        if trial is None:
            return
        waiting = Comparison.objects.filter(trial=trial, compared_at__isnull=True)
        forget_unwanted(trial)
        first = waiting.aggregate(at=Min("lease_until"))["at"]
        soon = timezone.now() + waking.AGAIN
        # A judge may be waited for much longer than that, and new runs need not.
        is_free = waiting.filter(lease_until=None).exists()
        again = min(first or soon, soon) if is_free else first or soon
        Trial.objects.filter(pk=trial_id).update(next_at=again if waiting.exists() else None)
    finish_replays(trial_id)


def forget_unwanted(trial: Trial) -> None:
    """Delete what waits for a trial that has stopped, or for a replay that was cancelled."""
    unwanted = Q(replay__is_cancelled=True)
    if trial.state != TrialState.RUNNING:
        unwanted |= Q(replay__isnull=True)
    Comparison.objects.filter(unwanted, trial=trial, compared_at__isnull=True).delete()


def finish_replays(trial_id: int) -> None:
    """Call it after the transaction that stored the last comparison: of two, the later sees both."""
    waiting = Comparison.objects.filter(replay=OuterRef("pk"), compared_at__isnull=True)
    over = TrialReplay.objects.filter(~Exists(waiting), trial=trial_id, finished_at__isnull=True)
    over.update(finished_at=timezone.now())


def _named(claimed: Sequence[Claimed]) -> dict[str, Any]:
    return {"ids": [one.pk for one in claimed], "claims": [one.claims for one in claimed]}
