"""What is known of runs before anything is evaluated beside them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from django.db import connection

from processes.selectors import definition_of
from verification.engine.floors import tier_of
from verification.engine.outcome import Purpose
from verification.runs import casting
from verification.runs.models import Evaluation

_LOOK = """
    select run.id, run.process_version_id, run.phase_id, run.tier_requested,
           coalesce((submission.body ->> 'tier')::int, 0), pg_column_size(submission.body),
           live.id, live.verifier_version_id, live.process_version_id
    from runs_run run
    join runs_submission submission on submission.run_id = run.id
    join runs_evaluation live on live.id = run.live_evaluation_id
    where run.id = any(%s)
"""


@dataclass(frozen=True, slots=True)
class Looked:
    """A run that is over. `tier_asked` is what its submitter asked for, 0 for nothing.

    `weight` is the size of its submission in bytes, compressed. `live_*` is the evaluation that
    counts.
    """

    run_id: int
    process_version_id: int
    phase_id: str
    tier_requested: int
    tier_asked: int
    weight: int
    live_id: int
    live_verifier_id: int
    live_process_version_id: int

    def tier(self, process_version_id: int) -> int:
        """Return the tier of the run under a version of the process."""
        if process_version_id == self.process_version_id:
            return self.tier_requested
        phase = definition_of(process_version_id).phase(self.phase_id)
        return tier_of(phase, self.tier_asked) if phase else self.tier_requested


@dataclass(frozen=True, slots=True)
class Wanted:
    """One evaluation that is to stand beside a run's own.

    `seq` is odd on the old side, even on the new one: 1 and 2, then 3 and 4 where they are asked
    again. `after` is the evaluation that left its side in doubt: its tiers are carried over.
    """

    run_id: int
    trial_id: int
    purpose: Purpose
    seq: int
    verifier_version_id: int
    process_version_id: int
    after: int | None = None

    @property
    def key(self) -> Key:
        return self.run_id, self.purpose, self.seq


Key = tuple[int, Purpose, int]
"""Names an evaluation among those of one trial."""


@dataclass(frozen=True, slots=True)
class BegunBefore:
    """An evaluation that another worker has begun, or has finished."""

    evaluation_id: int
    uuid: UUID
    is_finished: bool
    wanted: Wanted


def look(run_ids: Collection[int]) -> dict[int, Looked]:
    """Those that are still there, by their ids."""
    with connection.cursor() as cursor:
        cursor.execute(_LOOK, [list(run_ids)])
        return {row[0]: Looked(*row) for row in cursor.fetchall()}


def begun_before(trial_id: int, run_ids: Iterable[int]) -> dict[Key, BegunBefore]:
    rows = Evaluation.objects.filter(trial_id=trial_id, run__in=list(run_ids)).values_list(
        "pk", "uuid", "finished_at", "run_id", "purpose", "seq", "verifier_version_id",
        "process_version_id",
    )  # fmt: skip
    found = [
        BegunBefore(
            pk, uuid, at is not None,
            Wanted(run, trial_id, Purpose(purpose), seq, verifier, process),
        )
        for pk, uuid, at, run, purpose, seq, verifier, process in rows
    ]  # fmt: skip
    return {one.wanted.key: one for one in found}


@lru_cache(maxsize=256)
def has_judges(verifier_version_id: int) -> bool:
    """Whether a verifier version names a judge: what asks none is told at once, and never paid."""
    return casting.verifier_spec(verifier_version_id).models.is_configured
