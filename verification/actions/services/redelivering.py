"""An event that was delivered, or given up, is sent once more because somebody wants it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from loomverify.accounts.access import Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import Project
from loomverify.errors import NotFound
from verification.actions.deliveries.selectors import deliveries_of
from verification.actions.models import Delivery, DeliveryState

MAX_AT_ONCE = 1_000


def redeliver(*, project: Project, actor: Actor, delivery_id: UUID) -> bool:
    """False: it is under way already.

    Raises:
        NotFound: this project has no such delivery.
    """
    with transaction.atomic():
        row = Delivery.objects.filter(uuid=delivery_id, project=project)
        delivery = row.select_related("webhook").first()
        if delivery is None:
            raise NotFound("delivery.unknown", "This project has no such delivery.")
        won = _begin_again(row.filter(state__in=(DeliveryState.DELIVERED, DeliveryState.DEAD))) == 1
        if won:
            record(actor, "delivery.repeated", delivery, project=project)
    return won


def redeliver_given_up(*, project: Project, actor: Actor, filters: Mapping[str, str]) -> int:
    """Send once more what was given up, oldest first, at most `MAX_AT_ONCE`; return how many.

    `filters` are those of `deliveries_of`.
    """
    with transaction.atomic():
        dead = deliveries_of(project, **{**filters, "state": DeliveryState.DEAD})
        locked = dead.select_for_update(skip_locked=True, of=("self",)).order_by("created_at", "id")
        rows = list(locked[:MAX_AT_ONCE])
        _begin_again(Delivery.objects.filter(pk__in=[row.pk for row in rows]))
        for webhook, count in Counter(row.webhook for row in rows).items():
            diff = {"deliveries": [None, count]}
            record(actor, "deliveries.repeated", webhook, project=project, diff=diff)
    return len(rows)


def _begin_again(rows: QuerySet[Delivery]) -> int:
    return rows.update(
        state=DeliveryState.PENDING,
        attempts=0,
        next_at=timezone.now(),
        lease_until=None,
        delivered_at=None,
    )
