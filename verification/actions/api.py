from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Field, Query, Router, Schema, Status

from loomverify.accounts.models import Role
from loomverify.api import access_of, errors
from loomverify.paging import DEFAULT_LIMIT, MAX_LIMIT, newest_first
from verification.actions import services
from verification.actions.formats.status import MAX_TEMPLATE_CHARS
from verification.actions.models import Webhook, WebhookFormat
from verification.actions.services.subscribing import MAX_PROCESSES, Subscription

router = Router(tags=["Webhooks"])


class WebhookOut(Schema):
    id: UUID
    url: str = Field(description="Of a chat room only its host and its end.")
    topics: list[str]
    processes: list[str] = Field(description="None: of all.")
    format: WebhookFormat
    template: str
    credential_reference: str
    enabled: bool
    created_by: str
    created_at: datetime

    @classmethod
    def of(cls, webhook: Webhook) -> WebhookOut:
        return cls(**_shown(webhook))


class WebhookMade(WebhookOut):
    secret: str = Field(description="Shown this once. It signs every delivery.")


class WebhookList(Schema):
    items: list[WebhookOut]
    next: str | None


class WebhookIn(Schema):
    url: str = Field(min_length=1, max_length=500)
    topics: list[str] = Field(min_length=1, max_length=20)
    processes: list[str] = Field([], max_length=MAX_PROCESSES, description="None: of all.")
    format: WebhookFormat = WebhookFormat.EVENT
    template: str = Field(
        "", max_length=MAX_TEMPLATE_CHARS, description="JSON of the format status; usual if empty."
    )
    credential_reference: str = Field(
        "", max_length=120, description="The variable that holds the token to send along."
    )
    secret: str = Field("", max_length=100, description="Made by us where none is given.")


def _shown(webhook: Webhook) -> dict[str, Any]:
    return {
        "id": webhook.uuid,
        "url": webhook.shown_url,
        "topics": webhook.topics,
        "processes": webhook.processes,
        "format": webhook.format,
        "template": webhook.template,
        "credential_reference": webhook.credential_reference,
        "enabled": webhook.is_enabled,
        "created_by": webhook.created_by,
        "created_at": webhook.created_at,
    }


@router.get("/webhooks", response={200: WebhookList} | errors(400, 403, 422), summary="Webhooks")
def list_webhooks(
    request: HttpRequest,
    cursor: str = "",
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT)] = DEFAULT_LIMIT,
) -> WebhookList:
    access = access_of(request)
    access.need(Role.ADMIN)
    webhooks = Webhook.objects.filter(project=access.project)
    page, following = newest_first(webhooks, cursor=cursor, limit=limit)
    return WebhookList(items=[WebhookOut.of(webhook) for webhook in page], next=following)


@router.post(
    "/webhooks",
    response={201: WebhookMade} | errors(400, 403, 409, 422),
    summary="Register an endpoint; its secret is shown this once",
)
def create_webhook(request: HttpRequest, body: WebhookIn) -> Status[WebhookMade]:
    access = access_of(request)
    access.need(Role.ADMIN)
    webhook = services.create_webhook(
        project=access.project,
        actor=access.actor,
        subscription=Subscription(**body.dict(exclude={"secret"})),
        secret=body.secret,
    )
    return Status(201, WebhookMade(**_shown(webhook), secret=webhook.secret))


@router.delete(
    "/webhooks/{uuid:webhook_id}",
    response={204: None} | errors(403, 404),
    summary="Remove an endpoint and what is on its way to it",
)
def remove_webhook(request: HttpRequest, webhook_id: UUID) -> Status[None]:
    access = access_of(request)
    access.need(Role.ADMIN)
    services.remove_webhook(project=access.project, actor=access.actor, webhook_id=webhook_id)
    return Status(204, None)
