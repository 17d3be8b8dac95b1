"""What is kept of backtests: for each content of a rule the last one."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from loomverify.accounts.access import Actor
from verification.rules.backtest.rendering import figures_of
from verification.rules.backtest.running import Progress
from verification.rules.backtest.wish import Wish
from verification.rules.models import Backtest

MAX_KEPT = 50
"""Of one rule: whoever types tries many contents that are never published."""


def remember(wish: Wish, progress: Progress, *, actor: Actor) -> None:
    """Keep the figures of a backtest that went to its end over all there was, if anything."""
    is_whole = progress.is_over and not progress.stopped and not wish.is_narrowed
    if not is_whole or not progress.evaluated:
        return
    with transaction.atomic():
        Backtest.objects.update_or_create(
            process=wish.process,
            rule=wish.rule.name,
            looks_for_sha256=wish.rule.looks_for_sha256,
            defaults={
                "project": wish.process.project,
                "figures": figures_of(progress),
                "seconds": progress.seconds,
                "tried_by": actor.name[:200],
                "tried_at": timezone.now(),
            },
        )
        kept = Backtest.objects.filter(process=wish.process, rule=wish.rule.name)
        newest = kept.order_by("-tried_at").values_list("pk", flat=True)[:MAX_KEPT]
        others = kept.exclude(pk__in=list(newest))
        if wish.published is not None:
            others = others.exclude(looks_for_sha256=wish.published.looks_for_sha256)
        others.delete()
