from __future__ import annotations

import hashlib
import hmac
import json
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import AuditEntry, Project
from tests.actions.conftest import drain_queue, hooked
from tests.actions.receiver import Receiver
from verification.actions import services
from verification.actions.models import Delivery, DeliveryState, Webhook
from verification.actions.sending import Answer, post
from verification.actions.services import deliveries
from verification.actions.targets import Target
from verification.runs import outbox
from verification.runs.models import OutboxEvent

PAYLOAD = {"run": {"id": "1", "verdict": "reject", "title": "naïve"}}


def finish_a_run(project: Project) -> OutboxEvent:
    outbox.add(outbox.RUN_FINISHED, project_id=project.pk, payload=PAYLOAD)
    return OutboxEvent.objects.latest("id")


def dispatched(project: Project) -> Delivery:
    event = finish_a_run(project)
    outbox.dispatch()
    return Delivery.objects.get(event_id=event.uuid)


def attempt(delivery: Delivery) -> DeliveryState | None:
    delivery.refresh_from_db()
    return services.deliver(delivery_id=delivery.pk, attempt=delivery.attempts + 1)


def test_an_event_is_addressed_once_to_each_enabled_webhook_that_wants_it(
    project: Project, other_project: Project, webhook: Webhook, receiver: Receiver
) -> None:
    for owner, topic, is_enabled in (
        (project, outbox.RUN_DECIDED, True),
        (project, outbox.RUN_FINISHED, False),
        (other_project, outbox.RUN_FINISHED, True),
    ):
        Webhook.objects.create(
            project=owner, url=receiver.url, topics=[topic], secret="s" * 20, is_enabled=is_enabled
        )

    event = finish_a_run(project)
    outbox.dispatch()
    services.on_event(event)  # the relay died before it could say that it was done

    delivery = Delivery.objects.get()
    assert (delivery.webhook, delivery.event_id, delivery.payload) == (webhook, event.uuid, PAYLOAD)


def test_a_delivery_is_signed_so_that_a_receiver_can_check_it(
    project: Project, webhook: Webhook, receiver: Receiver
) -> None:
    delivery = dispatched(project)

    state = attempt(delivery)

    [received] = receiver.received
    timestamp = received.headers["LoomVerify-Timestamp"]
    expected = hmac.new(
        webhook.secret.encode(), f"{timestamp}.".encode() + received.body, hashlib.sha256
    ).hexdigest()
    assert state is DeliveryState.DELIVERED
    assert received.headers["LoomVerify-Signature"] == f"v1={expected}"
    assert received.headers["LoomVerify-Event"] == "run.finished"
    assert received.headers["LoomVerify-Delivery"] == str(delivery.event_id)
    assert received.headers["Content-Type"] == "application/json"
    assert abs(int(timestamp) - timezone.now().timestamp()) < 60
    body = json.loads(received.body)
    assert body["payload"] == PAYLOAD
    assert (body["id"], body["topic"], body["project"]) == (
        str(delivery.event_id),
        "run.finished",
        "loom",
    )


@pytest.mark.parametrize(
    ("behaviour", "status", "error"),
    [
        (500, 500, "Answered 500."),
        (404, 404, "Answered 404."),
        (302, 302, "Answered 302; redirects are not followed."),
        ("close", None, "What came back was no answer of HTTP."),
    ],
)
def test_a_failed_attempt_is_retried_later(
    project: Project,
    webhook: Webhook,
    receiver: Receiver,
    behaviour: int | str,
    status: int | None,
    error: str,
) -> None:
    receiver.behaviour = [behaviour]
    delivery = dispatched(project)
    before = timezone.now()

    state = attempt(delivery)

    delivery.refresh_from_db()
    assert state is DeliveryState.PENDING
    assert delivery.last_status == status
    assert error in delivery.last_error
    assert delivery.next_at > before + timedelta(seconds=3.75)
    assert [received.path for received in receiver.received] == ["/hook"]


