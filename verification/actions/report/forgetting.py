"""Reports, mails and deliveries name runs: they are kept no longer than these are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import DateTimeField, ExpressionWrapper, F, Q, Value
from django.db.models.expressions import Combinable
from django.utils import timezone

from verification.actions.models import BudgetWarning, Delivery, DeliveryState, Mail, NightReport

LOOKS_EVERY = timedelta(hours=1)
MAILS_KEPT_FOR = timedelta(days=7)
WARNINGS_KEPT_FOR = timedelta(days=30)
ARRIVED_KEPT_FOR = timedelta(days=30)
BATCH = 5_000


@dataclass(slots=True)
class Looked:
    """When the relay looked last; it turns every second."""

    every: timedelta
    again_at: datetime | None = None

    def may_look(self, now: datetime) -> bool:
        if self.again_at and self.again_at - self.every <= now < self.again_at:
            return False
        self.again_at = now + self.every
        return True


_looked = Looked(LOOKS_EVERY)


def sweep(*, looked: Looked = _looked, now: datetime | None = None) -> int:
    """Delete what is past its time. The relay calls this; it wakes nobody."""
    now = now or timezone.now()
    if looked.may_look(now):
        forget(now)
    return 0


def forget(now: datetime) -> None:
    kept_for = F("project__retention_days") * Value(timedelta(days=1))
    since = ExpressionWrapper(Value(now) - kept_for, output_field=DateTimeField())
    NightReport.objects.filter(end__lt=since).delete()
    _forget_deliveries(since, now)
    Mail.objects.filter(created_at__lt=now - MAILS_KEPT_FOR).delete()
    BudgetWarning.objects.filter(day__lt=(now - WARNINGS_KEPT_FOR).date()).delete()


def _forget_deliveries(since: Combinable, now: datetime) -> None:
    """What waits is kept, as long as its endpoint is disabled."""
    arrived = Q(state=DeliveryState.DELIVERED)
    past = Q(created_at__lt=since) | arrived & Q(created_at__lt=now - ARRIVED_KEPT_FOR)
    rows = Delivery.objects.exclude(state=DeliveryState.PENDING).filter(past)
    Delivery.objects.filter(pk__in=rows.order_by("created_at").values("pk")[:BATCH]).delete()
