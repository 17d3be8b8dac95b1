from __future__ import annotations

import json
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import AuditEntry, Project, Role
from tests.actions.builders import make_delivery
from tests.actions.conftest import hooked, key_of, signed_in
from tests.actions.receiver import Receiver
from verification.actions import services
from verification.actions.models import Delivery, DeliveryState, Webhook
from verification.actions.report import forgetting
from verification.actions.services import redelivering

PAGE, LIST = "/p/loom/settings/webhooks/deliveries/", "/api/v1/deliveries"
DEAD, ARRIVED, WAITING = DeliveryState.DEAD, DeliveryState.DELIVERED, DeliveryState.PENDING
A_DAY = timedelta(days=1)


@pytest.fixture
def admin(project: Project) -> Client:
    return signed_in(project, Role.ADMIN)


@pytest.fixture
def api(project: Project) -> Client:
    return Client(headers={"Authorization": f"Bearer {key_of(project, Role.ADMIN)}"})


def given_up(webhook: Webhook, **columns: Any) -> Delivery:
    usual = {"attempts": 8, "last_status": 503, "last_error": "Answered 503."}
    return make_delivery(webhook, state=DEAD, **{**usual, **columns})


def states(*deliveries: Delivery) -> list[str]:
    return [Delivery.objects.get(pk=delivery.pk).state for delivery in deliveries]


def test_a_page_without_deliveries_says_what_will_be_there(admin: Client) -> None:
    assert "Nothing has been sent yet" in admin.get(PAGE).content.decode()


def test_what_was_given_up_stands_there_with_its_reason(admin: Client, webhook: Webhook) -> None:
    dead = given_up(webhook, topic="run.decided")
    make_delivery(webhook, state=ARRIVED, topic="report.morning")

    every = admin.get(PAGE).content.decode()
    narrowed = admin.get(f"{PAGE}?state=dead").content.decode()

    assert str(dead.event_id) in every
    assert str(dead.event_id) in narrowed
    assert "Answered 503." in narrowed
    assert narrowed.count("settings/webhooks/deliveries/") < every.count(
        "settings/webhooks/deliveries/"
    )


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("state=dead", {"dead"}),
        ("state=pending", {"waiting"}),
        ("topic=run.decided", {"arrived"}),
        ("webhook={other}", {"elsewhere"}),
        ("webhook=odd", {"dead", "waiting", "arrived", "elsewhere"}),
    ],
)
def test_filters_stand_in_the_address(
    admin: Client, project: Project, webhook: Webhook, query: str, found: set[str]
) -> None:
    other = hooked(project, "http://127.0.0.1:9/other")
    made = {
        "dead": given_up(webhook),
        "waiting": make_delivery(webhook),
        "arrived": make_delivery(webhook, state=ARRIVED, topic="run.decided"),
        "elsewhere": make_delivery(other, state=ARRIVED),
    }

    page = admin.get(f"{PAGE}?{query.format(other=other.uuid)}").content.decode()

    assert {name for name, one in made.items() if str(one.event_id) in page} == found


def test_many_are_read_in_pages_and_each_once(admin: Client, api: Client, webhook: Webhook) -> None:
    ids = {str(make_delivery(webhook, state=ARRIVED).uuid) for _ in range(7)}

    first = api.get(f"{LIST}?limit=4").json()
    second = api.get(f"{LIST}?limit=4&cursor={first['next']}").json()

    assert [len(first["items"]), len(second["items"]), second["next"]] == [4, 3, None]
    assert {one["id"] for one in first["items"] + second["items"]} == ids
    assert admin.get(f"{PAGE}?cursor=odd").status_code == 400


def test_the_body_that_is_sent_is_shown_and_no_secret(
    admin: Client, webhook: Webhook, project: Project
) -> None:
    room = hooked(project, "http://127.0.0.1:9/services/T0/s3cret-key", format="chat")
    dead = given_up(room, payload={"process": "coding", "phase": "a", "verdict": "accept"})

    page = admin.get(f"{PAGE}{dead.uuid}/").content.decode()

    assert "Accepted: coding, a." in page
    assert "s3cret" not in page
    assert room.secret not in page


def test_a_row_over_the_api_says_where_it_stands(api: Client, webhook: Webhook) -> None:
    dead = given_up(webhook)
    [one] = api.get(f"{LIST}?state=dead&topic=run.finished&webhook={webhook.uuid}").json()["items"]

    assert one == {
        "id": str(dead.uuid),
        "event": str(dead.event_id),
        "topic": "run.finished",
        "webhook": str(webhook.uuid),
        "state": "dead",
        "attempts": 8,
        "last_status": 503,
        "last_error": "Answered 503.",
        "next_at": None,
        "created_at": one["created_at"],
        "delivered_at": None,
    }


def test_what_was_given_up_is_sent_again_and_arrives(
    api: Client, webhook: Webhook, receiver: Receiver
) -> None:
    dead = given_up(webhook)

    answer = api.post(f"{LIST}/{dead.uuid}/redeliver").json()
    services.deliver(delivery_id=dead.pk, attempt=1)

    assert (answer["state"], answer["attempts"]) == ("pending", 0)
    assert [json.loads(one.body)["id"] for one in receiver.received] == [str(dead.event_id)]
    assert states(dead) == [ARRIVED]


