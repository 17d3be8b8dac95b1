from __future__ import annotations

from django.db.models import Count, QuerySet

from loomverify.accounts.models import Project
from verification.actions.models import Delivery, DeliveryState


def deliveries_of(
    project: Project, *, state: str = "", topic: str = "", webhook: str = ""
) -> QuerySet[Delivery]:
    """A project's deliveries with their endpoints, narrowed down; each filter may be empty."""
    wanted = {"state": state, "topic": topic, "webhook__uuid": webhook}
    rows = Delivery.objects.filter(project=project).select_related("webhook__project")
    return rows.filter(**{field: value for field, value in wanted.items() if value})


def troubled_of(project: Project) -> dict[str, int]:
    """How many wait and how many were given up; those that arrived are too many to count."""
    rows = Delivery.objects.filter(project=project).exclude(state=DeliveryState.DELIVERED)
    found = {row["state"]: row["n"] for row in rows.values("state").annotate(n=Count("pk"))}
    return {state: found.get(state, 0) for state in (DeliveryState.PENDING, DeliveryState.DEAD)}
