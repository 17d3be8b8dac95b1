from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from django.test import Client

from loomverify.accounts.access import Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import ApiKey, AuditEntry, Project, Role, User
from tests.builders import make_user, signed_in
from tests.owned.whole import key_of, whole_project
from verification.actions.models import Webhook, WebhookFormat
from verification.owned import export, tables
from verification.runs import evidence_store
from verification.runs.models import Blob, Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def whole() -> Project:
    return whole_project("taken")


def exported(project: Project) -> zipfile.ZipFile:
    archive = zipfile.ZipFile(io.BytesIO(b"".join(export.export_of(project))))
    assert archive.testzip() is None
    return archive


def told(archive: zipfile.ZipFile, table: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in archive.read(f"tables/{table}.jsonl").splitlines()]


def test_every_row_and_every_content_is_in_it_and_none_of_another_project(whole: Project) -> None:
    whole_project("other")
    archive = exported(whole)
    manifest = json.loads(archive.read("manifest.json"))

    for rows in tables.deepest_first(whole):
        label = rows.model._meta.label_lower
        key = rows.model._meta.pk.attname
        assert {row[key] for row in told(archive, label)} == set(rows.values_list("pk", flat=True))
        assert manifest["rows"][label] == rows.count()
    contents = {
        name.removeprefix("contents/") for name in archive.namelist() if "contents/" in name
    }
    assert contents == set(Blob.objects.filter(project=whole).values_list("sha256", flat=True))
    assert json.loads(archive.read("project.json"))["slug"] == "taken"


def test_a_row_says_all_that_its_columns_hold(whole: Project) -> None:
    run = Run.objects.filter(project=whole).latest("id")

    [row] = [one for one in told(exported(whole), "runs.run") if one["id"] == run.pk]

    assert row["uuid"] == str(run.uuid)
    assert row["title"] == run.title
    assert set(row) == {field.attname for field in Run._meta.concrete_fields} - {"search"}


def test_what_opens_doors_is_not_in_it(whole: Project) -> None:
    archive = exported(whole)
    everything = b"".join(archive.read(name) for name in archive.namelist())

    for secret in (
        *ApiKey.objects.values_list("sha256", flat=True),
        *Webhook.objects.values_list("secret", flat=True),
    ):
        assert secret.encode() not in everything


def test_the_address_of_a_chat_room_is_told_as_everywhere_else(whole: Project) -> None:
    room = "https://chat.example/hooks/T0/secret-path-9f3a"
    Webhook.objects.create(
        project=whole, url=room, format=WebhookFormat.CHAT, topics=["run.finished"], secret="s" * 20
    )

    shown = [row["url"] for row in told(exported(whole), "actions.webhook")]

    assert "https://chat.example/…9f3a" in shown
    assert room not in shown


def test_whoever_is_named_by_a_row_is_told_by_name_and_members_by_address(whole: Project) -> None:
    member, left = make_user(whole, Role.REVIEWER), make_user(None)
    for user in (member, left):
        User.objects.filter(pk=user.pk).update(email=f"{user.username}@example.com")
    record(Actor("left", user=left), "project.looked_at", whole, project=whole)

    archive = exported(whole)

    people = {one["id"]: one for one in json.loads(archive.read("people.json"))}
    assert people[member.pk]["email"] == f"{member.username}@example.com"
    assert (people[left.pk]["username"], people[left.pk]["email"]) == (left.username, "")
    for model in tables.paths():
        users = [one.attname for one in model._meta.concrete_fields if one.related_model is User]
        for row in told(archive, model._meta.label_lower):
            assert {row[name] for name in users} - {None} <= people.keys()


def test_many_rows_come_page_by_page_and_each_once(
    whole: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "PAGE_ROWS", 2)

    keys = [row["id"] for row in told(exported(whole), "accounts.auditentry")]

    assert len(keys) > 4
    assert keys == sorted(AuditEntry.objects.filter(project=whole).values_list("id", flat=True))


def test_a_content_that_is_lost_is_counted_and_costs_nothing_else(whole: Project) -> None:
    evidence_store.delete_all(whole)

    manifest = json.loads(exported(whole).read("manifest.json"))

    assert manifest["contents_lost"] == Blob.objects.filter(project=whole).count() > 0


def test_an_admin_takes_it_along_from_the_page_and_over_the_api(whole: Project) -> None:
    admin = signed_in(make_user(whole, Role.ADMIN))
    api = Client(headers={"Authorization": f"Bearer {key_of(whole, Role.ADMIN)}"})

    for answer in (
        admin.get("/p/taken/settings/project/export.zip"),
        api.get("/api/v1/project.zip"),
    ):
        assert answer["Content-Type"] == "application/zip"
        assert answer["Content-Disposition"] == 'attachment; filename="taken.zip"'
        content = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
        assert zipfile.ZipFile(io.BytesIO(content)).testzip() is None
    assert AuditEntry.objects.filter(verb="project.exported").count() == 2
