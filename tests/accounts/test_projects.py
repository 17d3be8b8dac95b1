from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from pytest_django import Settings

from loomverify.accounts import hooks
from loomverify.accounts.access import SYSTEM, person
from loomverify.accounts.models import AuditEntry, Member, Project, Role, User
from loomverify.accounts.services import change_project, create_project
from loomverify.errors import Conflict, Forbidden, InputError
from tests.accounts.conftest import make_member, make_person, member, signed_in
from tests.tables import check_rows

SETTINGS: dict[str, Any] = {
    "name": "Looms",
    "time_zone": "UTC",
    "redaction_patterns": [],
    "retention_days": 90,
}


def change(project: Project, **changed: object) -> Project:
    return change_project(project=project, actor=SYSTEM, **{**SETTINGS, **changed})


def test_a_new_project_has_its_owner_for_admin(ada: User) -> None:
    project = create_project(name="Warp & Weft", actor=person(ada), owner=ada)

    entries = AuditEntry.objects.filter(project=project).order_by("at")
    assert project.slug == "warp-weft"
    assert Member.objects.get(project=project).role == Role.ADMIN
    assert [(entry.verb, entry.actor) for entry in entries][:2] == [
        ("project.created", "ada"),
        ("member.added", "ada"),
    ]


def test_a_new_project_gets_what_other_rooms_add(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(hooks, "_on_project_created", [])
    hooks.on_project_created(lambda *, project: seen.append(project.slug))

    create_project(name="Looms", actor=SYSTEM)

    assert seen == ["looms"]


def test_a_project_that_another_room_cannot_furnish_is_not_created(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*, project: Project) -> None:
        raise RuntimeError(project.slug)

    monkeypatch.setattr(hooks, "_on_project_created", [fail])

    with pytest.raises(RuntimeError):
        create_project(name="Looms", actor=SYSTEM)

    assert not Project.objects.exists()
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize(
    ("name", "slugs"),
    [
        ("Looms", ["looms-2", "looms-3"]),
        ("Ткани", ["project", "project-2"]),
        ("n" * 120, ["n" * 56, "n" * 56 + "-2"]),
    ],
)
def test_a_short_name_is_made_of_the_name(name: str, slugs: list[str], project: Project) -> None:
    made = [create_project(name=name, actor=SYSTEM).slug for _ in range(2)]

    assert made == slugs


def test_a_short_name_is_taken_once(project: Project) -> None:
    with pytest.raises(Conflict, match="taken"):
        create_project(name="More looms", slug="looms", actor=SYSTEM)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"name": ""}, "project.name.invalid"),
        ({"name": "x" * 121}, "project.name.invalid"),
        ({"name": "a\x00"}, "project.name.invalid"),
        ({"name": "A", "slug": "../admin"}, "project.slug.invalid"),
        ({"name": "A", "slug": "s" * 61}, "project.slug.invalid"),
    ],
)
def test_a_project_needs_names_that_are_names(given: dict[str, Any], code: str, db: None) -> None:
    with pytest.raises(InputError) as caught:
        create_project(**given, actor=SYSTEM)

    assert caught.value.code == code


@pytest.mark.parametrize(("role", "status"), [(Role.ADMIN, 302), (Role.EDITOR, 403)])
def test_an_admin_of_some_project_creates_another(
    role: Role, status: int, project: Project
) -> None:
    user = make_member(project, "una", role)

    answer = signed_in(user).post("/projects/", {"name": "Spindles"})

    assert answer.status_code == status
    assert Project.objects.filter(slug="spindles").exists() is (status == 302)


def test_an_operator_creates_projects(db: None) -> None:
    root = User.objects.create_superuser("root")

    answer = signed_in(root).post("/projects/", {"name": "Spindles"})

    assert answer.status_code == 302
    assert member(root).project.slug == "spindles"


def test_the_service_refuses_too(project: Project) -> None:
    vera = make_member(project, "vera", Role.VIEWER)

    with pytest.raises(Forbidden):
        create_project(name="Spindles", actor=person(vera), owner=vera)


