from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from loomverify.accounts.models import AuditEntry, Project, Role
from tests.actions.conftest import hooked, key_of
from tests.actions.receiver import Receiver
from verification.actions.models import Webhook

WEBHOOKS = "/api/v1/webhooks"


def call(client: Client, method: str, path: str, key: str, body: Any = None) -> Any:
    return client.generic(
        method,
        path,
        data=b"" if body is None else json.dumps(body),
        content_type="application/json",
        headers={"Authorization": f"Bearer {key}"},
    )


@pytest.fixture
def admin_key(project: Project) -> str:
    return key_of(project, Role.ADMIN)


def test_an_endpoint_is_registered_and_its_secret_shown_once(
    client: Client, project: Project, admin_key: str, receiver: Receiver
) -> None:
    body = {"url": receiver.url, "topics": ["run.finished", "run.decided"]}

    made = call(client, "POST", WEBHOOKS, admin_key, body)
    listed = call(client, "GET", WEBHOOKS, admin_key)

    stored = Webhook.objects.get()
    assert made.status_code == 201
    assert made.json()["secret"] == stored.secret
    assert len(stored.secret) >= 32
    assert listed.json()["items"] == [
        {
            "id": str(stored.uuid),
            "url": receiver.url,
            "topics": ["run.finished", "run.decided"],
            "processes": [],
            "format": "event",
            "template": "",
            "credential_reference": "",
            "enabled": True,
            "created_by": "key admin",
            "created_at": made.json()["created_at"],
        }
    ]
    assert listed.json()["next"] is None
    audit = AuditEntry.objects.get(verb="webhook.created")
    assert stored.secret not in str(audit.diff)
    assert audit.diff.keys() == {"url", "topics", "format"}


def test_all_that_was_said_of_an_endpoint_but_its_secret_stands_in_the_audit_log(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOMVERIFY_KEY_HOST", "t0ken")
    template = '{"state": "{state}"}'

    hooked(
        project, "http://127.0.0.1:9/{commit}", format="status", template=template,
        credential_reference="LOOMVERIFY_KEY_HOST",
    )  # fmt: skip

    diff = AuditEntry.objects.get(verb="webhook.created").diff
    assert diff["template"] == [None, template]
    assert diff["credential_reference"] == [None, "LOOMVERIFY_KEY_HOST"]


def test_a_callers_own_secret_is_kept(client: Client, admin_key: str, receiver: Receiver) -> None:
    body = {"url": receiver.url, "topics": ["run.finished"], "secret": "a-secret-of-my-own"}

    made = call(client, "POST", WEBHOOKS, admin_key, body)

    assert made.json()["secret"] == "a-secret-of-my-own"


@pytest.mark.parametrize(
    ("change", "code", "loc"),
    [
        ({"url": "http://10.0.0.8/"}, "webhook.url_refused", ["body", "url"]),
        ({"topics": ["run.started"]}, "webhook.topic_unknown", ["body", "topics", 0]),
        ({"secret": "short"}, "webhook.secret_length", ["body", "secret"]),
        ({"secret": "s" * 20 + "\0"}, "webhook.secret_invalid", ["body", "secret"]),
        ({"topics": []}, "too_short", ["body", "body", "topics"]),
    ],
)
def test_what_is_wrong_with_an_endpoint_is_named_with_its_place(
    client: Client,
    admin_key: str,
    receiver: Receiver,
    change: dict[str, Any],
    code: str,
    loc: list[str | int],
) -> None:
    body = {"url": receiver.url, "topics": ["run.finished"]} | change

    answer = call(client, "POST", WEBHOOKS, admin_key, body)

    [error] = answer.json()["errors"]
    assert answer.status_code == 422
    assert answer["Content-Type"] == "application/problem+json"
    assert (error["code"], error["loc"]) == (code, loc)
    assert Webhook.objects.count() == 0


def test_a_project_has_at_most_twenty_endpoints(
    client: Client, project: Project, admin_key: str, receiver: Receiver
) -> None:
    Webhook.objects.bulk_create(
        Webhook(project=project, url=receiver.url, topics=[], secret="s") for _ in range(20)
    )

    answer = call(
        client, "POST", WEBHOOKS, admin_key, {"url": receiver.url, "topics": ["run.finished"]}
    )

    assert answer.status_code == 409
    assert answer.json()["errors"][0]["code"] == "webhook.too_many"


def test_an_endpoint_is_removed(client: Client, webhook: Webhook, admin_key: str) -> None:
    removed = call(client, "DELETE", f"{WEBHOOKS}/{webhook.uuid}", admin_key)
    again = call(client, "DELETE", f"{WEBHOOKS}/{webhook.uuid}", admin_key)

    assert (removed.status_code, removed.content) == (204, b"")
    assert again.status_code == 404
    assert AuditEntry.objects.filter(verb="webhook.removed").count() == 1


def test_the_list_is_paged(
    client: Client, project: Project, admin_key: str, receiver: Receiver
) -> None:
    for number in range(3):
        Webhook.objects.create(
            project=project, url=f"{receiver.url}/{number}", topics=[], secret="s"
        )

    first = call(client, "GET", f"{WEBHOOKS}?limit=2", admin_key).json()
    second = call(client, "GET", f"{WEBHOOKS}?limit=2&cursor={first['next']}", admin_key).json()

    urls = [item["url"][-1] for page in (first, second) for item in page["items"]]
    assert urls == ["2", "1", "0"]
    assert second["next"] is None


def test_another_projects_endpoint_is_not_found(
    client: Client, other_project: Project, webhook: Webhook
) -> None:
    key = key_of(other_project, Role.ADMIN)

    removed = call(client, "DELETE", f"{WEBHOOKS}/{webhook.uuid}", key)
    listed = call(client, "GET", WEBHOOKS, key)

    assert removed.status_code == 404
    assert listed.json()["items"] == []
    assert Webhook.objects.filter(pk=webhook.pk).exists()


def test_only_an_admins_key_reaches_endpoints(
    client: Client, project: Project, webhook: Webhook
) -> None:
    key = key_of(project, Role.EDITOR)
    body = {"url": webhook.url, "topics": ["run.finished"]}

    statuses = [
        call(client, "GET", WEBHOOKS, key).status_code,
        call(client, "POST", WEBHOOKS, key, body).status_code,
        call(client, "DELETE", f"{WEBHOOKS}/{webhook.uuid}", key).status_code,
    ]

    assert statuses == [403, 403, 403]
    assert Webhook.objects.count() == 1


def test_without_a_key_nothing_is_told(client: Client, webhook: Webhook) -> None:
    assert call(client, "GET", WEBHOOKS, "lv_" + "x" * 40).status_code == 401
