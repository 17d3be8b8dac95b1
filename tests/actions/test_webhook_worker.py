from __future__ import annotations

from loomverify.accounts.models import Project
from loomverify.celery import app
from tests.actions.conftest import drain_messages
from tests.actions.receiver import Receiver
from verification.actions import tasks  # noqa: F401 - as a worker imports them
from verification.actions.models import Delivery, DeliveryState, Webhook
from verification.runs import outbox


def test_a_woken_task_delivers_what_the_relay_handed_on(
    project: Project, webhook: Webhook, receiver: Receiver, empty_queue: None
) -> None:
    outbox.add(outbox.RUN_FINISHED, project_id=project.pk, payload={"run": "1"})
    outbox.dispatch()
    outbox.sweep()

    [(name, arguments)] = drain_messages()
    app.tasks[name](*arguments)

    assert Delivery.objects.get().state == DeliveryState.DELIVERED
    assert len(receiver.received) == 1
