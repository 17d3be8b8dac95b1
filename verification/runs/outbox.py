"""What the outside world is to hear of: written with the change, handed on by the relay.

Rooms above register here, in their `AppConfig.ready()`, what they want to hear of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from verification.runs.models import OutboxEvent

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

Handler = Callable[[OutboxEvent], None]
Sweep = Callable[[], int]

_handlers: list[Handler] = []
_sweeps: list[Sweep] = []


def subscribe(handler: Handler) -> None:
    """Call `handler` once per event, inside the transaction that marks it dispatched."""
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
    """Hand on what is due, oldest first; return how many events were handed on."""
    with transaction.atomic():
        due = list(
            OutboxEvent.objects.select_for_update(skip_locked=True)
            .filter(dispatched_at__isnull=True)
            .order_by("id")[:DISPATCH_BATCH]
        )
        for event in due:
            for handler in _handlers:
                handler(event)
        OutboxEvent.objects.filter(pk__in=[event.pk for event in due]).update(
            dispatched_at=timezone.now()
        )
    return len(due)


def sweep() -> int:
    return sum(callback() for callback in _sweeps)
