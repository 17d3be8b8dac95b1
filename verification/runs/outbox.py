"""What the outside world is to hear of: written with the change, handed on by the relay.

Rooms above register here, in their `AppConfig.ready()`, what they want to hear of.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import Q
from django.utils import timezone

from loomverify.backoff import wait_seconds
from verification.runs.models import OutboxEvent

logger = logging.getLogger(__name__)

RUN_FINISHED = "run.finished"
RUN_DECIDED = "run.decided"
REVIEW_REQUESTED = "review.requested"
REVIEW_DIGEST = "review.digest"
REMEDIATION_QUEUED = "remediation.queued"
GOLDEN_REGRESSED = "golden.regressed"
SHADOW_STOPPED = "shadow.stopped"
SHADOW_DRIFT = "shadow.drift"
REPORT_MORNING = "report.morning"
BUDGET_WARNING = "budget.warning"
ACTION_PROPOSED = "action.proposed"
ACTION_TAKEN = "action.taken"
ACTION_HELD = "action.held"
TOPICS = (
    RUN_FINISHED,
    RUN_DECIDED,
    REVIEW_REQUESTED,
    REVIEW_DIGEST,
    REMEDIATION_QUEUED,
    GOLDEN_REGRESSED,
    SHADOW_STOPPED,
    SHADOW_DRIFT,
    REPORT_MORNING,
    BUDGET_WARNING,
    ACTION_PROPOSED,
    ACTION_TAKEN,
    ACTION_HELD,
)

DISPATCH_BATCH = 200
FIRST_DELAY_SECONDS, LONGEST_DELAY_SECONDS = 5, 3600
MAX_FAILURES = 34
"""Over about a day; then it is given up, and stands in the log."""

Handler = Callable[[OutboxEvent], None]
Sweep = Callable[[], int]

_handlers: list[Handler] = []
_sweeps: list[Sweep] = []


def subscribe(handler: Handler) -> None:
    """Call `handler` once per event, inside the transaction that marks it dispatched.

    What it raises keeps the event, and undoes what others did with it.
    """
    _handlers.append(handler)


def on_sweep(sweep: Sweep) -> None:
    """Call `sweep` at each turn of the relay; it returns how many rows it woke."""
    _sweeps.append(sweep)


def add(
    topic: str, *, project_id: int, payload: Mapping[str, Any], run_id: int | None = None
) -> None:
    """Write an event, in the caller's transaction."""
    OutboxEvent.objects.create(
        topic=topic,
        project_id=project_id,
        run_id=run_id,
        payload=dict(payload),
        created_at=timezone.now(),
    )


def dispatch() -> int:
    """Hand on what is due, oldest first; return how many events were looked at.

    One that a handler cannot take stays, is tried again later, and holds up no other. What nobody
    could take for a day is given up.
    """
    now = timezone.now()
    is_due = Q(next_at__isnull=True) | Q(next_at__lte=now)
    with transaction.atomic():
        due = list(
            OutboxEvent.objects.select_for_update(skip_locked=True)
            .filter(is_due, dispatched_at__isnull=True)
            .order_by("id")[:DISPATCH_BATCH]
        )
        taken = [event.pk for event in due if _is_taken(event)]
        OutboxEvent.objects.filter(pk__in=taken).update(dispatched_at=now)
        for event in due:
            if event.pk not in taken:
                _try_later(event, now)
    return len(due)


def _is_taken(event: OutboxEvent) -> bool:
    """By every handler, or by none.

    Raises:
        OperationalError, InterfaceError: the database is lost, and no event is to blame.
    """
    try:
        with transaction.atomic():
            for handler in _handlers:
                handler(event)
    except (OperationalError, InterfaceError):
        if connection.needs_rollback or not connection.is_usable():
            raise
        logger.exception("event_not_handed_on event=%s topic=%s", event.uuid, event.topic)
        return False
    except Exception:
        logger.exception("event_not_handed_on event=%s topic=%s", event.uuid, event.topic)
        return False
    return True


def _try_later(event: OutboxEvent, now: datetime) -> None:
    event.failures += 1
    delay = wait_seconds(
        event.failures, first=FIRST_DELAY_SECONDS, times=2, longest=LONGEST_DELAY_SECONDS
    )
    event.next_at = now + timedelta(seconds=delay)
    if event.failures >= MAX_FAILURES:
        event.dispatched_at = now
        logger.error("event_given_up event=%s topic=%s", event.uuid, event.topic)
    event.save(update_fields=["failures", "next_at", "dispatched_at"])


def sweeps() -> Sequence[Sweep]:
    return tuple(_sweeps)
