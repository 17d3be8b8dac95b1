"""What PostgreSQL has counted of comparisons, merged from time to time: that changes no figure."""

from __future__ import annotations

from django.db import connection
from django.db.models import Count

from verification.trials.models import Tally

ENOUGH = 200
"""With fewer rows on their own a trial is not worth merging."""
TRIALS_A_TURN = 10
_KEY = "trial_id, origin, old, new, old_again, new_again, diff_class, judged, kind, rules"
_MERGE = f"""
    with gone as (delete from trials_tally where trial_id = %s returning *)
    insert into trials_tally ({_KEY}, summary, count, old_cost_usd, new_cost_usd, is_merged)
    select {_KEY}, min(summary), sum(count), sum(old_cost_usd), sum(new_cost_usd), true
    from gone group by {_KEY}
    having (sum(count), sum(old_cost_usd), sum(new_cost_usd)) <> (0, 0, 0)
"""  # noqa: S608 - constants of this module
"""Of two at once, the second takes what the first has left."""


def sweep() -> int:
    """Merge the rows of trials that have many; return of how many. The relay calls this."""
    waiting = Tally.objects.filter(is_merged=False).values("trial_id").annotate(rows=Count("pk"))
    due = waiting.filter(rows__gte=ENOUGH).order_by("-rows")
    trials = list(due.values_list("trial_id", flat=True)[:TRIALS_A_TURN])
    for trial_id in trials:
        merge(trial_id)
    return len(trials)


def merge(trial_id: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_MERGE, [trial_id])
