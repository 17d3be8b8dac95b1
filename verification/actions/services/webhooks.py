"""Webhooks, as people and keys change them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from uuid import UUID

from django.conf import settings
from django.db import transaction

from loomverify.accounts.access import Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import Project
from loomverify.errors import Conflict, InputError, NotFound
from verification.actions.models import Delivery, Webhook
from verification.actions.services.deliveries import add_delivery
from verification.actions.signing import make_secret
from verification.actions.targets import TargetRefused, find_target
from verification.runs import outbox

MAX_WEBHOOKS = 20
MIN_SECRET_LENGTH, MAX_SECRET_LENGTH = 16, 100
TEST_TOPIC = "webhook.test"


def create_webhook(
    *, project: Project, actor: Actor, url: str, topics: Sequence[str], secret: str = ""
) -> Webhook:
    """Register an endpoint; a secret is made where none is given.

    Raises:
        InputError: `webhook.url_refused`, `webhook.topic_unknown`, `webhook.no_topic`,
            `webhook.secret_length`, `webhook.secret_invalid`.
        Conflict: `webhook.too_many`.
    """
    url = url.strip()
    _check_secret(secret)
    _check_topics(topics)
    try:
        find_target(url, loopback_allowed=not settings.ENV.production)
    except TargetRefused as error:
        raise InputError("webhook.url_refused", str(error), loc=("body", "url")) from error
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)
        if project.webhooks.count() >= MAX_WEBHOOKS:
            raise Conflict("webhook.too_many", f"A project has at most {MAX_WEBHOOKS} webhooks.")
        webhook = Webhook.objects.create(
            project=project,
            url=url,
            topics=list(dict.fromkeys(topics)),
            secret=secret or make_secret(),
            created_by=actor.name[:200],
        )
        record(
            actor,
            "webhook.created",
            webhook,
            project=project,
            diff={"url": [None, url], "topics": [None, webhook.topics]},
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
            diff={"url": [webhook.url, None]},
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


def _check_topics(topics: Sequence[str]) -> None:
    if not topics:
        raise InputError("webhook.no_topic", "Name at least one topic.", loc=("body", "topics"))
    for index, topic in enumerate(topics):
        if topic not in outbox.TOPICS:
            raise InputError(
                "webhook.topic_unknown",
                f"There is no topic {topic[:60]}; there are {', '.join(outbox.TOPICS)}.",
                loc=("body", "topics", index),
            )