def test_what_is_under_way_is_not_begun_anew(api: Client, webhook: Webhook) -> None:
    waiting = make_delivery(webhook, attempts=3)

    answer = api.post(f"{LIST}/{waiting.uuid}/redeliver")

    assert answer.json()["attempts"] == 3
    assert not AuditEntry.objects.filter(verb="delivery.repeated").exists()


def test_all_that_was_given_up_and_fits_is_sent_again(
    admin: Client, project: Project, webhook: Webhook
) -> None:
    fitting = [given_up(webhook, topic="run.decided") for _ in range(3)]
    others = [
        given_up(webhook),
        given_up(hooked(project, "http://127.0.0.1:9/other"), topic="run.decided"),
        make_delivery(webhook, state=ARRIVED, topic="run.decided"),
    ]

    page = admin.post(
        f"{PAGE}repeat/?topic=run.decided&webhook={webhook.uuid}", {"next": PAGE}, follow=True
    )

    assert "3 are sent once more." in page.content.decode()
    assert states(*fitting) == [WAITING] * 3
    assert states(*others) == [DEAD, DEAD, ARRIVED]
    entry = AuditEntry.objects.get(verb="deliveries.repeated")
    assert entry.diff == {"deliveries": [None, 3]}


def test_of_one_that_is_sent_again_the_page_says_so(admin: Client, webhook: Webhook) -> None:
    given_up(webhook)

    page = admin.post(f"{PAGE}repeat/", {"next": PAGE}, follow=True).content.decode()

    assert "1 is sent once more." in page


def test_the_last_of_several_attempts_is_told_as_such(admin: Client, webhook: Webhook) -> None:
    for attempts in (1, 8):
        make_delivery(webhook, state=DEAD, attempts=attempts, last_error="It was cut.")

    page = admin.get(PAGE).content.decode()

    assert "1 attempt: <bdi>It was cut.</bdi>" in page
    assert "8 attempts, the last: <bdi>It was cut.</bdi>" in page


def test_only_so_many_are_sent_again_at_once_the_oldest_first(
    project: Project, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redelivering, "MAX_AT_ONCE", 2)
    now = timezone.now()
    newest, oldest, older = (given_up(webhook, created_at=now - A_DAY * n) for n in (0, 2, 1))

    again = services.redeliver_given_up(project=project, actor=SYSTEM, filters={})

    assert again == 2
    assert states(oldest, older, newest) == [WAITING, WAITING, DEAD]


def test_another_projects_deliveries_are_not_there(
    api: Client, admin: Client, other_project: Project
) -> None:
    foreign = given_up(hooked(other_project, "http://127.0.0.1:9/"))

    assert api.get(LIST).json()["items"] == []
    assert api.post(f"{LIST}/{foreign.uuid}/redeliver").status_code == 404
    assert api.post(f"{LIST}/{uuid.uuid4()}/redeliver").status_code == 404
    again = api.post(f"{LIST}/redeliver", {}, content_type="application/json")
    assert again.json() == {"repeated": 0}
    assert admin.get(f"{PAGE}{foreign.uuid}/").status_code == 404
    assert states(foreign) == [DEAD]


def test_the_list_takes_as_many_queries_for_fifty_as_for_five(
    admin: Client, project: Project
) -> None:
    def queries_with(count: int) -> int:
        for number in range(count):
            given_up(hooked(project, f"http://127.0.0.1:9/{number}") if number < 10 else webhook())
        with CaptureQueriesContext(connection) as asked:
            assert admin.get(PAGE).status_code == 200
        return len(asked)

    def webhook() -> Webhook:
        return Webhook.objects.latest("id")

    queries_with(1)  # signed in since
    assert queries_with(4) == queries_with(45)


@pytest.mark.parametrize(
    ("state", "days", "is_kept"),
    [
        (ARRIVED, 29, True),
        (ARRIVED, 31, False),
        (DEAD, 31, True),
        (DEAD, 91, False),
        (WAITING, 400, True),
    ],
)
def test_what_is_over_is_forgotten_in_its_time_and_what_waits_is_not(
    project: Project, state: str, days: int, is_kept: bool
) -> None:
    Project.objects.filter(pk=project.pk).update(retention_days=90)
    now = timezone.now()
    make_delivery(
        hooked(project, "http://127.0.0.1:9/"), state=state, created_at=now - A_DAY * days
    )

    forgetting.forget(now)

    assert Delivery.objects.exists() == is_kept


def test_an_arrived_delivery_is_forgotten_with_a_projects_short_memory(
    project: Project,
) -> None:
    Project.objects.filter(pk=project.pk).update(retention_days=7)
    make_delivery(
        hooked(project, "http://127.0.0.1:9/"),
        state=ARRIVED,
        created_at=timezone.now() - A_DAY * 8,
    )

    forgetting.forget(timezone.now())

    assert not Delivery.objects.exists()
