from __future__ import annotations

import re

import pytest
from django.core import mail
from django.test import Client
from kombu.exceptions import OperationalError
from pytest_django import Settings

from loomverify.accounts.models import AuditEntry, User
from loomverify.accounts.tasks import request_password_reset
from tests.accounts.conftest import PASSWORD, make_person, signed_in

NEW = "seven blue shuttles"


def ask_for_link(address: str) -> str:
    answer = Client().post("/password/reset/", {"email": address}, follow=True)
    return re.sub(r'"X-CSRFToken": "\w+"', "", answer.content.decode())


def mailed_path(settings: Settings, number: int = -1) -> str:
    found = re.search(re.escape(settings.BASE_URL) + r"(/\S+)", str(mail.outbox[number].body))
    assert found is not None
    return found[1]


def test_a_forgotten_password_is_replaced_by_mail(ada: User, settings: Settings) -> None:
    ask_for_link("Ada@example.org")
    client = Client()

    form = client.get(mailed_path(settings), follow=True)
    client.post(form.request["PATH_INFO"], {"new_password1": NEW, "new_password2": NEW})
    client.post("/sign-in/", {"username": "ada", "password": NEW})

    assert mail.outbox[0].to == ["ada@example.org"]
    assert client.session["_auth_user_id"] == str(ada.pk)
    assert AuditEntry.objects.filter(verb="user.password_reset", user=ada).count() == 1


def test_the_mail_leads_to_the_configured_address(ada: User, settings: Settings) -> None:
    settings.BASE_URL = "https://verify.example.org"

    Client().post("/password/reset/", {"email": "ada@example.org"}, headers={"host": "evil.test"})

    assert "https://verify.example.org/password/reset/" in str(mail.outbox[0].body)
    assert "evil.test" not in str(mail.outbox[0].body)


def test_nobody_learns_which_addresses_are_known(ada: User) -> None:
    known, unknown = ask_for_link("ada@example.org"), ask_for_link("nobody@example.org")

    assert known == unknown
    assert [message.to for message in mail.outbox] == [["ada@example.org"]]


def test_a_mailbox_is_not_flooded(ada: User) -> None:
    for _ in range(3):
        ask_for_link("ada@example.org")

    assert len(mail.outbox) == 1


def test_a_broker_that_is_down_does_not_keep_the_link_back(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: str) -> None:
        raise OperationalError

    monkeypatch.setattr(request_password_reset, "delay", refuse)

    ask_for_link("ada@example.org")

    assert [message.to for message in mail.outbox] == [["ada@example.org"]]


def test_a_link_works_once(ada: User, settings: Settings) -> None:
    ask_for_link("ada@example.org")
    client = Client()
    form = client.get(mailed_path(settings), follow=True)
    client.post(form.request["PATH_INFO"], {"new_password1": NEW, "new_password2": NEW})

    again = Client().get(mailed_path(settings), follow=True)

    assert "This link is over" in again.content.decode()


@pytest.mark.parametrize("path", ["/password/reset/MQ/x-y/", "/password/reset/%00/x/"])
def test_a_link_that_was_never_sent_opens_nothing(path: str, ada: User) -> None:
    answer = Client().get(path, follow=True)

    assert "This link is over" in answer.content.decode()


def test_a_weak_password_is_refused(ada: User, settings: Settings) -> None:
    ask_for_link("ada@example.org")
    client = Client()
    form = client.get(mailed_path(settings), follow=True)

    answer = client.post(
        form.request["PATH_INFO"], {"new_password1": "password", "new_password2": "password"}
    )

    ada.refresh_from_db()
    assert answer.status_code == 422
    assert ada.check_password(PASSWORD)


def test_a_new_password_ends_a_lock_out(ada: User, settings: Settings) -> None:
    for _ in range(5):
        Client().post("/sign-in/", {"username": "ada", "password": "wrong"})
    ask_for_link("ada@example.org")
    client = Client()
    form = client.get(mailed_path(settings), follow=True)
    client.post(form.request["PATH_INFO"], {"new_password1": NEW, "new_password2": NEW})

    answer = client.post("/sign-in/", {"username": "ada", "password": NEW})

    assert answer.status_code == 302


def test_changing_the_password_ends_other_sessions(ada: User) -> None:
    here, elsewhere = signed_in(ada), signed_in(ada)
    new = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}

    here.post("/password/change/", new)

    assert here.get("/account/").status_code == 200
    assert elsewhere.get("/account/").status_code == 302
    assert AuditEntry.objects.filter(verb="user.password_changed", user=ada).count() == 1


def test_the_old_password_is_needed_to_change_it(ada: User) -> None:
    new = {"old_password": "wrong", "new_password1": NEW, "new_password2": NEW}

    answer = signed_in(ada).post("/password/change/", new)

    ada.refresh_from_db()
    assert answer.status_code == 422
    assert ada.check_password(PASSWORD)


@pytest.mark.parametrize("path", ["/password/change/", "/account/", "/projects/", "/"])
def test_pages_of_a_person_need_sign_in(path: str, db: None) -> None:
    assert Client().get(path)["Location"] == f"/sign-in/?next={path}"


def test_a_new_address_counts_once_its_link_is_opened(ada: User, settings: Settings) -> None:
    client = signed_in(ada)
    client.post("/account/email/", {"email": "ada@looms.example"})
    before = User.objects.get(pk=ada.pk).email

    opened = client.get(mailed_path(settings))
    unchanged = User.objects.get(pk=ada.pk).email
    client.post(mailed_path(settings))

    assert mail.outbox[0].to == ["ada@looms.example"]
    assert before == unchanged == "ada@example.org"
    assert opened.status_code == 200
    assert User.objects.get(pk=ada.pk).email == "ada@looms.example"
    assert AuditEntry.objects.get(verb="user.changed").diff == {
        "email": ["ada@example.org", "ada@looms.example"]
    }


def test_the_link_of_a_new_address_is_its_users_alone(ada: User, settings: Settings) -> None:
    signed_in(ada).post("/account/email/", {"email": "ada@looms.example"})
    bert = make_person("bert")

    signed_in(bert).post(mailed_path(settings))

    bert.refresh_from_db()
    assert bert.email == "bert@example.org"


def test_an_address_that_somebody_has_is_not_taken_over(ada: User, settings: Settings) -> None:
    make_person("bert")
    client = signed_in(ada)
    asked = client.post("/account/email/", {"email": "BERT@example.org"}, follow=True)

    answer = client.post(mailed_path(settings), follow=True)

    ada.refresh_from_db()
    assert "on its way" in asked.content.decode()
    assert "Another account has this address." in answer.content.decode()
    assert ada.email == "ada@example.org"


def test_a_person_changes_their_name(ada: User) -> None:
    signed_in(ada).post("/account/", {"full_name": "Ada  Weaver"})

    ada.refresh_from_db()
    assert str(ada) == "Ada Weaver"
    assert AuditEntry.objects.get(verb="user.changed").diff == {"full_name": ["", "Ada Weaver"]}
