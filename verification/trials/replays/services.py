"""A trial is taken over past runs or over the golden corpus here; workers do the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from loomverify.accounts.access import Access
from loomverify.accounts.audit import record
from loomverify.accounts.models import Role
from loomverify.errors import Conflict, InputError, NotFound
from verification.golden.replays.selectors import Pinned, asked_for
from verification.golden.replays.services import check_tags
from verification.trials.models import Comparison, Origin, Trial, TrialReplay
from verification.trials.queueing import COLUMNS, UNCOMPARED, queue_runs
from verification.trials.replays import selectors
from verification.trials.working import waking

DEFAULT_LIMIT, MAX_LIMIT = 1_000, 10_000
MAX_CANCEL_TEXT = 500
MAX_OPEN = 5
"""Replays of one trial that are not over yet."""
EARLIEST_YEAR, LATEST_YEAR = 2, 9998
"""In any zone: beyond them a time is stored that nobody can read again."""
NEWEST_FIRST = "run.finished_at desc, run.id desc"
_PAST = """
    (%(since)s::timestamptz is null or run.finished_at >= %(since)s)
    and (%(until)s::timestamptz is null or run.finished_at < %(until)s)
    and (%(phase)s = '' or run.phase_id = %(phase)s)
"""
_QUEUE_CASES = f"""
    insert into trials_comparison ({COLUMNS})
    select gen_random_uuid(), %(trial)s, %(replay)s, %(origin)s, null::bigint, taken.version,
           found.process, found.phase, found.name, false, {UNCOMPARED}
    from unnest(%(cases)s::bigint[], %(versions)s::bigint[]) as taken (pk, version)
    join golden_goldencase found on found.id = taken.pk
    order by found.name
