from __future__ import annotations

from django.db.models import Count, FilteredRelation, Q, QuerySet

from loomverify.accounts.models import Project
from verification.actions.deliveries.selectors import deliveries_of
from verification.actions.models import Delivery, DeliveryState, Webhook

LAST_DELIVERIES = 10


def webhooks_of(project: Project) -> QuerySet[Webhook]:
    """A project's endpoints, newest first, each with how many deliveries wait or died."""
    # What arrived is by far the most, and is not gone through.
    over = ~Q(deliveries__state=DeliveryState.DELIVERED)
    return project.webhooks.annotate(
        troubled=FilteredRelation("deliveries", condition=over),
        waiting=Count("troubled", filter=Q(troubled__state=DeliveryState.PENDING)),
        dead=Count("troubled", filter=Q(troubled__state=DeliveryState.DEAD)),
    )


def last_deliveries(project: Project) -> QuerySet[Delivery]:
    return deliveries_of(project).order_by("-created_at", "-id")[:LAST_DELIVERIES]
