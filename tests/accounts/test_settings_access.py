from __future__ import annotations

import uuid

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from loomverify.accounts.access import person
from loomverify.accounts.models import Project, Role, User
from loomverify.accounts.services import create_api_key
from tests.accounts.conftest import make_member, signed_in

ADMIN_PAGES = ["settings_keys", "settings_audit", "settings_audit_export", "settings_project"]
EVERYBODYS_PAGES = ["project_settings", "settings_members"]
ANY_ID = uuid.uuid4()
ACTIONS = [
    ("member_invite", {}),
    ("member_role", {"member_id": ANY_ID}),
    ("member_remove", {"member_id": ANY_ID}),
    ("invitation_revoke", {"invitation_id": ANY_ID}),
    ("settings_keys", {}),
    ("key_revoke", {"key_id": ANY_ID}),
    ("settings_project", {}),
]


@pytest.mark.parametrize("page", [*ADMIN_PAGES, *EVERYBODYS_PAGES])
def test_an_outsider_finds_no_settings(page: str, project: Project, outsider: User) -> None:
    answer = signed_in(outsider).get(reverse(page, args=[project.slug]))

    assert answer.status_code == 404


@pytest.mark.parametrize("page", [*ADMIN_PAGES, *EVERYBODYS_PAGES])
def test_who_is_signed_out_is_asked_to_sign_in(page: str, project: Project) -> None:
    address = reverse(page, args=[project.slug])

    answer = Client().get(address)

    assert answer.status_code == 302
    assert answer["Location"] == f"/sign-in/?next={address}"


@pytest.mark.parametrize("page", ADMIN_PAGES)
def test_settings_pages_need_an_admin(page: str, project: Project) -> None:
    edna = make_member(project, "edna", Role.EDITOR)

    answer = signed_in(edna).get(reverse(page, args=[project.slug]))

    assert answer.status_code == 403


@pytest.mark.parametrize(("action", "ids"), ACTIONS)
def test_changes_are_refused_to_outsiders_and_editors(
    action: str, ids: dict[str, uuid.UUID], project: Project, outsider: User
) -> None:
    address = reverse(action, kwargs={"project": project.slug, **ids})
    edna = make_member(project, "edna", Role.EDITOR)

    statuses = [signed_in(user).post(address).status_code for user in (outsider, edna)]

    assert statuses == [404, 403]


@pytest.mark.parametrize(("action", "ids"), [each for each in ACTIONS if each[1]])
def test_what_is_not_there_is_404_to_an_admin_too(
    action: str, ids: dict[str, uuid.UUID], project: Project, ada: User
) -> None:
    address = reverse(action, kwargs={"project": project.slug, **ids})

    answer = signed_in(ada).post(address, {"role": "viewer"})

    assert answer.status_code == 404


def test_another_projects_key_and_member_are_out_of_reach(
    project: Project, ada: User, other_project: Project, outsider: User
) -> None:
    theirs = outsider.memberships.get()
    address = reverse("member_remove", args=[project.slug, theirs.uuid])

    answer = signed_in(ada).post(address)

    assert answer.status_code == 404
    assert other_project.members.get() == theirs


def test_a_viewer_sees_who_is_there_and_nothing_to_change(project: Project, ada: User) -> None:
    vera = make_member(project, "vera", Role.VIEWER)

    answer = signed_in(vera).get(reverse("settings_members", args=[project.slug]))

    page = answer.content.decode()
    assert "ada" in page
    assert "ada@example.org" not in page
    assert reverse("settings_keys", args=[project.slug]) not in page
    assert reverse("member_invite", args=[project.slug]) not in page


@pytest.mark.parametrize("page", [*ADMIN_PAGES, "settings_members"])
def test_an_admin_sees_every_page(page: str, project: Project, ada: User) -> None:
    answer = signed_in(ada).get(reverse(page, args=[project.slug]))

    assert answer.status_code == 200


@pytest.mark.parametrize("page", ["settings_members", "settings_keys"])
def test_more_rows_take_no_more_queries(page: str, project: Project, ada: User) -> None:
    client, address = signed_in(ada), reverse(page, args=[project.slug])
    client.get(address)
    counts = []

    for number in range(2):
        with CaptureQueriesContext(connection) as queries:
            client.get(address)
        counts.append(len(queries))
        for each in range(5):
            name = f"member-{number}-{each}"
            user = make_member(project, name, Role.ADMIN)
            create_api_key(project=project, name=name, role=Role.AGENT, actor=person(user))

    assert counts[0] == counts[1]
