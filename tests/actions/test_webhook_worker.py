"""Who is served when, with threads and receivers as they are."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from loomverify.accounts.models import Project
from loomverify.celery import app
from tests.actions.conftest import drain_messages, drain_queue, hooked
from tests.actions.receiver import Receiver, running_receiver
from tests.stack import wait_for
from verification.actions import (
    services,
    tasks,  # noqa: F401 - as a worker imports them
)
from verification.actions.models import Delivery, DeliveryState, Webhook
from verification.actions.outbound import OUTBOUND, Outbound
from verification.actions.services.endpoints import MOST_OF_A_PROJECT
from verification.runs import outbox, relay

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def silent() -> Iterator[Receiver]:
    with running_receiver() as receiver:
        receiver.behaviour = ["silent"]
        yield receiver
        receiver.let_go.set()
        OUTBOUND.wait(60)


def happen(project: Project, times: int = 1) -> None:
    for number in range(times):
        outbox.add(outbox.RUN_FINISHED, project_id=project.pk, payload={"run": str(number)})
    outbox.dispatch()


def work() -> None:
    """As a worker does that is woken."""
    for name, arguments in drain_messages():
        app.tasks[name](*arguments)


def taken(webhook: Webhook) -> Any:
    webhook.refresh_from_db()
    return {"webhook_id": webhook.pk, "taken_until": webhook.busy_until}


def states(webhook: Webhook) -> list[str]:
    return list(webhook.deliveries.order_by("pk").values_list("state", flat=True))


def test_a_woken_task_delivers_all_that_the_relay_handed_on(
    project: Project, webhook: Webhook, receiver: Receiver, empty_queue: None
) -> None:
    happen(project, 3)
    relay.sweep_rooms()

    work()

    assert OUTBOUND.wait(60)
    assert states(webhook) == [DeliveryState.DELIVERED] * 3
    assert [b'"run":"%d"' % one in got.body for one, got in enumerate(receiver.received)] == [
        True, True, True,
    ]  # fmt: skip


def test_an_endpoint_that_never_answers_holds_up_no_process_and_nobody_else(
    project: Project,
    other_project: Project,
    silent: Receiver,
    receiver: Receiver,
    empty_queue: None,
) -> None:
    hangs = hooked(project, silent.url)
    answers = hooked(other_project, receiver.url)
    happen(project, 5)
    happen(other_project, 5)
    services.sweep()

    work()  # comes back while the first waits for its answer
    wait_for(lambda: len(receiver.received) == 5, "what is sent to the other")
    wait_for(lambda: states(answers) == [DeliveryState.DELIVERED] * 5, "their ends")

    assert states(hangs) == [DeliveryState.PENDING] * 5
    assert len(silent.received) <= 1


def test_what_waits_behind_an_endpoint_that_is_not_well_spends_no_attempt(
    project: Project, webhook: Webhook, receiver: Receiver, empty_queue: None
) -> None:
    receiver.behaviour = [503]
    happen(project, 5)
    services.sweep()

    attempts = services.serve(**taken(webhook))

    assert attempts == 1
    assert sorted(Delivery.objects.values_list("attempts", flat=True)) == [0, 0, 0, 0, 1]
    assert services.sweep() == 0  # it rests


def test_one_event_that_is_refused_does_not_hold_up_the_others(
    project: Project, webhook: Webhook, receiver: Receiver, empty_queue: None
) -> None:
    receiver.behaviour = [400, 200]
    happen(project, 3)
    services.sweep()

    services.serve(**taken(webhook))

    assert sorted(states(webhook)) == [DeliveryState.DELIVERED] * 2 + [DeliveryState.PENDING]


def test_however_much_is_due_each_endpoint_is_woken_for_once(
    project: Project, webhook: Webhook, empty_queue: None
) -> None:
    happen(project, 33)

    for _ in range(5):
        services.sweep()

    assert len(drain_queue()) == 1


def test_a_wake_up_that_comes_late_or_twice_sends_nothing(
    project: Project, webhook: Webhook, receiver: Receiver, empty_queue: None
) -> None:
    happen(project, 2)
    services.sweep()
    first = taken(webhook)
    past = timezone.now() - timedelta(seconds=1)
    Webhook.objects.update(busy_until=past)
    services.sweep()

    attempts = [services.serve(**first), services.serve(**taken(webhook)), services.serve(**first)]

    assert attempts == [0, 2, 0]
    assert len(receiver.received) == 2


def test_no_project_has_all_the_places(
    project: Project, other_project: Project, receiver: Receiver, empty_queue: None
) -> None:
    for _ in range(MOST_OF_A_PROJECT + 3):
        hooked(project, receiver.url)
    last = hooked(other_project, receiver.url)
    happen(project)
    happen(other_project)

    services.sweep()

    woken = [webhook for webhook, _until in drain_queue()]
    assert len(woken) == MOST_OF_A_PROJECT + 1
    assert last.pk in woken


def test_no_more_threads_are_begun_than_there_are_places() -> None:
    outbound, over = Outbound(places=2), threading.Event()

    begun = [outbound.start(over.wait) for _ in range(3)]
    is_waiting = outbound.wait(0)
    over.set()

    assert (begun, is_waiting) == ([True, True, False], False)
    assert outbound.wait(60)
    assert outbound.start(over.wait)


def test_what_breaks_in_a_thread_gives_its_place_back() -> None:
    outbound = Outbound(places=1)

    def breaks() -> None:
        raise ValueError("it broke")

    outbound.start(breaks)

    assert outbound.wait(60)
    assert outbound.start(lambda: None)
