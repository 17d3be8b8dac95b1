"""Events on their way to webhooks: written by the relay, sent by workers, retried, given up."""

from __future__ import annotations

import logging
import random
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import F, Q
from django.utils import timezone

from loomverify.backoff import wait_seconds
from verification.actions.formats import mail
from verification.actions.formats.sent import page_of, request_of
from verification.actions.landing.standing import standing_of
from verification.actions.models import (
    ActionKind,
    Change,
    Delivery,
    DeliveryState,
    Webhook,
    WebhookFormat,
)
from verification.actions.sending import Answer, post
from verification.actions.targets import TargetRefused
from verification.runs import outbox
from verification.runs.models import OutboxEvent, Run
from verification.verifiers.selectors import ConnectionUnusable

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 8
LEASE_SECONDS = 60
FIRST_RETRY_SECONDS = 5.0
LONGEST_RETRY_SECONDS = 3600.0
OVERTAKEN = Answer(None, "A newer status of this commit is sent instead.")


def on_event(event: OutboxEvent) -> None:
    """Address an event to the webhooks that want it. The relay calls this in its transaction.

    What names no process is of all of them. A status needs a commit to stand beside.
    """
    payload = event.payload
    wanting = Webhook.objects.filter(
        project_id=event.project_id, is_enabled=True, topics__contains=[event.topic]
    )
    for webhook in wanting:
        process = payload.get("process")
        if process and webhook.processes and process not in webhook.processes:
            continue
        sent = payload
        if webhook.format == WebhookFormat.STATUS:
            commit = _commit_of(event)
            if not commit:
                continue
            sent = {**payload, "commit": commit, **_newest_word(event)}
        add_delivery(webhook, event_id=event.uuid, topic=event.topic, payload=sent)


def _commit_of(event: OutboxEvent) -> str:
    """The one that was submitted as it lies in its repository, or that landed, upon any base."""
    if event.topic == outbox.ACTION_TAKEN:
        is_landed = event.payload.get("kind") in (ActionKind.COMMIT, ActionKind.RESTORE)
        return str(event.payload.get("commit") or "") if is_landed else ""
    change = Change.objects.filter(run=event.run_id).first()
    commit = ""
    while change is not None and not commit:
        commit = standing_of(change).commit or change.commit_sha
        later = Change.objects.filter(follows=change).exclude(run__review_state="decided")
        change = later.order_by("-pk").first()
    return commit


def _newest_word(event: OutboxEvent) -> dict[str, Any]:
    """What a person said of work that landed, where that was said while it did."""
    if event.topic != outbox.ACTION_TAKEN:
        return {}
    decided = Run.objects.filter(pk=event.run_id or 0, review_state="decided")
    outcome = decided.values_list("final_outcome", flat=True).first()
    return {"final_outcome": outcome} if outcome else {}


def add_delivery(
    webhook: Webhook, *, event_id: UUID, topic: str, payload: dict[str, Any]
) -> Delivery:
    """Put one event on its way to one webhook; the same event is put there once."""
    now = timezone.now()
    delivery, _made = Delivery.objects.get_or_create(
        webhook=webhook,
        event_id=event_id,
        defaults={
            "project_id": webhook.project_id,
            "topic": topic,
            "payload": payload,
            "next_at": now,
        },
    )
    return delivery


def deliver(*, delivery_id: int, attempt: int) -> DeliveryState | None:
    """Make one attempt at a delivery. None: another has it, or it is not for now."""
    delivery = _claim(delivery_id, attempt)
    if delivery is None:
        return None
    answer = _send(delivery)
    return _settle(delivery, answer)


def retry_delay_seconds(attempt: int, *, spread: float) -> float:
    """Wait after failed attempt number `attempt`: four times the one before, at most an hour.

    `spread`, 0 to 1, moves it by up to a quarter either way.
    """
    return wait_seconds(
        attempt, first=FIRST_RETRY_SECONDS, times=4, longest=LONGEST_RETRY_SECONDS, spread=spread
    )


def _claim(delivery_id: int, attempt: int) -> Delivery | None:
    now = timezone.now()
    lease_until = now + timedelta(seconds=LEASE_SECONDS)
    free = Delivery.objects.filter(
        Q(lease_until__isnull=True) | Q(lease_until__lte=now),
        pk=delivery_id,
        state=DeliveryState.PENDING,
        attempts=attempt - 1,
    )
    if free.update(attempts=F("attempts") + 1, lease_until=lease_until, next_at=lease_until) == 0:
        return None
    return Delivery.objects.select_related("webhook__project").filter(pk=delivery_id).first()


def _send(delivery: Delivery) -> Answer:
    try:
        if _is_overtaken(delivery):
            return OVERTAKEN
        if delivery.webhook.format == WebhookFormat.MAIL:
            return mail.send(delivery, page_of(delivery))
        target, headers, body = request_of(delivery)
        return post(target, headers=headers, body=body)
    except (TargetRefused, ConnectionUnusable) as error:
        return Answer(None, str(error))
    except Exception as error:  # what it says may hold what was to be sent, a token too
        told = type(error).__name__
        logger.error("delivery_failed delivery=%s error=%s", delivery.uuid, told)
        return Answer(None, f"It failed by itself: {told}.")


def _is_overtaken(delivery: Delivery) -> bool:
    """A code host shows what came last: an older status of a commit does not come after a newer."""
    payload = delivery.payload
    if delivery.webhook.format != WebhookFormat.STATUS or not payload.get("commit"):
        return False
    newer = Delivery.objects.filter(webhook=delivery.webhook_id, pk__gt=delivery.pk)
    same = {"payload__commit": payload["commit"], "payload__process": payload.get("process")}
    return newer.filter(**same).exists()


def _settle(delivery: Delivery, answer: Answer) -> DeliveryState | None:
    """Store how an attempt ended, unless its lease was lost meanwhile."""
    now = timezone.now()
    state = DeliveryState.PENDING
    if answer.is_delivered:
        state = DeliveryState.DELIVERED
    elif delivery.attempts >= MAX_ATTEMPTS or answer is OVERTAKEN:
        state = DeliveryState.DEAD
    delay = retry_delay_seconds(delivery.attempts, spread=random.random())  # noqa: S311 - spreads load, hides nothing
    held = Delivery.objects.filter(
        pk=delivery.pk, state=DeliveryState.PENDING, lease_until=delivery.lease_until
    )
    stored = held.update(
        state=state,
        last_status=answer.status,
        last_error=answer.error[:300],
        lease_until=None,
        next_at=now + timedelta(seconds=delay),
        delivered_at=now if answer.is_delivered else None,
    )
    logger.info(
        "delivery_attempted delivery=%s attempt=%d state=%s status=%s",
        delivery.uuid,
        delivery.attempts,
        state,
        answer.status,
    )
    return state if stored else None