"""  # noqa: S608 - constants of our own


@dataclass(frozen=True, slots=True)
class Past:
    """Which past runs: those that finished since then and until then, newest first."""

    since: datetime | None = None
    until: datetime | None = None
    limit: int = DEFAULT_LIMIT
    phase: str = ""

    def check(self) -> None:
        """Raises `InputError`: `trial_replay.limit`; `trial_replay.span`."""
        if not 1 <= self.limit <= MAX_LIMIT:
            raise InputError(
                "trial_replay.limit",
                f"Between 1 and {MAX_LIMIT:,} past runs are taken at once.",
                loc=("body", "limit"),
            )
        for name, moment in (("since", self.since), ("until", self.until)):
            if moment and not EARLIEST_YEAR <= moment.year <= LATEST_YEAR:
                raise InputError(
                    "trial_replay.span",
                    f"Name a year from {EARLIEST_YEAR} to {LATEST_YEAR}.",
                    loc=("body", name),
                )
        if self.since and self.until and self.since >= self.until:
            raise InputError(
                "trial_replay.span", "It ends before it begins.", loc=("body", "until")
            )


def start_past(
    *,
    access: Access,
    trial: Trial,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int = DEFAULT_LIMIT,
    phase: str = "",
) -> TrialReplay:
    """Take a trial over past runs, newest first; a trial that is over may look back too.

    Runs that the trial has compared, or is about to, are left out. With nothing left to compare
    the replay is over at once.

    Raises:
        InputError: `trial_replay.limit`; `trial_replay.span`.
        Conflict: `trial.budget_spent`; `trial_replay.too_many` are not over yet.
    """
    access.need(Role.EDITOR)
    past = Past(since, until, limit, phase)
    past.check()
    with transaction.atomic():
        trial = _locked(access, trial)
        _refuse_spent(trial)
        replay = TrialReplay(origin=Origin.PAST, since=since, until=until)
        _store(replay, trial, access)
        given = {"since": since, "until": until, "phase": phase, "limit": limit}
        count = queue_runs(trial, _PAST, given, replay=replay, order=NEWEST_FIRST)
        return _under_way(replay, count, access)


def start_corpus(
    *, access: Access, trial: Trial, tags: Sequence[str] = (), with_canary: bool = False
) -> TrialReplay:
    """Take a trial over the golden corpus: recorded replies stand in for judges, nothing is paid.

    Raises:
        InputError: `replay.tags`.
        Conflict: `trial_replay.too_many` are not over yet.
    """
    access.need(Role.EDITOR)
    check_tags(tags)
    with transaction.atomic():
        trial = _locked(access, trial)
        published = _published(trial)
        cases = asked_for(access.project, tags=tuple(dict.fromkeys(tags)), with_canary=with_canary)
        replay = TrialReplay(origin=Origin.CORPUS, process_versions=published)
        _store(replay, trial, access)
        count = _queue_cases(replay, _fitting(trial, cases, published))
        return _under_way(replay, count, access)


def cancel(*, access: Access, trial: Trial, replay: UUID, why: str = "") -> bool:
    """Cancel a replay; what was compared stays, what waits goes. False: it was over already.

    `why`: a sentence; usually who cancelled it.
    """
    access.need(Role.EDITOR)
    found = selectors.replay_of(access.project, trial, replay)
    said = (why or f"{access.actor.name} cancelled it.")[:MAX_CANCEL_TEXT]
    with transaction.atomic():
        open_ones = TrialReplay.objects.filter(pk=found.pk, finished_at__isnull=True)
        now = timezone.now()
        won = open_ones.update(is_cancelled=True, cancel_text=said, finished_at=now)
        if won:
            Comparison.objects.filter(replay=found, compared_at__isnull=True).delete()
            record(
                access.actor, "trial_replay.cancelled", found, project=access.project, reason=why
            )
    return bool(won)


def _locked(access: Access, trial: Trial) -> Trial:
    """The trial as it is now; of two replays that start at once, the second sees the first."""
    rows = Trial.objects.select_for_update().filter(project=access.project)
    found = rows.filter(pk=trial.pk).first()
    if found is None:
        raise NotFound("trial.unknown", "This project has no such trial.")
    if TrialReplay.objects.filter(trial=found, finished_at__isnull=True).count() >= MAX_OPEN:
        raise Conflict(
            "trial_replay.too_many",
            f"{MAX_OPEN} replays of this trial are not over yet: wait, or cancel one.",
        )
    return found


def _refuse_spent(trial: Trial) -> None:
    if trial.budget_usd is not None and trial.cost_usd >= trial.budget_usd:
        raise Conflict(
            "trial.budget_spent",
            f"The trial's budget of {trial.budget_usd.normalize():f} USD is spent.",
        )


def _store(replay: TrialReplay, trial: Trial, access: Access) -> None:
    replay.trial, replay.created_by = trial, access.actor.name[:200]
    replay.save()


def _under_way(replay: TrialReplay, count: int, access: Access) -> TrialReplay:
    """Its comparisons are there: workers are woken for them, if there are any."""
    now = timezone.now()
    replay.total, replay.finished_at = count, None if count else now
    replay.save(update_fields=["total", "finished_at"])
    record(access.actor, "trial_replay.started", replay, project=access.project)
    if count:
        Trial.objects.filter(pk=replay.trial_id).update(next_at=now + waking.AGAIN)
        transaction.on_commit(waking.waker(replay.trial_id, count))
    return replay


def _queue_cases(replay: TrialReplay, cases: Iterable[Pinned]) -> int:
    taken = [(one.case, one.version) for one in cases]
    given: dict[str, Any] = {
        "trial": replay.trial_id,
        "replay": replay.pk,
        "origin": replay.origin,
        "cases": [case for case, _ in taken],
        "versions": [version for _, version in taken],
    }
    with connection.cursor() as cursor:
        cursor.execute(_QUEUE_CASES, given)
        return int(cursor.rowcount)


def _published(trial: Trial) -> dict[str, int]:
    rows = trial.project.processes.filter(published__isnull=False)
    return dict(rows.values_list("slug", "published_id"))


def _fitting(trial: Trial, cases: Iterable[Pinned], published: dict[str, int]) -> list[Pinned]:
    """Those that both sides have a process for. One of its own no version can change."""
    versions = [trial.baseline_process_version, trial.candidate_process_version]
    known = {*published, *([trial.process.slug] if trial.process and all(versions) else ())}
    return [
        one
        for one in cases
        if trial.process is None or trial.process.slug == one.process
        if (not any(versions) if one.has_own_process else one.process in known)
    ]
