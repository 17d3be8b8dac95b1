from __future__ import annotations

import re
import threading
from datetime import timedelta
from smtplib import SMTPServerDisconnected

import pytest
from django.core import mail
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from loomverify.accounts import mails
from loomverify.accounts.access import SYSTEM, person
from loomverify.accounts.models import AuditEntry, Invitation, Project, Role, User
from loomverify.accounts.services import accept_invitation, invite, revoke_invitation
from loomverify.errors import Conflict, InputError, NotFound
from tests.accounts.conftest import make_member, make_person, member, signed_in

ACCOUNT = {"username": "ivy", "full_name": "Ivy Weft", "password": "seven blue shuttles"}


def invitation_link(
    project: Project, role: Role = Role.EDITOR, email: str = "ivy@example.org"
) -> str:
    _, token, _ = invite(project=project, email=email, role=role, actor=SYSTEM)
    return reverse("invitation", args=[token])


def test_an_invited_person_makes_an_account_and_is_in(
    project: Project, ada: User, settings: Settings
) -> None:
    address = reverse("member_invite", args=[project.slug])
    signed_in(ada).post(address, {"email": "ivy@example.org", "role": "editor"})
    link = re.search(re.escape(settings.BASE_URL) + r"(/invitations/\S+)", str(mail.outbox[0].body))
    assert link is not None
    client = Client()

    form = client.get(link[1])
    answer = client.post(link[1], ACCOUNT)

    ivy = User.objects.get(username="ivy")
    assert mail.outbox[0].to == ["ivy@example.org"]
    assert "Looms" in form.content.decode()
    assert answer["Location"] == reverse("overview", args=[project.slug])
    assert (ivy.email, str(ivy), member(ivy).role) == ("ivy@example.org", "Ivy Weft", Role.EDITOR)
    assert client.session["_auth_user_id"] == str(ivy.pk)


def test_every_step_of_an_invitation_is_written_down(project: Project, ada: User) -> None:
    invitation, _, _ = invite(
        project=project, email="ivo@example.org", role=Role.VIEWER, actor=person(ada)
    )
    revoke_invitation(project=project, invitation_id=invitation.uuid, actor=person(ada))
    Client().post(invitation_link(project), ACCOUNT)

    entries = AuditEntry.objects.filter(project=project).order_by("at", "id")
    assert [(entry.actor, entry.verb) for entry in entries][-6:] == [
        ("ada", "invitation.created"),
        ("ada", "invitation.revoked"),
        ("system", "invitation.created"),
        ("Ivy Weft (ivy)", "user.created"),
        ("Ivy Weft (ivy)", "invitation.accepted"),
        ("Ivy Weft (ivy)", "member.added"),
    ]


def test_only_the_hash_of_the_link_is_stored(project: Project) -> None:
    invitation, token, _ = invite(
        project=project, email="ivy@example.org", role=Role.VIEWER, actor=SYSTEM
    )

    stored = str(Invitation.objects.filter(pk=invitation.pk).values().get())
    assert token not in stored
    assert token not in str(AuditEntry.objects.values())


def test_somebody_signed_in_joins_as_who_they_are(project: Project) -> None:
    nina = make_person("nina")
    link, client = invitation_link(project, Role.REVIEWER), signed_in(nina)

    page = client.get(link)
    client.post(link)

    assert "You are signed in as" in page.content.decode()
    assert member(nina).role == Role.REVIEWER
    assert User.objects.count() == 1


@pytest.mark.parametrize(
    ("has", "invited_as", "keeps"),
    [
        (Role.VIEWER, Role.EDITOR, Role.EDITOR),
        (Role.ADMIN, Role.VIEWER, Role.ADMIN),
        (Role.AGENT, Role.AGENT, Role.AGENT),
    ],
)
def test_a_member_keeps_the_higher_role(
    has: Role, invited_as: Role, keeps: Role, project: Project
) -> None:
    una = make_member(project, "una", has)

    signed_in(una).post(invitation_link(project, invited_as))

    assert member(una).role == keeps


def test_a_link_works_once(project: Project) -> None:
    link = invitation_link(project)
    Client().post(link, ACCOUNT)

    read = Client().get(link)
    posted = Client().post(link, {**ACCOUNT, "username": "eve"})

    assert (read.status_code, posted.status_code) == (404, 404)
    assert "This invitation is over" in read.content.decode()
    assert not User.objects.filter(username="eve").exists()


@pytest.mark.parametrize("end", [{"expires_at": timezone.now()}, {"revoked_at": timezone.now()}])
def test_a_link_that_is_over_opens_nothing(end: dict[str, object], project: Project) -> None:
    link = invitation_link(project)
    Invitation.objects.update(**end)

    answer = Client().post(link, ACCOUNT)

    assert answer.status_code == 404
    assert not project.members.exists()


