from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client

from loomverify.accounts.access import SYSTEM, Actor
from loomverify.accounts.models import ApiKey, AuditEntry, Member, Project, Role, User
from loomverify.celery import app
from loomverify.errors import InputError
from tests.builders import make_project, make_run, make_user, signed_in
from tests.owned.whole import key_of, whole_project
from verification.adapters.viewing import Opened
from verification.owned import removal, tables, tasks
from verification.runs import evidence_store, retention
from verification.runs.models import Run, RunState
from verification.runs.viewing import kept

pytestmark = pytest.mark.django_db

OF_NO_PROJECT = {
    "accounts.User", "accounts.User_groups", "accounts.User_user_permissions", "accounts.Project",
    "advisories.Snapshot", "advisories.Advisory", "runs.Heartbeat",
    "runs.TargetMark", "trials.Tally",
}  # fmt: skip
OURS = ("accounts", "processes", "advisories", "verifiers", "runs", "reviews", "rules", "golden",
        "trials", "actions", "owned")  # fmt: skip


@pytest.fixture
def whole() -> Project:
    return whole_project("doomed")


def rows(project: Project) -> dict[str, int]:
    counted = {rows.model._meta.label: rows.count() for rows in tables.deepest_first(project)}
    return {label: count for label, count in counted.items() if count}


def every_row() -> dict[str, int]:
    models = apps.get_models(include_auto_created=True)
    return {model._meta.label: model._base_manager.count() for model in models}


def remove(project: Project) -> None:
    removal.remove_project(project=project, actor=SYSTEM, confirmation=project.slug)


def test_every_table_leads_to_a_project_or_is_known_to_be_of_none() -> None:
    models = (model for model in apps.get_models(include_auto_created=True))
    ours = {model._meta.label for model in models if model._meta.app_label in OURS}

    assert ours - {model._meta.label for model in tables.paths()} == OF_NO_PROJECT


