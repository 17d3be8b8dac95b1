"""The end of a replay: what changed, counted, and told to whoever asked to hear of it."""

from __future__ import annotations

import logging
from collections import defaultdict

from django.db import transaction
from django.db.models import Min, Sum
from django.utils import timezone

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.audit import record
from verification.engine.golden.standing import Before, Change, Standing, change_of
from verification.golden.models import (
    OPEN_STATES,
    Replay,
    ReplayPurpose,
    ReplayResult,
    ReplayState,
)
from verification.golden.replays import waking
from verification.golden.replays.before import before
from verification.golden.replays.events import regressed

logger = logging.getLogger(__name__)

TOLD_OF = (ReplayPurpose.NIGHTLY, ReplayPurpose.CI)
"""Replays that nobody watches: what regressed in them is told."""


def finish(replay_id: int) -> bool:
    """End a replay whose last case is done, in one transaction. False: it goes on, or is over.

    Of the workers that come here at once, one ends it.
    """
    with transaction.atomic():
        rows = Replay.objects.select_for_update(of=("self",)).select_related(
            "project", "verifier_version"
        )
        replay = rows.filter(pk=replay_id, state__in=OPEN_STATES).first()
        if replay is None or _goes_on(replay):
            return False
        counts = _enter_changes(replay)
        replay.counts = counts
        replay.stale_share = _stale_share(replay)
        replay.state, replay.next_at = ReplayState.FINISHED, None
        replay.finished_at = timezone.now()
        replay.save(update_fields=["counts", "stale_share", "state", "next_at", "finished_at"])
        record(SYSTEM, "replay.finished", replay, project=replay.project)
        if counts[Change.REGRESSED] and replay.purpose in TOLD_OF:
            regressed(replay)
        waking.tell(replay.uuid)
    logger.info("replay_finished replay=%s cases=%s counts=%s", replay_id, replay.total, counts)
    return True


def _goes_on(replay: Replay) -> bool:
    """Whether others still work on it; then it is looked at again when the first lease ends."""
    waiting = ReplayResult.objects.filter(replay=replay, replayed_at__isnull=True)
    if not waiting.exists():
        return False
    first = waiting.filter(lease_until__isnull=False).aggregate(at=Min("lease_until"))["at"]
    at = first or timezone.now() + waking.AGAIN
    Replay.objects.filter(pk=replay.pk).update(next_at=at)
    return True


def _enter_changes(replay: Replay) -> dict[str, int]:
    past, found = before(replay), defaultdict(list)
    rows = ReplayResult.objects.filter(replay=replay)
    for pk, version, standing in rows.values_list("pk", "case_version_id", "standing"):
        found[change_of(Standing(standing), past.get(version, Before()))].append(pk)
    for change, pks in found.items():
        rows.filter(pk__in=pks).update(change=change)
    return {change.value: len(found[change]) for change in Change}


def _stale_share(replay: Replay) -> float | None:
    """Of all questions that were asked, 0 to 1; None where none was."""
    rows = ReplayResult.objects.filter(replay=replay)
    asked = rows.aggregate(questions=Sum("questions"), stale=Sum("stale"))
    return asked["stale"] / asked["questions"] if asked["questions"] else None
