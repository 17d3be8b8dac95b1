"""Which past runs a judge is asked about: those that a judge has seen before, or that are pinned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import connection

from processes.definition.model import Phase
from verification.rules.backtest.history import EARLIEST
from verification.rules.backtest.wish import Wish, speaks
from verification.rules.models import Drawn

SIZES = (10, 20, 50, 100, 200)
USUAL_SIZE = 20
MAX_SIZE = SIZES[-1]
LATELY = 2_000
"""Drawn from so many of the newest runs."""
LOOKED_AT = 50_000
"""Among so many of the newest runs a judge may have been asked about none."""

# A run that tier 1 rejected asks no judge whatever the rule says.
_DRAWN = """
    with newest as (
        select run.id, run.uuid, run.created_at, run.tier_achieved from runs_run run
        where run.project_id = %(project)s and run.process_id = %(process)s
          and run.state = 'finished' and run.phase_id = any(%(phases)s)
          and run.created_at >= %(since)s and run.live_evaluation_id is not null
          and (not %(decided)s or run.review_state = 'decided')
          and (not %(pinned)s or run.id in (
              select pin.run_id from rules_pin pin join processes_rule rule on rule.id = pin.rule_id
              where rule.process_id = %(process)s and rule.name = any(%(names)s)
                and pin.removed_at is null
          ))
        order by run.created_at desc, run.id desc
        limit %(looked_at)s
    ), judged as (
        select * from newest where tier_achieved > 1 or %(pinned)s
        order by created_at desc, id desc
        limit %(lately)s
    )
    select id, count(*) over () from judged order by {order} limit %(size)s
"""
_ORDERS = {
    # The same lot falls each time: what was answered before is not paid for again.
    Drawn.BY_LOT: "md5(uuid::text)",
    Drawn.DECIDED: "created_at desc, id desc",
    Drawn.PINNED: "created_at desc, id desc",
}


@dataclass(frozen=True, slots=True)
class Draw:
    """`run_ids` were drawn from `of` runs."""

    run_ids: list[int]
    of: int


def _asked(wish: Wish) -> list[Phase]:
    """Phases in which only the published rule speaks ask nobody."""
    return [
        phase
        for phase in wish.definition.phases
        if phase.id in wish.phase_ids and speaks(wish.definition, wish.rule, phase)
    ]


def draw(wish: Wish, how: Drawn, size: int) -> Draw:
    asked: dict[str, Any] = {
        "project": wish.process.project_id,
        "process": wish.process.pk,
        "phases": [phase.id for phase in _asked(wish)],
        "since": wish.since or EARLIEST,
        "decided": how is Drawn.DECIDED,
        "pinned": how is Drawn.PINNED,
        "names": [wish.rule.name, *wish.names],
        "looked_at": LOOKED_AT,
        "lately": LATELY,
        "size": size,
    }
    with connection.cursor() as cursor:
        cursor.execute(_DRAWN.format(order=_ORDERS[how]), asked)
        rows = cursor.fetchall()
    return Draw([pk for pk, _ in rows], rows[0][1] if rows else 0)
