from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from django.http import HttpRequest
from ninja import Field, Query, Router, Schema

from loomverify.accounts.models import Role
from loomverify.api import access_of, errors
from loomverify.errors import NotFound
from loomverify.paging import DEFAULT_LIMIT, MAX_LIMIT, newest_first
from verification.actions import services
from verification.actions.deliveries import selectors
from verification.actions.models import Delivery, DeliveryState
from verification.runs.schema_values import FilterValues

router = Router(tags=["Webhooks"])


class DeliveryOut(Schema):
    id: UUID
    event: UUID = Field(description="What a receiver tells repeats by.")
    topic: str
    webhook: UUID
    state: DeliveryState
    attempts: int
    last_status: int | None
    last_error: str
    next_at: datetime | None = Field(description="Of the next attempt; null: there is none.")
    created_at: datetime
    delivered_at: datetime | None

    @classmethod
    def of(cls, delivery: Delivery) -> DeliveryOut:
        is_waiting = delivery.state == DeliveryState.PENDING
        return cls(
            id=delivery.uuid,
            event=delivery.event_id,
            topic=delivery.topic,
            webhook=delivery.webhook.uuid,
            state=DeliveryState(delivery.state),
            attempts=delivery.attempts,
            last_status=delivery.last_status,
            last_error=delivery.last_error,
            next_at=delivery.next_at if is_waiting else None,
            created_at=delivery.created_at,
            delivered_at=delivery.delivered_at,
        )


class DeliveryList(Schema):
    items: list[DeliveryOut]
    next: str | None


class DeliveryFilters(Schema):
    state: DeliveryState | None = None
    topic: Annotated[str, FilterValues.of(services.DELIVERED_TOPICS)] = ""
    webhook: UUID | None = None

    def told(self) -> dict[str, str]:
        return {name: str(value) for name, value in self.dict().items() if value}


class RepeatIn(Schema):
    topic: Annotated[str, FilterValues.of(services.DELIVERED_TOPICS)] = ""
    webhook: UUID | None = None


class RepeatedOut(Schema):
    repeated: int = Field(description="At most 1,000 at once: ask again for the rest.")


@router.get(
    "/deliveries",
    response={200: DeliveryList} | errors(400, 403, 422),
    summary="What was sent to webhooks, what waits, what was given up",
)
def list_deliveries(
    request: HttpRequest,
    filters: Query[DeliveryFilters],
    cursor: str = "",
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT)] = DEFAULT_LIMIT,
) -> DeliveryList:
    access = access_of(request)
    access.need(Role.ADMIN)
    rows = selectors.deliveries_of(access.project, **filters.told())
    page, following = newest_first(rows, cursor=cursor, limit=limit)
    return DeliveryList(items=[DeliveryOut.of(delivery) for delivery in page], next=following)


@router.post(
    "/deliveries/redeliver",
    response={200: RepeatedOut} | errors(400, 403, 422),
    summary="Send what was given up once more, oldest first",
)
def redeliver_given_up(request: HttpRequest, body: RepeatIn) -> RepeatedOut:
    access = access_of(request)
    access.need(Role.ADMIN)
    filters = {"topic": body.topic, "webhook": str(body.webhook or "")}
    count = services.redeliver_given_up(project=access.project, actor=access.actor, filters=filters)
    return RepeatedOut(repeated=count)


@router.post(
    "/deliveries/{uuid:delivery_id}/redeliver",
    response={200: DeliveryOut} | errors(403, 404),
    summary="Send an event once more; one that is under way is left alone",
)
def redeliver(request: HttpRequest, delivery_id: UUID) -> DeliveryOut:
    access = access_of(request)
    access.need(Role.ADMIN)
    services.redeliver(project=access.project, actor=access.actor, delivery_id=delivery_id)
    delivery = selectors.deliveries_of(access.project).filter(uuid=delivery_id).first()
    if delivery is None:
        raise NotFound("delivery.unknown", "This project has no such delivery.")
    return DeliveryOut.of(delivery)
