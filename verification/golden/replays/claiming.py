"""Who works on which cases of a replay: taken in batches, held by a lease, counted.

A row's `claims` is the fencing number too: who comes back with an older one writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone
from psycopg.types.json import Jsonb

from verification.golden.models import OPEN_STATES, Replay, ReplayResult, ReplayState
from verification.golden.replays.waking import AGAIN
from verification.runs import worker
from verification.runs.storable import storable

LEASES = 2
"""A case is held for so many times the lease of a run."""
MAX_CLAIMS = 3
"""A case that was taken so often in vain is one that kills its workers."""

_FRESH = "claims = 0 order by id limit %(batch)s"
_LEFT = "claims > 0 and lease_until <= %(now)s order by id limit 1"
"""What killed a worker once is taken alone, so that it takes no other case with it."""
_CLAIM = """
    with free as materialized (
        select id from golden_replayresult
        where replay_id = %(replay)s and replayed_at is null and {which}
        for update skip locked
    )
    update golden_replayresult set claims = claims + 1, lease_until = %(until)s
    where id in (select id from free)
    returning id, case_version_id, process_version_id, claims
"""
"""Looked for once: a subquery that the planner runs again for each row finds further ones."""
_STORE = """
    update golden_replayresult as result set
        replayed_at = %(now)s, lease_until = null,
        standing = new.standing, outcome = new.outcome, verdict = new.verdict,
        reason_code = new.reason_code, observed = new.observed, differences = new.differences,
        legacy = new.legacy, played = new.played, questions = new.questions, stale = new.stale,
        missing = new.missing, error_text = new.error_text, duration_ms = new.duration_ms
    from jsonb_to_recordset(%(rows)s) as new (
        id bigint, claims int, standing text, outcome text, verdict text, reason_code text,
        observed jsonb, differences jsonb, legacy jsonb, played jsonb, questions int, stale int,
        missing int, error_text text, duration_ms int
    )
    where result.id = new.id and result.claims = new.claims and result.replayed_at is null
"""


class ReplayOver(Exception):
    """It was cancelled, or another worker has finished it: nothing more is written for it."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """One case, to be replayed by who claimed it."""

    pk: int
    version: int
    process_version: int | None
    claims: int


def claim(replay_id: int, *, batch: int) -> list[Claimed]:
    """Take waiting cases; empty: none can be had now. Each is had by one worker alone."""
    now = timezone.now()
    given: dict[str, Any] = {
        "replay": replay_id,
        "batch": batch,
        "now": now,
        "until": lease_until(now),
    }
    for which in (_FRESH, _LEFT):
        with connection.cursor() as cursor:
            cursor.execute(_CLAIM.format(which=which), given)
            rows = cursor.fetchall()
        if rows:
            return sorted((Claimed(*row) for row in rows), key=lambda one: one.pk)
    return []


def begin(replay_id: int) -> Replay | None:
    """The replay, now under way. None: it is over."""
    now = timezone.now()
    rows = Replay.objects.filter(pk=replay_id, state__in=OPEN_STATES)
    rows.filter(state=ReplayState.QUEUED).update(state=ReplayState.RUNNING, started_at=now)
    related = ("project", "verifier_version", "process")
    return rows.select_related(*related).first()


def hold(replay_id: int, one: Claimed, *, longer: float) -> None:
    """Lengthen the lease of a case that takes long, by so many seconds more than usual.

    Raises:
        ReplayOver: there is nobody to replay for.
    """
    now = timezone.now()
    with transaction.atomic():
        _keep(replay_id, now)
        rows = ReplayResult.objects.filter(pk=one.pk, claims=one.claims, replayed_at=None)
        rows.update(lease_until=lease_until(now, longer=longer))


def store(replay_id: int, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write what came of claimed cases, all at once: `{column: value}` with `id` and `claims`.

    Raises:
        ReplayOver: there is nobody to replay for.
    """
    now = timezone.now()
    with transaction.atomic():
        _keep(replay_id, now)
        given: dict[str, Any] = {"now": now, "rows": Jsonb(storable(list(rows)))}
        with connection.cursor() as cursor:
            cursor.execute(_STORE, given)


def add_cost(replay_id: int, usd: Decimal) -> None:
    Replay.objects.filter(pk=replay_id).update(cost_usd=F("cost_usd") + usd)


def give_back(claimed: Sequence[Claimed]) -> None:
    """What was not begun is free for another, as if it had not been taken."""
    for one in claimed:
        rows = ReplayResult.objects.filter(pk=one.pk, claims=one.claims, replayed_at=None)
        rows.update(claims=one.claims - 1, lease_until=None)


def lease_until(now: datetime, *, longer: float = 0) -> datetime:
    """An operator's own verifiers may take long: each case calls them twice at most."""
    own = worker.custom()
    longest = 2 * own.seconds if own.names() else 0
    return now + timedelta(seconds=LEASES * settings.RUN_LEASE_SECONDS + longest + longer)


def _keep(replay_id: int, now: datetime) -> None:
    """Locks the replay's row until the transaction ends: workers store one after another."""
    rows = Replay.objects.filter(pk=replay_id, state__in=OPEN_STATES)
    if not rows.update(next_at=now + AGAIN):
        raise ReplayOver(f"replay {replay_id}")
