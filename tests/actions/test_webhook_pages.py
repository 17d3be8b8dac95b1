from __future__ import annotations

import html

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from loomverify.accounts.models import AuditEntry, Project, Role
from tests.actions.builders import make_delivery
from tests.actions.conftest import signed_in
from tests.actions.receiver import Receiver
from tests.builders import make_process
from verification.actions.models import Delivery, DeliveryState, Webhook

PAGE = "/p/loom/settings/webhooks/"


@pytest.fixture
def admin(project: Project) -> Client:
    return signed_in(project, Role.ADMIN)


@pytest.fixture
def delivery(webhook: Webhook) -> Delivery:
    return make_delivery(
        webhook,
        state=DeliveryState.DEAD,
        attempts=8,
        last_status=503,
        last_error="Answered 503.",
    )


def test_the_page_of_a_project_without_endpoints_says_what_they_are_for(admin: Client) -> None:
    page = admin.get(PAGE)

    assert page.status_code == 200
    assert "No endpoint yet" in page.content.decode()


def test_an_endpoint_is_added_and_its_secret_shown_once(
    admin: Client, project: Project, receiver: Receiver
) -> None:
    answer = admin.post(PAGE, {"url": receiver.url, "topics": ["run.finished"]})
    first, second = admin.get(PAGE).content.decode(), admin.get(PAGE).content.decode()

    webhook = Webhook.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, PAGE)
    assert webhook.topics == ["run.finished"]
    assert webhook.secret in first
    assert webhook.secret not in second


@pytest.mark.parametrize(
    ("url", "topics", "message"),
    [
        ("http://10.0.0.8/hook", ["run.finished"], "not a public address"),
        ("", ["run.finished"], "This field is required"),
        ("http://127.0.0.1/", [], "This field is required"),
        ("http://127.0.0.1/", ["run.started"], "not one of the available choices"),
    ],
)
def test_a_form_that_is_wrong_says_why(
    admin: Client, url: str, topics: list[str], message: str
) -> None:
    page = admin.post(PAGE, {"url": url, "topics": topics})

    assert page.status_code == 422
    assert message in page.content.decode()
    assert Webhook.objects.count() == 0


def test_an_endpoint_is_disabled_and_enabled(admin: Client, webhook: Webhook) -> None:
    admin.post(f"{PAGE}{webhook.uuid}/disable/")
    webhook.refresh_from_db()
    was_enabled = webhook.is_enabled

    admin.post(f"{PAGE}{webhook.uuid}/enable/")

    webhook.refresh_from_db()
    verbs = AuditEntry.objects.order_by("id").values_list("verb", flat=True)
    assert (was_enabled, webhook.is_enabled) == (False, True)
    assert list(verbs) == ["webhook.created", "webhook.disabled", "webhook.enabled"]


def test_an_endpoint_is_removed(admin: Client, webhook: Webhook) -> None:
    admin.post(f"{PAGE}{webhook.uuid}/remove/")

    assert Webhook.objects.count() == 0


def test_a_test_event_goes_to_this_endpoint_alone(
    admin: Client, project: Project, webhook: Webhook
) -> None:
    Webhook.objects.create(project=project, url=webhook.url, topics=["run.finished"], secret="s")

    admin.post(f"{PAGE}{webhook.uuid}/test/")

    delivery = Delivery.objects.get()
    assert (delivery.webhook, delivery.topic) == (webhook, "webhook.test")


def test_a_disabled_endpoint_gets_no_test_event(admin: Client, webhook: Webhook) -> None:
    Webhook.objects.update(is_enabled=False)

    page = admin.post(f"{PAGE}{webhook.uuid}/test/", follow=True)

    assert "Enable this webhook before testing it." in page.content.decode()
    assert Delivery.objects.count() == 0


def test_a_delivery_given_up_shows_why_and_is_sent_again(admin: Client, delivery: Delivery) -> None:
    page = admin.get(PAGE).content.decode()

    admin.post(f"{PAGE}deliveries/{delivery.uuid}/repeat/")

    delivery.refresh_from_db()
    assert "Answered 503." in page
    assert "given up" in page
    assert (delivery.state, delivery.attempts) == (DeliveryState.PENDING, 0)


