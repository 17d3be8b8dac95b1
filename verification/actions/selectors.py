from __future__ import annotations

from django.db.models import Count, Q, QuerySet

from loomverify.accounts.models import Project
from verification.actions.models import Delivery, DeliveryState, Webhook

LAST_DELIVERIES = 30


def webhooks_of(project: Project) -> QuerySet[Webhook]:
    """A project's endpoints, newest first, each with how many deliveries wait or died."""
    return project.webhooks.annotate(
        waiting=Count("deliveries", filter=Q(deliveries__state=DeliveryState.PENDING)),
        dead=Count("deliveries", filter=Q(deliveries__state=DeliveryState.DEAD)),
    )


def last_deliveries(project: Project) -> QuerySet[Delivery]:
    return (
        Delivery.objects.select_related("webhook")
        .filter(webhook__project=project)
        .order_by("-created_at", "-id")[:LAST_DELIVERIES]
    )
