from __future__ import annotations

import threading
from collections.abc import Callable
from uuid import uuid4

import pytest
from django.db import connection
from django.urls import reverse

from loomverify.accounts.access import SYSTEM, person
from loomverify.accounts.models import AuditEntry, Member, Project, Role, User
from loomverify.accounts.services import add_member, change_role, remove_member, set_active
from loomverify.errors import Conflict, NotFound
from tests.accounts.conftest import make_member, make_person, member, signed_in


def test_adding_changing_and_removing_a_member_is_written_down(project: Project, ada: User) -> None:
    actor, vera = person(ada), make_person("vera")

    added = add_member(project=project, user=vera, role=Role.VIEWER, actor=actor)
    change_role(project=project, member_id=added.uuid, role=Role.EDITOR, actor=actor)
    remove_member(project=project, member_id=added.uuid, actor=actor)

    entries = AuditEntry.objects.filter(project=project, actor="ada").order_by("at")
    assert list(entries.values_list("verb", "object_id", "diff")) == [
        ("member.added", str(added.uuid), {"role": [None, "viewer"]}),
        ("member.role_changed", str(added.uuid), {"role": ["viewer", "editor"]}),
        ("member.removed", str(added.uuid), {"role": ["editor", None]}),
    ]


def test_nobody_is_a_member_twice(project: Project, ada: User) -> None:
    with pytest.raises(Conflict, match="already"):
        add_member(project=project, user=ada, role=Role.VIEWER, actor=SYSTEM)

    assert member(ada).role == Role.ADMIN


def test_the_last_admin_cannot_be_demoted_or_removed(project: Project, ada: User) -> None:
    make_member(project, "edna", Role.EDITOR)
    last = member(ada)

    with pytest.raises(Conflict, match="last admin"):
        change_role(project=project, member_id=last.uuid, role=Role.EDITOR, actor=SYSTEM)
    with pytest.raises(Conflict, match="last admin"):
        remove_member(project=project, member_id=last.uuid, actor=SYSTEM)

    assert member(ada).role == Role.ADMIN


def test_an_admin_who_may_not_sign_in_is_no_other_admin(project: Project, ada: User) -> None:
    gone = make_member(project, "gone", Role.ADMIN)
    set_active(user=gone, is_active=False, actor=SYSTEM)

    with pytest.raises(Conflict, match="last admin"):
        remove_member(project=project, member_id=member(ada).uuid, actor=SYSTEM)


def test_a_member_of_another_project_is_unknown_here(project: Project, outsider: User) -> None:
    with pytest.raises(NotFound):
        remove_member(project=project, member_id=member(outsider).uuid, actor=SYSTEM)
    with pytest.raises(NotFound):
        change_role(project=project, member_id=uuid4(), role=Role.ADMIN, actor=SYSTEM)


def demote(of: Member) -> None:
    change_role(project=of.project, member_id=of.uuid, role=Role.VIEWER, actor=SYSTEM)


def remove(of: Member) -> None:
    remove_member(project=of.project, member_id=of.uuid, actor=SYSTEM)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("first", "second"), [(demote, demote), (remove, remove), (demote, remove)]
)
def test_two_admins_who_leave_at_once_do_not_leave_the_project_alone(
    first: Callable[[Member], None], second: Callable[[Member], None], project: Project, ada: User
) -> None:
    bert = make_member(project, "bert", Role.ADMIN)
    together, refused = threading.Barrier(2), []

    def leave(how: Callable[[Member], None], of: Member) -> None:
        together.wait()
        try:
            how(of)
        except Conflict as error:
            refused.append(error.code)
        finally:
            connection.close()

    threads = [
        threading.Thread(target=leave, args=(how, member(user)))
        for how, user in ((first, ada), (second, bert))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert refused == ["member.last_admin"]
    assert project.members.filter(role=Role.ADMIN).count() == 1


def test_the_page_changes_a_role_and_removes(project: Project, ada: User) -> None:
    vera = make_member(project, "vera", Role.VIEWER)
    client, ids = signed_in(ada), [project.slug, member(vera).uuid]

    client.post(reverse("member_role", args=ids), {"role": "reviewer"})
    role = member(vera).role
    answer = client.post(reverse("member_remove", args=ids), follow=True)

    assert role == Role.REVIEWER
    assert not vera.memberships.exists()
    assert "Removed." in answer.content.decode()


def test_who_leaves_a_project_lands_at_the_start(project: Project, ada: User) -> None:
    bert = make_member(project, "bert", Role.ADMIN)
    address = reverse("member_remove", args=[project.slug, member(bert).uuid])

    answer = signed_in(bert).post(address, follow=True)

    assert answer.redirect_chain[-1] == ("/projects/", 302)
    assert "You are in no project yet" in answer.content.decode()


def test_the_page_says_why_the_last_admin_stays(project: Project, ada: User) -> None:
    address = reverse("member_remove", args=[project.slug, member(ada).uuid])

    answer = signed_in(ada).post(address, follow=True)

    assert "ada is the last admin" in answer.content.decode()
    assert member(ada).role == Role.ADMIN


def test_a_role_that_is_none_changes_nothing(project: Project, ada: User) -> None:
    vera = make_member(project, "vera", Role.VIEWER)
    address = reverse("member_role", args=[project.slug, member(vera).uuid])

    answer = signed_in(ada).post(address, {"role": "owner"}, follow=True)

    assert "no such role" in answer.content.decode()
    assert member(vera).role == Role.VIEWER