def test_a_hostile_address_is_shown_as_text(admin: Client, webhook: Webhook) -> None:
    Webhook.objects.update(url="http://x/<script>alert(1)</script>")

    page = admin.get(PAGE).content.decode()

    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


ACTIONS = ["{webhook}/enable/", "{webhook}/disable/", "{webhook}/test/", "{webhook}/remove/"]


@pytest.mark.parametrize(
    "path", ["", *ACTIONS, "deliveries/repeat/", "deliveries/{delivery}/repeat/"]
)
def test_who_is_not_an_admin_of_the_project_changes_nothing(
    project: Project, other_project: Project, delivery: Delivery, path: str
) -> None:
    url = PAGE + path.format(webhook=delivery.webhook.uuid, delivery=delivery.uuid)
    outsider, editor = signed_in(other_project, Role.ADMIN), signed_in(project, Role.EDITOR)

    statuses = [
        outsider.post(url).status_code,
        editor.post(url).status_code,
        Client().post(url).status_code,
    ]

    delivery.refresh_from_db()
    assert statuses == [404, 403, 302]
    assert delivery.state == DeliveryState.DEAD
    assert delivery.webhook.is_enabled


@pytest.mark.parametrize("path", [*ACTIONS, "deliveries/{delivery}/repeat/"])
def test_another_projects_endpoints_cannot_be_reached_through_ones_own(
    other_project: Project, delivery: Delivery, path: str
) -> None:
    outsider = signed_in(other_project, Role.ADMIN)
    ending = path.format(webhook=delivery.webhook.uuid, delivery=delivery.uuid)

    answer = outsider.post(f"/p/other/settings/webhooks/{ending}")

    delivery.refresh_from_db()
    assert answer.status_code == 404
    assert delivery.state == DeliveryState.DEAD


def test_the_page_takes_the_same_queries_however_many_endpoints(
    admin: Client, project: Project, delivery: Delivery
) -> None:
    admin.get(PAGE)  # the first request also loads what the process caches
    with CaptureQueriesContext(connection) as few:
        assert admin.get(PAGE).status_code == 200
    for number in range(15):
        url = f"http://host-{number}/"
        webhook = Webhook.objects.create(project=project, url=url, topics=[], secret="s")
        make_delivery(webhook)

    with CaptureQueriesContext(connection) as many:
        page = admin.get(PAGE).content.decode()

    assert page.count("http://host-") >= 15
    assert len(many) == len(few) <= 12


def test_a_code_hosts_status_is_set_up_in_the_page_and_named_there(
    admin: Client, project: Project
) -> None:
    make_process(project, slug="coding")
    form = {
        "url": "http://127.0.0.1:9/repos/o/r/statuses/{commit}",
        "topics": ["run.finished"],
        "format": "status",
        "processes": ["coding"],
        "template": '{"state": "{state}"}',
        "credential_reference": "LOOMVERIFY_KEY_HOST",
    }
    answer = admin.post(PAGE, form)
    page = admin.get(PAGE).content.decode()

    webhook = Webhook.objects.get()
    assert answer.status_code == 302
    assert (webhook.format, webhook.processes) == ("status", ["coding"])
    assert webhook.template == form["template"]
    assert webhook.credential_reference == "LOOMVERIFY_KEY_HOST"
    assert "A commit&#x27;s status, for a code host" in page
    assert "of coding" in page


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"template": '{"a": "{key}"}'}, "There is no {key}"),
        ({"topics": ["review.digest"]}, "There is no topic review.digest"),
        ({"credential_reference": "HOME"}, "not the name of a variable"),
    ],
)
def test_a_status_that_cannot_be_sent_keeps_what_was_typed(
    admin: Client, wrong: dict[str, object], message: str
) -> None:
    form = {"url": "http://127.0.0.1:9/", "topics": ["run.finished"], "format": "status"}
    page = admin.post(PAGE, {**form, **wrong})

    assert page.status_code == 422
    assert message in html.unescape(page.content.decode())
    assert 'value="status" id="id_format_2" checked' in page.content.decode().replace(
        " required", ""
    )
    assert not Webhook.objects.exists()
