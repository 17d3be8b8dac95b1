"""Which comparisons people are asked about."""

from __future__ import annotations

from typing import Final

from django.db.models import Q

from verification.engine.outcome import Verdict
from verification.engine.shadow import SideOutcome
from verification.trials.models import Comparison, Judged, Origin

ACCEPTING: Final = [one.value for one in SideOutcome if one.verdict is Verdict.ACCEPT]
NOT_ACCEPTING: Final = [one.value for one in SideOutcome if one.verdict is not Verdict.ACCEPT]
IS_MOVE = Q(old__in=ACCEPTING, new__in=NOT_ACCEPTING) | Q(old__in=NOT_ACCEPTING, new__in=ACCEPTING)
"""One side accepts, the other does not: also where it is in doubt, since a pass beside a doubt may
be unsafe. Both ways round: whoever is asked one way alone knows which side doubts."""
IS_REJECTED_TWICE = Q(old=SideOutcome.FAIL.value, new=SideOutcome.FAIL.value)
CAN_BE_JUDGED = Q(compared_at__isnull=False, run__isnull=False) & ~Q(origin=Origin.CORPUS)
IS_ASKED = CAN_BE_JUDGED & (IS_MOVE | IS_REJECTED_TWICE)
"""And the work is still there to be looked at."""
OPEN: Final = ("", Judged.DISPUTED.value)


def is_asked(comparison: Comparison) -> bool:
    """`IS_ASKED` of a row that is loaded."""
    if comparison.compared_at is None or comparison.run_id is None:
        return False
    if comparison.origin == Origin.CORPUS or not (comparison.old and comparison.new):
        return False
    accepted = sum(one in ACCEPTING for one in (comparison.old, comparison.new))
    is_rejected_twice = comparison.old == comparison.new == SideOutcome.FAIL
    return accepted == 1 or is_rejected_twice
