"""Past runs and what was found in them, read in pages: the newest are told of first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from processes.definition.model import Definition, Enforcement
from verification.engine.backtest import Past
from verification.engine.finding import SWITCHED_OFF, Finding
from verification.engine.outcome import FindingVerdict, Outcome, Source, Verdict
from verification.rules.backtest.wish import Wish
from verification.runs.casting import verifier_spec

PAGE = 1_000

_RUN = """
    select run.id, run.uuid, run.phase_id, run.live_evaluation_id, run.outcome, run.verdict,
           case when run.review_state = 'decided' then run.final_outcome else '' end,
           evaluation.verifier_version_id,
           run.tier_achieved >= run.tier_requested and evaluation.claim_list = '[]'::jsonb,
           task.external_id, run.created_at, run.review_state = 'not_required'
    from runs_run run
    join runs_evaluation evaluation on evaluation.id = run.live_evaluation_id
    join runs_task task on task.id = run.task_id
"""
RUNS = f"""
    {_RUN}
    where run.project_id = %(project)s and run.process_id = %(process)s
      and run.state = 'finished' and run.phase_id = any(%(phases)s)
      and run.created_at >= %(since)s
      and (run.created_at, run.id) < (%(until)s, %(last)s)
    order by run.created_at desc, run.id desc
    limit %(page)s
"""
THESE = f"{_RUN} where run.id = any(%s) order by run.created_at desc, run.id desc"
COUNT = """
    select count(*) from (
        select from runs_run run
        where run.project_id = %(project)s and run.process_id = %(process)s
          and run.state = 'finished' and run.phase_id = any(%(phases)s)
          and run.created_at >= %(since)s and run.live_evaluation_id is not null
        limit %(page)s
    ) counted
"""
# What makes no difference to an outcome is no difference here.
FOUND = """
    select distinct evaluation_id, rule = any(%(names)s), enforcement, verdict, reason_code,
           coalesce((place->>%(off)s)::boolean, false)
    from runs_finding
    where evaluation_id = any(%(evaluations)s) and verdict != 'satisfied'
"""
SPOKE = """
    select distinct evaluation_id from runs_finding
    where evaluation_id = any(%(evaluations)s) and rule = any(%(names)s)
"""
EARLIEST = datetime.fromisoformat("0001-01-01T00:00:00+00:00")
LATEST = datetime.fromisoformat("9999-12-31T00:00:00+00:00")
BAD = Outcome.FAIL


@dataclass(frozen=True, slots=True)
class PastRun:
    """`label` is a person's outcome, '' where nobody decided.

    `is_climbed`: no tier and no claim was left unasked.
    """

    pk: int
    uuid: UUID
    phase_id: str
    evaluation_id: int
    outcome: str
    verdict: str
    label: str
    verifier_version_id: int
    is_climbed: bool
    task: str
    created_at: datetime
    is_unasked: bool
    """No person was asked about it."""

    @property
    def is_good(self) -> bool | None:
        return self.label != BAD if self.label else None


def pages(wish: Wish) -> Iterator[list[PastRun]]:
    """Yield runs, newest first, up to the wish's limit; small pages first."""
    until, last, left, page = LATEST, 2**62, wish.limit, 100
    while left > 0:
        asked = _asked(wish, until=until, last=last, page=min(page, left))
        with connection.cursor() as cursor:
            cursor.execute(RUNS, asked)
            found = [PastRun(*row) for row in cursor.fetchall()]
        if found:
            yield found
            until, last = found[-1].created_at, found[-1].pk
        if len(found) < min(page, left):
            return
        left -= len(found)
        page = PAGE


def these(run_ids: Collection[int]) -> list[PastRun]:
    """Those that are still there, newest first."""
    with connection.cursor() as cursor:
        cursor.execute(THESE, [list(run_ids)])
        return [PastRun(*row) for row in cursor.fetchall()]


def count(wish: Wish) -> int:
    """How many runs there are to try, up to the wish's limit."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT, _asked(wish, page=wish.limit))
        return int(cursor.fetchone()[0])


def _asked(wish: Wish, *, page: int, until: datetime = LATEST, last: int = 2**62) -> dict[str, Any]:
    return {
        "project": wish.process.project_id,
        "process": wish.process.pk,
        "phases": list(wish.phase_ids),
        "since": wish.since or EARLIEST,
        "until": until,
        "last": last,
        "page": page,
    }


def spoke(runs: Sequence[PastRun], names: Sequence[str]) -> set[int]:
    """The evaluations in which a rule of these names found something."""
    with connection.cursor() as cursor:
        cursor.execute(
            SPOKE, {"evaluations": [run.evaluation_id for run in runs], "names": list(names)}
        )
        return {evaluation for (evaluation,) in cursor.fetchall()}


def pasts(
    runs: Collection[PastRun], names: Sequence[str], definition: Definition
) -> dict[int, Past]:
    """What is known of runs, by their ids."""
    own_verifier = {phase.id for phase in definition.phases if phase.custom_verifier}
    own: defaultdict[int, list[Finding]] = defaultdict(list)
    others: defaultdict[int, list[Finding]] = defaultdict(list)
    asked: dict[str, Any] = {
        "evaluations": [run.evaluation_id for run in runs],
        "names": list(names),
        "off": SWITCHED_OFF,
    }
    with connection.cursor() as cursor:
        cursor.execute(FOUND, asked)
        for evaluation, is_own, *said in cursor.fetchall():
            (own if is_own else others)[evaluation].append(_finding(*said))
    return {
        run.pk: _past(
            run,
            own[run.evaluation_id],
            others[run.evaluation_id],
            is_climbed=run.is_climbed and run.phase_id not in own_verifier,
        )
        for run in runs
    }


def _past(
    run: PastRun, own: Sequence[Finding], others: Sequence[Finding], *, is_climbed: bool
) -> Past:
    return Past(
        result=(Outcome(run.outcome), Verdict(run.verdict)),
        own=own,
        others=others,
        flags=verifier_spec(run.verifier_version_id).flags,
        is_good=run.is_good,
        is_climbed=is_climbed,
    )


def _finding(enforcement: str, verdict: str, reason_code: str, off: bool) -> Finding:
    return Finding(
        rule="",
        reason_code=reason_code,
        message="",
        enforcement=Enforcement(enforcement),
        verdict=FindingVerdict(verdict),
        source=Source.DETERMINISTIC,
        place={SWITCHED_OFF: True} if off else {},
    )
