"""Webhooks, as people and keys change them."""

from __future__ import annotations

import uuid
from dataclasses import asdict, replace
from uuid import UUID

from django.db import transaction

from loomverify.accounts.access import Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import Project
from loomverify.errors import Conflict, InputError, NotFound
from verification.actions.models import Delivery, Webhook
from verification.actions.services.deliveries import add_delivery
from verification.actions.services.subscribing import Subscription
from verification.actions.signing import make_secret
from verification.runs import outbox

MAX_WEBHOOKS = 20
MIN_SECRET_LENGTH, MAX_SECRET_LENGTH = 16, 100
TEST_TOPIC = "webhook.test"
DELIVERED_TOPICS = (*outbox.TOPICS, TEST_TOPIC)


def create_webhook(
    *, project: Project, actor: Actor, subscription: Subscription, secret: str = ""
) -> Webhook:
    """Register an endpoint; a secret is made where none is given.

    Raises:
        InputError: `webhook.<what>`, see `Subscription`; `webhook.secret_length`,
            `webhook.secret_invalid`.
        Conflict: `webhook.too_many`.
    """
    subscription = replace(subscription, url=subscription.url.strip())
    _check_secret(secret)
    subscription.check(project)
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)
        if project.webhooks.count() >= MAX_WEBHOOKS:
            raise Conflict("webhook.too_many", f"A project has at most {MAX_WEBHOOKS} webhooks.")
        told = asdict(subscription)
        webhook = Webhook.objects.create(
            **told
            | {name: list(dict.fromkeys(told[name])) for name in ("topics", "processes")}
            | {
                "project": project,
                "secret": secret or make_secret(),
                "created_by": actor.name[:200],
            }
        )
        record(
            actor,
            "webhook.created",
            webhook,
            project=project,
            diff={
                name: [None, value]
                for name, value in {**asdict(subscription), "url": webhook.shown_url}.items()
                if value
            },
        )
    return webhook


def remove_webhook(*, project: Project, actor: Actor, webhook_id: UUID) -> None:
    """Remove an endpoint, and what was on its way to it.

    Raises:
        NotFound: this project has no such webhook.
    """
    with transaction.atomic():
        webhook = _lock_webhook(project, webhook_id)
        record(
            actor,
            "webhook.removed",
            webhook,
            project=project,
            diff={"url": [webhook.shown_url, None]},
        )
        webhook.delete()


def set_enabled(*, project: Project, actor: Actor, webhook_id: UUID, is_enabled: bool) -> bool:
    """Stop or resume an endpoint. Deliveries under way wait. False: it was so already.

    Raises:
        NotFound: this project has no such webhook.
    """
    with transaction.atomic():
        webhook = _lock_webhook(project, webhook_id)
        if webhook.is_enabled == is_enabled:
            return False
        Webhook.objects.filter(pk=webhook.pk).update(is_enabled=is_enabled)
        record(
            actor,
            "webhook.enabled" if is_enabled else "webhook.disabled",
            webhook,
            project=project,
            diff={"is_enabled": [not is_enabled, is_enabled]},
        )
    return True


def send_test(*, project: Project, actor: Actor, webhook_id: UUID) -> Delivery:
    """Send an event of the topic `webhook.test` to this endpoint alone.

    Raises:
        NotFound: this project has no such webhook.
        Conflict: `webhook.disabled`.
    """
    with transaction.atomic():
        webhook = _lock_webhook(project, webhook_id)
        if not webhook.is_enabled:
            raise Conflict("webhook.disabled", "Enable this webhook before testing it.")
        delivery = add_delivery(
            webhook, event_id=uuid.uuid4(), topic=TEST_TOPIC, payload={"sent_by": actor.name}
        )
        record(actor, "webhook.tested", webhook, project=project)
    return delivery


def _lock_webhook(project: Project, webhook_id: UUID) -> Webhook:
    webhook = project.webhooks.select_for_update().filter(uuid=webhook_id).first()
    if webhook is None:
        raise NotFound("webhook.unknown")
    return webhook


def _check_secret(secret: str) -> None:
    if secret and not MIN_SECRET_LENGTH <= len(secret) <= MAX_SECRET_LENGTH:
        raise InputError(
            "webhook.secret_length",
            f"A secret has {MIN_SECRET_LENGTH} to {MAX_SECRET_LENGTH} characters.",
            loc=("body", "secret"),
        )
    if "\x00" in secret:
        raise InputError(
            "webhook.secret_invalid", "A secret holds no NUL character.", loc=("body", "secret")
        )