def test_a_silent_receiver_is_left_after_the_time_limit(
    project: Project, webhook: Webhook, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("verification.actions.sending.TIMEOUT_SECONDS", 0.2)
    receiver.behaviour = ["silent"]
    delivery = dispatched(project)

    state = attempt(delivery)

    delivery.refresh_from_db()
    assert state is DeliveryState.PENDING
    assert delivery.last_error == "No answer within 0.2 s."


@pytest.mark.parametrize(
    ("token", "authorization", "error"),
    [
        ("t0ken\r\n", "Bearer t0ken", ""),
        ("t0\nken", None, "The variable LOOMVERIFY_KEY_HOST is not one line of text."),
        ("tökén", None, "The variable LOOMVERIFY_KEY_HOST holds letters that cannot be sent."),
    ],
)
def test_a_token_that_cannot_be_sent_is_told_of_and_told_to_nobody(
    project: Project,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
    token: str,
    authorization: str | None,
    error: str,
) -> None:
    monkeypatch.setenv("LOOMVERIFY_KEY_HOST", token)
    monkeypatch.setenv("LOOMVERIFY_KEY_HOST_PROJECTS", "*")
    hooked(project, receiver.url, credential_reference="LOOMVERIFY_KEY_HOST")
    delivery = dispatched(project)

    attempt(delivery)

    delivery.refresh_from_db()
    assert delivery.last_error == error
    assert [one.headers.get("Authorization") for one in receiver.received] == (
        [authorization] if authorization else []
    )


def test_an_error_of_the_library_is_told_in_words_of_ours(receiver: Receiver) -> None:
    target = Target(receiver.url, ("127.0.0.1",))

    answer = post(target, headers={"Authorization": "Bearer t0ken\r"}, body=b"{}")

    assert answer == Answer(None, "The address or a header cannot be sent.")


def test_the_same_event_and_bytes_are_sent_at_each_attempt(
    project: Project, webhook: Webhook, receiver: Receiver
) -> None:
    receiver.behaviour = [500, 200]
    delivery = dispatched(project)

    states = [attempt(delivery), attempt(delivery)]

    first, second = receiver.received
    assert states == [DeliveryState.PENDING, DeliveryState.DELIVERED]
    assert first.body == second.body
    assert first.headers["LoomVerify-Delivery"] == second.headers["LoomVerify-Delivery"]


def test_a_delivery_is_given_up_after_eight_attempts(
    project: Project, webhook: Webhook, receiver: Receiver
) -> None:
    receiver.behaviour = [503]
    delivery = dispatched(project)

    states = [attempt(delivery) for _ in range(9)]

    assert states == [DeliveryState.PENDING] * 7 + [DeliveryState.DEAD, None]
    assert len(receiver.received) == 8


def test_a_wake_up_that_comes_twice_sends_once(
    project: Project, webhook: Webhook, receiver: Receiver
) -> None:
    receiver.behaviour = [500]
    delivery = dispatched(project)

    first = services.deliver(delivery_id=delivery.pk, attempt=1)
    second = services.deliver(delivery_id=delivery.pk, attempt=1)

    assert (first, second) == (DeliveryState.PENDING, None)
    assert len(receiver.received) == 1


def test_a_delivery_that_a_worker_holds_is_left_to_it(
    project: Project, webhook: Webhook, receiver: Receiver
) -> None:
    delivery = dispatched(project)
    Delivery.objects.update(lease_until=timezone.now() + timedelta(minutes=30))

    state = services.deliver(delivery_id=delivery.pk, attempt=1)

    assert state is None
    assert receiver.received == []


def test_a_delivery_whose_worker_died_goes_to_another(
    project: Project, webhook: Webhook, receiver: Receiver, empty_queue: None
) -> None:
    delivery = dispatched(project)
    past = timezone.now() - timedelta(seconds=1)
    Delivery.objects.update(attempts=1, lease_until=past, next_at=past)

    services.sweep()
    [(webhook_id, until)] = drain_queue()
    services.serve(webhook_id=webhook_id, taken_until=datetime.fromisoformat(until))

    delivery.refresh_from_db()
    assert (delivery.attempts, delivery.state) == (2, DeliveryState.DELIVERED)


def test_the_end_of_an_attempt_whose_lease_was_lost_is_not_stored(
    project: Project, webhook: Webhook, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    delivery = dispatched(project)
    send = deliveries._send

    def send_late(held: Delivery) -> Answer:
        Delivery.objects.update(attempts=2, lease_until=timezone.now() + timedelta(minutes=30))
        return send(held)

    monkeypatch.setattr(deliveries, "_send", send_late)

    state = services.deliver(delivery_id=delivery.pk, attempt=1)

    delivery.refresh_from_db()
    assert state is None
    assert delivery.state == DeliveryState.PENDING


def test_the_sweep_wakes_what_is_due_and_not_again_at_once(
    project: Project, webhook: Webhook, empty_queue: None
) -> None:
    dispatched(project)
    dispatched(project)

    counts = [services.sweep(), services.sweep()]

    webhook.refresh_from_db()
    assert counts == [1, 0]
    assert webhook.busy_until is not None
    assert drain_queue() == [(webhook.pk, webhook.busy_until.isoformat())]


def test_the_sweep_gives_up_a_last_attempt_that_was_lost(
    project: Project, webhook: Webhook, empty_queue: None
) -> None:
    delivery = dispatched(project)
    past = timezone.now() - timedelta(seconds=1)
    Delivery.objects.update(attempts=8, lease_until=past, next_at=past)

    services.sweep()

    delivery.refresh_from_db()
    assert delivery.state == DeliveryState.DEAD
    assert drain_queue() == []


def test_what_is_under_way_to_a_disabled_webhook_waits(
    project: Project, webhook: Webhook, empty_queue: None
) -> None:
    dispatched(project)
    services.set_enabled(project=project, actor=SYSTEM, webhook_id=webhook.uuid, is_enabled=False)
    while_disabled = services.sweep()

    services.set_enabled(project=project, actor=SYSTEM, webhook_id=webhook.uuid, is_enabled=True)

    assert (while_disabled, services.sweep()) == (0, 1)


def test_the_target_is_checked_again_when_sending(
    project: Project, webhook: Webhook, receiver: Receiver
) -> None:
    delivery = dispatched(project)
    Webhook.objects.update(url=f"http://10.0.0.8:{receiver.port}/hook")

    attempt(delivery)

    delivery.refresh_from_db()
    assert delivery.last_error == "10.0.0.8 leads to 10.0.0.8, which is not a public address."
    assert receiver.received == []


def test_a_delivery_that_is_over_can_be_sent_again_under_the_same_event(
    project: Project, webhook: Webhook, receiver: Receiver
) -> None:
    delivery = dispatched(project)
    attempt(delivery)

    restarted = services.redeliver(project=project, actor=SYSTEM, delivery_id=delivery.uuid)
    again = services.redeliver(project=project, actor=SYSTEM, delivery_id=delivery.uuid)
    attempt(delivery)

    first, second = receiver.received
    assert (restarted, again) == (True, False)
    assert first.headers["LoomVerify-Delivery"] == second.headers["LoomVerify-Delivery"]
    assert AuditEntry.objects.filter(verb="delivery.repeated").count() == 1


@pytest.mark.parametrize(
    ("attempt_number", "spread", "seconds"),
    [
        (1, 0.5, 5.0),
        (1, 0.0, 3.75),
        (1, 1.0, 6.25),
        (3, 0.5, 80.0),
        (8, 0.5, 3600.0),
    ],
)
def test_each_retry_waits_four_times_longer_up_to_an_hour(
    attempt_number: int, spread: float, seconds: float
) -> None:
    assert deliveries.retry_delay_seconds(attempt_number, spread=spread) == seconds
