"""What is kept of backtests: for each content of a rule the last one."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from loomverify.accounts.access import Actor
from processes.definition.model import Rule
from processes.models import Process
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
    published = wish.published.looks_for_sha256 if wish.published else ""
    keep(wish.process, wish.rule, progress, tried_by=actor.name, published_sha256=published)


def keep(
    process: Process, rule: Rule, progress: Progress, *, tried_by: str, published_sha256: str
) -> None:
    """Keep the figures of one content of a rule. `published_sha256` is what it now looks for."""
    with transaction.atomic():
        Backtest.objects.update_or_create(
            process=process,
            rule=rule.name,
            looks_for_sha256=rule.looks_for_sha256,
            defaults={
                "project": process.project,
                "figures": figures_of(progress),
                "seconds": progress.seconds,
                "tried_by": tried_by[:200],
                "tried_at": timezone.now(),
            },
        )
        kept = Backtest.objects.filter(process=process, rule=rule.name)
        newest = kept.order_by("-tried_at").values_list("pk", flat=True)[:MAX_KEPT]
        others = kept.exclude(pk__in=list(newest))
        others.exclude(looks_for_sha256=published_sha256).delete()
