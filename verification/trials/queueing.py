"""Runs become comparisons that wait: one statement, whatever brings them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import connection

from verification.trials.drawing import Draw, drawn_sql
from verification.trials.models import Origin, Trial, TrialReplay

COLUMNS = """
    uuid, trial_id, replay_id, origin, run_id, case_version_id, process, phase, title, is_aa,
    claims, asked_again, error_text, old_observed, new_observed, old, new, old_reason, new_reason,
    old_again, new_again, old_cost_usd, new_cost_usd, old_ms, new_ms, has_failed, diff_class, finer,
    rules, summary, kind, judged, created_at
"""
UNCOMPARED = """
    0, 0, '', '{}', '{}', '', '', '', '', '', '', 0, 0, 0, 0, false, '', '{}', '{}', '', '', '',
    now()
"""
"""What the columns after `is_aa` hold until two sides are compared."""
_QUEUE = """
    insert into trials_comparison ({columns}, run_key)
    select gen_random_uuid(), %(trial)s, %(replay)s, %(origin)s, run.id, null::bigint,
           process.slug, run.phase_id, task.external_id, {is_aa}, {uncompared}, run.id
    from (
        select run.* from runs_run run
        where run.project_id = %(project)s and run.state = 'finished'
          and run.live_evaluation_id is not null
          and (%(process)s::bigint is null or run.process_id = %(process)s)
          and not exists (
              select from trials_comparison known
              where known.trial_id = %(trial)s and known.run_id = run.id
          )
          and run.process_version_id is distinct from %(alike)s
          and {which}
        order by {order}
        limit %(limit)s
    ) run
    join processes_process process on process.id = run.process_id
    join runs_task task on task.id = run.task_id
    order by {order}
    on conflict do nothing
"""


def queue_runs(
    trial: Trial,
    which: str,
    values: Mapping[str, Any],
    *,
    replay: TrialReplay | None = None,
    order: str = "run.finished_at, run.id",
    limit: int | None = None,
) -> int:
    """Put finished runs of the trial's project and process in its queue; return how many.

    `which` is a condition on `run` in SQL with the named `values`. A run that the trial has
    already is left where it is, and so is one that both sides would judge by the same version.
    They are taken in `order`, and compared in it.
    """
    is_aa = drawn_sql(trial="%(uuid)s", run="run.uuid", rate="%(aa_rate)s", draw=Draw.AA)
    statement = _QUEUE.format(
        columns=COLUMNS, uncompared=UNCOMPARED, is_aa=is_aa, which=which, order=order
    )
    given = {
        "trial": trial.pk,
        "uuid": trial.uuid,
        "aa_rate": trial.aa_rate,
        "project": trial.project_id,
        "process": trial.process_id,
        "alike": _alike(trial),
        "replay": replay.pk if replay else None,
        "origin": replay.origin if replay else Origin.LIVE,
        "limit": limit,
        **values,
    }
    with connection.cursor() as cursor:
        cursor.execute(statement, given)
        return int(cursor.rowcount)


def _alike(trial: Trial) -> int | None:
    """The version of which a run would be held against itself; None: of none."""
    if trial.baseline_verifier_id != trial.candidate_verifier_id:
        return None
    named = {trial.baseline_process_version_id, trial.candidate_process_version_id} - {None}
    return named.pop() if len(named) == 1 else None
