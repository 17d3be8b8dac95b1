"""Each endpoint is served by one thread at a time: it holds up nobody but itself.

The relay wakes a worker for an endpoint that something is due for; the worker sends it all that is
due, oldest first. An endpoint that is not well is left alone for a moment.
"""

from __future__ import annotations

import logging
from collections import Counter
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone
from kombu.exceptions import OperationalError

from loomverify.celery import BULK, app
from verification.actions.models import Delivery, DeliveryState, Webhook, WebhookFormat
from verification.actions.services.deliveries import LEASE_SECONDS, MAX_ATTEMPTS, deliver
from verification.reviews.notices.quiet import quiet_projects

logger = logging.getLogger(__name__)

SERVE_TASK = "verification.actions.serve"
SWEEP_BATCH = 200
MOST_OF_A_PROJECT = 4
"""So many endpoints of one project are served at a time."""
WAKE_AGAIN_SECONDS = 10
REST_SECONDS = 5
SERVED_AT_ONCE = 500
"""Then another one may have the thread."""
TOO_MANY = 429


def sweep() -> int:
    """Wake a worker for each endpoint that something is due for; return how many.

    Until when it is taken names the wake-up: one that comes late or twice finds nothing to do.
    """
    now = timezone.now()
    until = now + timedelta(seconds=WAKE_AGAIN_SECONDS)
    _give_up_lost(now)
    with transaction.atomic():
        woken = _waiting(now)
        Webhook.objects.filter(pk__in=woken).update(busy_until=until)
    try:
        for pk in woken:
            app.send_task(
                SERVE_TASK,
                args=(pk, until.isoformat()),
                queue=BULK,
                expires=WAKE_AGAIN_SECONDS,
                retry=False,
            )
    except (OperationalError, OSError):
        logger.warning("endpoints_not_woken count=%d", len(woken))
        return 0
    return len(woken)


def serve(*, webhook_id: int, taken_until: datetime) -> int:
    """Send an endpoint what is due, one after another; return how many attempts were made.

    None is made where another has it.
    """
    attempts, is_well = 0, True
    lease = _taken(webhook_id, taken_until, _lease_from_now())
    while lease and is_well and attempts < SERVED_AT_ONCE:
        due = _due(timezone.now()).filter(webhook_id=webhook_id).order_by("next_at", "pk").first()
        state = due and deliver(delivery_id=due.pk, attempt=due.attempts + 1)
        if not due or not state:
            break
        attempts += 1
        is_well = state == DeliveryState.DELIVERED or _has_answered(due)
        lease = _taken(webhook_id, lease, _lease_from_now())
    if lease:
        rest = timedelta(seconds=0 if is_well else REST_SECONDS)
        _taken(webhook_id, lease, timezone.now() + rest)
    return attempts


def _waiting(now: datetime) -> list[int]:
    """Those that were served longest ago come first, and no project has all the places."""
    busy = Counter(Webhook.objects.filter(busy_until__gt=now).values_list("project_id", flat=True))
    is_free = Q(busy_until__isnull=True) | Q(busy_until__lte=now)
    rows = (
        Webhook.objects.select_for_update(skip_locked=True)
        .filter(is_free, Exists(_due(now).filter(webhook=OuterRef("pk"))), is_enabled=True)
        .order_by(F("busy_until").asc(nulls_first=True), "pk")
    )
    chosen = []
    for pk, project in rows.values_list("pk", "project_id")[:SWEEP_BATCH]:
        if busy[project] < MOST_OF_A_PROJECT:
            busy[project] += 1
            chosen.append(pk)
    return chosen


def _due(now: datetime) -> QuerySet[Delivery]:
    """In quiet hours no mail of the project is: it goes out afterwards."""
    rows = Delivery.objects.filter(
        state=DeliveryState.PENDING,
        next_at__lte=now,
        attempts__lt=MAX_ATTEMPTS,
        webhook__is_enabled=True,
    )
    quiet = quiet_projects(now)
    return rows.exclude(webhook__format=WebhookFormat.MAIL, project__in=quiet) if quiet else rows


def _give_up_lost(now: datetime) -> None:
    """A last attempt whose worker was lost never reported its end."""
    lost = Delivery.objects.filter(
        state=DeliveryState.PENDING, next_at__lte=now, attempts__gte=MAX_ATTEMPTS
    )
    lost.update(state=DeliveryState.DEAD, lease_until=None, last_error="The last attempt was lost.")


def _lease_from_now() -> datetime:
    return timezone.now() + timedelta(seconds=LEASE_SECONDS)


def _taken(webhook_id: int, held: datetime, until: datetime) -> datetime | None:
    """Hold it until then; None: another has it by now."""
    row = Webhook.objects.filter(pk=webhook_id, busy_until=held)
    return until if row.update(busy_until=until) else None


def _has_answered(delivery: Delivery) -> bool:
    """Whether it was this one event that the endpoint refused; else it is not well."""
    delivery.refresh_from_db(fields=["last_status"])
    status = delivery.last_status
    return status is not None and status != TOO_MANY and status < 500