@pytest.mark.extended
def test_nothing_of_a_removed_project_is_left_and_nothing_else_is_gone() -> None:
    kept = whole_project("kept")
    before, of_kept = every_row(), rows(kept)
    doomed = whole_project("doomed")
    assert set(rows(doomed)) == set(of_kept)

    remove(doomed)
    assert removal.go_on() == 1

    after = every_row()
    for changed in ("accounts.AuditEntry", "accounts.User"):  # people stay, and the word of it
        after.pop(changed), before.pop(changed)
    assert after == before
    assert rows(kept) == of_kept
    with connection.cursor() as cursor:  # raises where a key leads nowhere
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def test_views_of_its_files_go_with_it_and_those_of_others_stay(
    whole: Project, settings: Any, tmp_path: Path
) -> None:
    views = {**settings.STORAGES["views"], "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "views": views}
    other = make_project()
    for project in (whole, other):
        kept.keep(project.pk, "ab" * 32 + "-markdown", Opened({"html": "what was submitted"}))
    remove(whole)

    assert removal.go_on() == 1

    assert [path.name for path in tmp_path.iterdir()] == [str(other.pk)]


def test_its_files_are_deleted_and_those_of_others_stay(whole: Project) -> None:
    other = make_project()
    make_run(other, files={"a.txt": b"same"})
    folder = Path(evidence_store.folder_of(whole))
    assert any(path.is_file() for path in folder.rglob("*"))

    remove(whole)
    removal.go_on()

    assert not folder.exists()
    assert any(path.is_file() for path in Path(evidence_store.folder_of(other)).rglob("*"))


def test_files_that_came_while_it_was_removed_go_the_next_day(whole: Project) -> None:
    other = make_project()
    make_run(other, files={"a.txt": b"same"})
    remove(whole)
    removal.go_on()
    evidence_store.store_contents(whole, [b"late"])
    assert Path(evidence_store.folder_of(whole)).exists()

    for tidy in retention.TIDIED_ELSEWHERE:
        tidy()

    assert not Path(evidence_store.folder_of(whole)).exists()
    assert any(path.is_file() for path in Path(evidence_store.folder_of(other)).rglob("*"))


def test_the_whole_project_of_these_tests_fills_the_tables_that_matter(whole: Project) -> None:
    assert len(rows(whole)) >= 40


def test_people_and_keys_are_shut_out_before_anything_is_deleted(whole: Project) -> None:
    admin = make_user(whole, Role.ADMIN)
    client, key = signed_in(admin), key_of(whole, Role.ADMIN)
    api = Client(headers={"Authorization": f"Bearer {key}"})
    assert api.get("/api/v1/runs").status_code == 200

    remove(whole)

    assert client.get(f"/p/{whole.slug}/").status_code == 404
    assert api.get("/api/v1/runs").status_code == 401
    assert Run.objects.filter(project=whole).exists()


def test_runs_under_way_are_cancelled_and_go_with_the_rest(whole: Project) -> None:
    make_run(whole, state=RunState.RUNNING, process=whole.processes.get(slug="theirs"))

    remove(whole)

    assert removal.go_on() == 1
    assert not Project.objects.filter(pk=whole.pk).exists()


def test_what_is_too_much_for_one_time_goes_on_at_the_next(whole: Project) -> None:
    remove(whole)

    assert removal.go_on(seconds=0) == 0
    assert Run.objects.filter(project=whole).exists()
    assert removal.go_on() == 1
    assert removal.go_on() == 0


def test_a_project_that_nobody_removed_is_left_alone(whole: Project) -> None:
    before = rows(whole)

    assert removal.go_on() == 0
    assert rows(whole) == before


@pytest.mark.extended
@pytest.mark.parametrize("confirmation", ["", "kept", "DOOMED", "doomed/"])
def test_the_short_name_must_be_said(whole: Project, confirmation: str) -> None:
    with pytest.raises(InputError) as refused:
        removal.remove_project(project=whole, actor=SYSTEM, confirmation=confirmation)

    assert refused.value.code == "project.confirmation"
    assert Project.objects.get(pk=whole.pk).removed_at is None


def test_who_removed_it_stays_known(whole: Project) -> None:
    admin = make_user(whole, Role.ADMIN, "ada")
    key = ApiKey.objects.filter(project=whole).latest("id")
    actor = Actor("ada", user=admin, api_key=key)

    removal.remove_project(project=whole, actor=actor, confirmation="doomed")
    removal.remove_project(project=whole, actor=actor, confirmation="doomed")
    removal.go_on()

    entry = AuditEntry.objects.get(verb="project.removed")
    assert (entry.user, entry.actor, entry.project) == (admin, "ada", None)
    assert entry.object_name == whole.name
    assert User.objects.filter(pk=admin.pk).exists()


def test_an_admin_removes_it_on_its_page(whole: Project) -> None:
    client = signed_in(make_user(whole, Role.ADMIN))
    page = f"/p/{whole.slug}/settings/project/remove/"

    asked = client.get(page).content.decode()
    wrong = client.post(page, {"confirmation": "kept"})
    done = client.post(page, {"confirmation": "doomed"})

    assert "cannot be taken back" in asked
    assert wrong.status_code == 422
    assert "not its short name" in wrong.content.decode()
    assert done.status_code == 302
    assert not Member.objects.filter(project=whole).exists()


@pytest.mark.parametrize("path", ["remove/", "export.zip"])
def test_none_but_an_admin_does(whole: Project, path: str) -> None:
    page = f"/p/{whole.slug}/settings/project/{path}"
    editor, outsider = signed_in(make_user(whole, Role.EDITOR)), signed_in(make_user())

    assert [editor.get(page).status_code, outsider.get(page).status_code] == [403, 404]
    assert editor.post(page, {"confirmation": "doomed"}).status_code in (403, 405)
    assert Project.objects.get(pk=whole.pk).removed_at is None


def test_the_clock_sends_a_worker_to_what_was_not_woken() -> None:
    entry = app.conf["beat_schedule"]["removed projects"]

    assert entry["task"] == tasks.remove.name
    assert entry["options"]["queue"] == "bulk"