@pytest.mark.parametrize("token", ["x", "%00", "é", "a" * 500])
def test_a_link_that_was_never_made_opens_nothing(token: str, project: Project) -> None:
    invitation_link(project)

    assert Client().get(f"/invitations/{token}/").status_code == 404


def test_a_newer_invitation_replaces_the_one_before(project: Project) -> None:
    older, newer = invitation_link(project), invitation_link(project, email="IVY@example.org")

    assert [Client().get(link).status_code for link in (older, newer)] == [404, 200]


def test_a_member_is_not_invited_again(project: Project, ada: User) -> None:
    with pytest.raises(Conflict, match="already"):
        invite(project=project, email="ADA@example.org", role=Role.VIEWER, actor=SYSTEM)


@pytest.mark.parametrize(
    "email", ["", "ivy", "ivy@", "a@b.example\nBcc: c@d.example", "i" * 300 + "@example.org"]
)
def test_only_an_address_is_invited(email: str, project: Project) -> None:
    with pytest.raises(InputError) as caught:
        invite(project=project, email=email, role=Role.VIEWER, actor=SYSTEM)

    assert caught.value.code == "invitation.email.invalid"
    assert mail.outbox == []


def test_somebody_with_an_account_is_asked_to_sign_in(project: Project) -> None:
    make_person("ivy")
    link = invitation_link(project)

    page = Client().get(link).content.decode()
    posted = Client().post(link, {**ACCOUNT, "username": "ivy2"})

    assert f"/sign-in/?next={link}" in page
    assert posted.status_code == 422
    assert User.objects.count() == 1


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"username": "ADA"}, "This user name is taken."),
        ({"username": "bob@example.org"}, "letters, digits"),
        ({"username": "a b"}, "letters, digits"),
        ({"password": "password"}, "too common"),
        ({"password": "ivy@example.org"}, "too similar"),
        ({"full_name": "a\x00b"}, "Null characters"),
    ],
)
def test_an_account_that_cannot_be_made_leaves_the_link_as_it_is(
    changed: dict[str, str], said: str, project: Project, ada: User
) -> None:
    link = invitation_link(project)

    answer = Client().post(link, {**ACCOUNT, **changed})
    then = Client().post(link, ACCOUNT)

    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert then.status_code == 302


def test_a_revoked_invitation_cannot_be_accepted(project: Project, ada: User) -> None:
    invitation, token, _ = invite(
        project=project, email="ivy@example.org", role=Role.VIEWER, actor=SYSTEM
    )
    address = reverse("invitation_revoke", args=[project.slug, invitation.uuid])

    signed_in(ada).post(address)

    with pytest.raises(NotFound):
        accept_invitation(token=token, user=make_person("ivy"))


def test_the_page_shows_the_link_once(project: Project, ada: User) -> None:
    client = signed_in(ada)
    fields = {"email": "ivy@example.org", "role": "viewer"}

    answer = client.post(reverse("member_invite", args=[project.slug]), fields).content.decode()
    later = client.get(reverse("settings_members", args=[project.slug])).content.decode()

    link = re.search(r"/invitations/[\w-]+/", answer)
    assert link is not None
    assert Client().get(link[0]).status_code == 200
    assert "ivy@example.org" in later
    assert link[0] not in later


def test_a_mail_that_cannot_be_sent_is_said_and_the_link_stands(
    project: Project, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise SMTPServerDisconnected

    monkeypatch.setattr(mails, "send_mail", refuse)
    fields = {"email": "ivy@example.org", "role": "viewer"}

    answer = signed_in(ada).post(reverse("member_invite", args=[project.slug]), fields)

    assert "could not be sent" in answer.content.decode()
    assert Invitation.objects.get().is_open


@pytest.mark.django_db(transaction=True)
def test_two_people_with_one_link_do_not_both_get_in(project: Project) -> None:
    _, token, _ = invite(project=project, email="ivy@example.org", role=Role.VIEWER, actor=SYSTEM)
    together, refused = threading.Barrier(2), []

    def join(user: User) -> None:
        together.wait()
        try:
            accept_invitation(token=token, user=user)
        except NotFound as error:
            refused.append(error.code)
        finally:
            connection.close()

    threads = [
        threading.Thread(target=join, args=(make_person(name),)) for name in ("nina", "otto")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert refused == ["invitation.over"]
    assert project.members.count() == 1


def test_expired_invitations_leave_the_page(project: Project, ada: User) -> None:
    invitation_link(project)
    Invitation.objects.update(expires_at=timezone.now() - timedelta(days=1))

    page = signed_in(ada).get(reverse("settings_members", args=[project.slug])).content.decode()

    assert "ivy@example.org" not in page