def test_a_taken_short_name_is_said_beside_the_field(project: Project, ada: User) -> None:
    answer = signed_in(ada).post("/projects/", {"name": "Looms", "slug": "looms"})

    assert answer.status_code == 422
    assert "The short name looms is taken." in answer.content.decode()


def test_the_list_shows_ones_own_projects_alone(
    project: Project, ada: User, other_project: Project
) -> None:
    page = signed_in(ada).get("/projects/").content.decode()

    assert reverse("overview", args=[project.slug]) in page
    assert other_project.name not in page


def test_who_is_nowhere_is_offered_no_form(db: None) -> None:
    page = signed_in(make_person("nina")).get("/projects/").content.decode()

    assert "Create a project" not in page


def test_changed_settings_are_written_down_with_what_they_were(project: Project) -> None:
    change(project, name="Jacquard", retention_days=30, redaction_patterns=[r"sk-\w{20,}", "  "])

    project.refresh_from_db()
    entry = AuditEntry.objects.get(verb="project.changed")
    assert (project.name, project.slug) == ("Jacquard", "looms")
    assert entry.diff == {
        "name": ["Looms", "Jacquard"],
        "redaction_patterns": [[], [r"sk-\w{20,}"]],
        "retention_days": [90, 30],
    }


def test_settings_that_stay_are_not_written_down(project: Project) -> None:
    change(project)

    assert not AuditEntry.objects.filter(verb="project.changed").exists()


@check_rows(
    ("changed", "code"),
    [
        ({"time_zone": "Mars/Olympus"}, "project.time_zone.unknown"),
        ({"retention_days": 0}, "project.retention.out_of_range"),
        ({"retention_days": 3651}, "project.retention.out_of_range"),
        ({"redaction_patterns": ["("]}, "project.redaction.invalid"),
        ({"redaction_patterns": [r"(a)\1"]}, "project.redaction.invalid"),
        ({"redaction_patterns": ["x*"]}, "project.redaction.invalid"),
        ({"redaction_patterns": [r"\b"]}, "project.redaction.invalid"),
        ({"redaction_patterns": ["a" * 501]}, "project.redaction.invalid"),
        ({"redaction_patterns": [r"((\pL{100}){10}){10}"]}, "project.redaction.invalid"),
        ({"redaction_patterns": ["x"] * 51}, "project.redaction.too_many"),
        ({"name": " "}, "project.name.invalid"),
    ],
    rollback=True,
)
def test_settings_that_make_no_sense_are_refused(
    changed: dict[str, object], code: str, project: Project
) -> None:
    with pytest.raises(InputError) as caught:
        change(project, **changed)

    project.refresh_from_db()
    assert caught.value.code == code
    assert project.redaction_patterns == []


def test_the_page_saves_patterns_line_by_line(project: Project, ada: User) -> None:
    address = reverse("settings_project", args=[project.slug])
    fields = {**SETTINGS, "time_zone": "Europe/Berlin"}

    answer = signed_in(ada).post(
        address, {**fields, "redaction_patterns": "key=\\w+\r\n\r\n[a-f]{32}"}
    )

    project.refresh_from_db()
    assert answer.status_code == 302
    assert project.time_zone == "Europe/Berlin"
    assert project.redaction_patterns == [r"key=\w+", "[a-f]{32}"]


def test_the_page_names_the_pattern_that_cannot_be_used(project: Project, ada: User) -> None:
    address = reverse("settings_project", args=[project.slug])

    answer = signed_in(ada).post(address, {**SETTINGS, "redaction_patterns": "fine\n("})

    assert answer.status_code == 422
    assert "Pattern 2 cannot be used" in answer.content.decode()


def test_hostile_names_are_text_on_every_page(
    ada: User, project: Project, settings: Settings
) -> None:
    name = "<script>alert(1)</script>"
    change(project, name=name)
    User.objects.filter(pk=ada.pk).update(first_name=name)
    client = signed_in(ada)

    pages = [
        client.get(reverse(page, args=[project.slug])).content.decode()
        for page in ("settings_members", "settings_keys", "settings_audit", "settings_project")
    ]

    assert not any(
        "<script>alert" in page for page in [*pages, client.get("/account/").content.decode()]
    )
    assert "&lt;script&gt;" in pages[0]
