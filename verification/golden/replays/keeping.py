"""What replays leave behind does not grow for ever."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone

from verification.engine.golden.standing import Standing
from verification.golden.models import OPEN_STATES, ReplayResult

KEPT_WHOLE = timedelta(days=30)
AT_A_TIME = 20_000


def thin(now: datetime | None = None) -> int:
    """Forget what was seen of cases that held, long after their replay; return for how many.

    That they held stays, and so does all of what did not: a regression is looked into later too.
    """
    before = (now or timezone.now()) - KEPT_WHOLE
    old = ReplayResult.objects.filter(
        replay__finished_at__lt=before, standing=Standing.HELD
    ).exclude(replay__state__in=OPEN_STATES)
    some = old.exclude(observed={}).order_by("pk").values("pk")[:AT_A_TIME]
    return ReplayResult.objects.filter(pk__in=list(some.values_list("pk", flat=True))).update(
        observed={}, legacy={}, played=[]
    )
