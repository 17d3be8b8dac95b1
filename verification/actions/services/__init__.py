"""The only writers of this room."""

from verification.actions.services.deliveries import (
    DELIVER_TASK,
    add_delivery,
    deliver,
    on_event,
    redeliver,
    sweep,
)
from verification.actions.services.subscribing import Subscription
from verification.actions.services.webhooks import (
    create_webhook,
    remove_webhook,
    send_test,
    set_enabled,
)

__all__ = [
    "DELIVER_TASK",
    "Subscription",
    "add_delivery",
    "create_webhook",
    "deliver",
    "on_event",
    "redeliver",
    "remove_webhook",
    "send_test",
    "set_enabled",
    "sweep",
]
