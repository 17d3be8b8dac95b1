"""The only writers of this room."""

from verification.actions.services.deliveries import (
    add_delivery,
    deliver,
    on_event,
)
from verification.actions.services.endpoints import SERVE_TASK, serve, sweep
from verification.actions.services.redelivering import redeliver, redeliver_given_up
from verification.actions.services.subscribing import Subscription
from verification.actions.services.webhooks import (
    DELIVERED_TOPICS,
    TEST_TOPIC,
    create_webhook,
    remove_webhook,
    send_test,
    set_enabled,
)

__all__ = [
    "DELIVERED_TOPICS",
    "SERVE_TASK",
    "TEST_TOPIC",
    "Subscription",
    "add_delivery",
    "create_webhook",
    "deliver",
    "on_event",
    "redeliver",
    "redeliver_given_up",
    "remove_webhook",
    "send_test",
    "serve",
    "set_enabled",
    "sweep",
]
