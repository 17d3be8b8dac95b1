from __future__ import annotations

import hashlib
import re
from datetime import timedelta

import pytest
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.access import SYSTEM, person
from loomverify.accounts.models import ApiKey, AuditEntry, Project, Role, User
from loomverify.accounts.services import create_api_key, revoke_api_key
from loomverify.api import KeyAuth, access_of_key
from loomverify.errors import InputError, NotFound
from tests.accounts.conftest import signed_in


def test_a_key_is_shown_once_and_only_its_hash_is_stored(project: Project, ada: User) -> None:
    key, secret = create_api_key(project=project, name="ci", role=Role.AGENT, actor=person(ada))

    stored = ApiKey.objects.filter(pk=key.pk).values().get()
    assert re.fullmatch(r"lv_[A-Za-z0-9_-]{43}", secret)
    assert stored["sha256"] == hashlib.sha256(secret.encode()).hexdigest()
    assert stored["prefix"] == secret[:7]
    assert secret not in str(stored)
    assert key.created_by == ada


def test_making_and_revoking_a_key_is_written_down(project: Project, ada: User) -> None:
    key, secret = create_api_key(project=project, name="ci", role=Role.AGENT, actor=person(ada))
    revoke_api_key(project=project, key_id=key.uuid, actor=person(ada))

    entries = AuditEntry.objects.filter(project=project, actor="ada").order_by("at")
    assert [entry.verb for entry in entries] == ["key.created", "key.revoked"]
    assert entries[0].diff["role"] == [None, "agent"]
    assert not any(secret in str(vars(entry)) for entry in entries)


def test_a_key_opens_its_project_in_its_role(project: Project) -> None:
    _, secret = create_api_key(project=project, name="ci", role=Role.AGENT, actor=SYSTEM)

    access = access_of_key(secret)

    assert access is not None
    assert (access.project, access.role, access.actor.name) == (project, Role.AGENT, "key ci")


def test_a_revoked_key_opens_nothing(project: Project) -> None:
    key, secret = create_api_key(project=project, name="ci", role=Role.ADMIN, actor=SYSTEM)

    first = revoke_api_key(project=project, key_id=key.uuid, actor=SYSTEM)
    again = revoke_api_key(project=project, key_id=key.uuid, actor=SYSTEM)

    assert (first, again) == (True, False)
    assert access_of_key(secret) is None
    assert AuditEntry.objects.filter(verb="key.revoked").count() == 1


def test_an_expired_key_opens_nothing(project: Project) -> None:
    soon = timezone.now() + timedelta(days=1)
    key, secret = create_api_key(
        project=project, name="ci", role=Role.ADMIN, actor=SYSTEM, expires_at=soon
    )
    before = access_of_key(secret)

    ApiKey.objects.filter(pk=key.pk).update(expires_at=timezone.now())

    assert before is not None
    assert access_of_key(secret) is None


@pytest.mark.parametrize("token", ["", "lv_", "lv_" + "x" * 43, "lv_\x00", "é" * 50])
def test_what_is_no_key_opens_nothing(token: str, project: Project) -> None:
    create_api_key(project=project, name="ci", role=Role.ADMIN, actor=SYSTEM)

    assert KeyAuth().authenticate(RequestFactory().get("/"), token) is None


def test_the_api_refuses_a_revoked_key(project: Project) -> None:
    key, secret = create_api_key(project=project, name="ci", role=Role.ADMIN, actor=SYSTEM)
    headers = {"Authorization": f"Bearer {secret}"}
    before = Client().get("/api/v1/runs", headers=headers)

    revoke_api_key(project=project, key_id=key.uuid, actor=SYSTEM)
    after = Client().get("/api/v1/runs", headers=headers)

    assert (before.status_code, after.status_code) == (200, 401)
    assert after["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("name", ["", "   ", "k" * 81, "a\x00b"])
def test_a_key_needs_a_name(name: str, project: Project) -> None:
    with pytest.raises(InputError) as caught:
        create_api_key(project=project, name=name, role=Role.AGENT, actor=SYSTEM)

    assert caught.value.code == "key.name.invalid"


def test_a_key_cannot_be_made_expired(project: Project) -> None:
    with pytest.raises(InputError) as caught:
        create_api_key(
            project=project, name="ci", role=Role.AGENT, actor=SYSTEM, expires_at=timezone.now()
        )

    assert caught.value.code == "key.expiry.past"


def test_another_projects_key_cannot_be_revoked(project: Project, other_project: Project) -> None:
    key, secret = create_api_key(project=other_project, name="ci", role=Role.AGENT, actor=SYSTEM)

    with pytest.raises(NotFound):
        revoke_api_key(project=project, key_id=key.uuid, actor=SYSTEM)

    assert access_of_key(secret) is not None


def test_the_page_shows_a_new_key_once_with_a_first_run(project: Project, ada: User) -> None:
    client, address = signed_in(ada), reverse("settings_keys", args=[project.slug])

    answer = client.post(address, {"name": "ci", "role": "agent", "expires_in": "30"})
    later = client.get(address).content.decode()

    page = answer.content.decode()
    secret = re.search(r"lv_[A-Za-z0-9_-]{43}", page)
    assert secret is not None
    assert access_of_key(secret[0]) is not None
    assert "curl -sS" in page
    assert f"Authorization: Bearer {secret[0]}" in page
    assert "no-store" in answer["Cache-Control"]
    assert secret[0] not in later
    assert ApiKey.objects.get().expires_at is not None


def test_the_empty_page_shows_how_to_submit(project: Project, ada: User) -> None:
    answer = signed_in(ada).get(reverse("settings_keys", args=[project.slug]))

    page = answer.content.decode()
    assert "No key yet" in page
    assert "/api/v1/runs" in page


def test_the_page_revokes(project: Project, ada: User) -> None:
    key, secret = create_api_key(project=project, name="ci", role=Role.AGENT, actor=SYSTEM)
    address = reverse("key_revoke", args=[project.slug, key.uuid])

    answer = signed_in(ada).post(address, follow=True)

    assert "revoked" in answer.content.decode()
    assert access_of_key(secret) is None


def test_a_key_form_without_a_name_comes_back(project: Project, ada: User) -> None:
    address = reverse("settings_keys", args=[project.slug])

    answer = signed_in(ada).post(address, {"name": " ", "role": "agent"})

    assert answer.status_code == 422
    assert not ApiKey.objects.exists()
