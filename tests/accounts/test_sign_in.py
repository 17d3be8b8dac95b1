from __future__ import annotations

from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project, User
from loomverify.accounts.services import set_active
from tests.accounts.conftest import PASSWORD, make_person, signed_in

SIGN_IN = "/sign-in/"


def is_signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


@pytest.mark.parametrize("name", ["ada", "ADA", "ada@example.org", "Ada@Example.ORG"])
def test_user_name_and_address_both_open(name: str, ada: User) -> None:
    client = Client()

    answer = client.post(SIGN_IN, {"username": name, "password": PASSWORD})

    assert answer.status_code == 302
    assert is_signed_in(client)


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("ada", "wrong"),
        ("ada@example.org", PASSWORD.upper()),
        ("nobody", PASSWORD),
        ("nobody@example.org", PASSWORD),
        ("ada%", PASSWORD),
    ],
)
def test_whatever_is_wrong_the_answer_is_the_same(name: str, password: str, ada: User) -> None:
    client = Client()

    answer = client.post(SIGN_IN, {"username": name, "password": password})

    assert answer.status_code == 422
    assert "User name and password do not match." in answer.content.decode()
    assert not is_signed_in(client)


@pytest.mark.parametrize("name", ["", "a\x00b", "n" * 300])
def test_a_name_that_cannot_be_one_is_refused(name: str, db: None) -> None:
    answer = Client().post(SIGN_IN, {"username": name, "password": PASSWORD})

    assert answer.status_code == 422


def test_an_account_that_is_switched_off_does_not_open(ada: User) -> None:
    client = signed_in(ada)
    set_active(user=ada, is_active=False, actor=SYSTEM)

    later = client.get("/account/")
    again = Client().post(SIGN_IN, {"username": "ada", "password": PASSWORD})

    assert later.status_code == 302
    assert "do not match" in again.content.decode()


def test_the_name_of_one_is_not_taken_for_the_address_of_another(ada: User) -> None:
    mallory = User.objects.create_user("ada@example.org", password="mallory's own")
    client = Client()

    client.post(SIGN_IN, {"username": "ada@example.org", "password": PASSWORD})

    assert client.session["_auth_user_id"] == str(ada.pk)
    assert mallory.pk != ada.pk


def test_the_session_key_changes_at_sign_in(ada: User) -> None:
    client = Client()
    session = client.session
    session["project"] = "planted"
    session.save()
    planted = session.session_key
    client.cookies["sessionid"] = planted or ""

    client.post(SIGN_IN, {"username": "ada", "password": PASSWORD})

    assert is_signed_in(client)
    assert client.session.session_key != planted


@pytest.mark.parametrize(
    ("target", "lands"),
    [
        ("/projects/", "/projects/"),
        ("/p/looms/runs/?outcome=fail", "/p/looms/runs/?outcome=fail"),
        ("https://evil.example/", "/"),
        ("//evil.example/", "/"),
        ("/\\evil.example/", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
    ],
)
def test_after_sign_in_nobody_is_sent_elsewhere(target: str, lands: str, ada: User) -> None:
    posted = Client().post(SIGN_IN, {"username": "ada", "password": PASSWORD, "next": target})
    already = signed_in(ada).get(SIGN_IN, {"next": target})

    assert (posted["Location"], already["Location"]) == (lands, lands)


def test_signing_out_takes_a_post(ada: User) -> None:
    client = signed_in(ada)

    read = client.get("/sign-out/")
    signed_in_still = is_signed_in(client)
    posted = client.post("/sign-out/")

    assert (read.status_code, signed_in_still) == (405, True)
    assert posted["Location"] == SIGN_IN
    assert not is_signed_in(client)


def fail(times: int, name: str = "ada", address: str = "10.0.0.1") -> list[int]:
    return [
        Client(REMOTE_ADDR=address)
        .post(SIGN_IN, {"username": name, "password": "wrong"})
        .status_code
        for _ in range(times)
    ]


def test_the_fifth_failure_locks_out_and_says_for_how_long(ada: User) -> None:
    statuses = fail(4)

    answer = Client(REMOTE_ADDR="10.0.0.1").post(SIGN_IN, {"username": "ada", "password": "wrong"})

    page = answer.content.decode()
    assert statuses == [422] * 4
    assert answer.status_code == 429
    assert "15 minutes" in page
    assert 840 < int(answer["Retry-After"]) <= 900


def test_while_locked_out_the_right_password_does_not_open(ada: User) -> None:
    fail(5)
    client = Client(REMOTE_ADDR="10.0.0.1")

    answer = client.post(SIGN_IN, {"username": "ada", "password": PASSWORD})

    assert answer.status_code == 429
    assert not is_signed_in(client)


def test_waiting_is_not_made_longer_by_trying(ada: User) -> None:
    fail(5)
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=10))

    answer = Client(REMOTE_ADDR="10.0.0.1").post(SIGN_IN, {"username": "ada", "password": "wrong"})

    assert "5 minutes" in answer.content.decode()


def test_after_the_wait_the_right_password_opens(ada: User) -> None:
    fail(5)
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=16))
    client = Client(REMOTE_ADDR="10.0.0.1")

    client.post(SIGN_IN, {"username": "ada", "password": PASSWORD})

    assert is_signed_in(client)


@pytest.mark.parametrize("name", ["ADA", "ada@example.org", "ADA@EXAMPLE.ORG"])
def test_another_spelling_of_the_same_user_counts_with_the_others(name: str, ada: User) -> None:
    fail(4)

    assert fail(1, name) == [429]


@pytest.mark.parametrize(("name", "address"), [("bert", "10.0.0.1"), ("ada", "10.0.0.2")])
def test_another_name_or_another_address_is_not_locked_out(
    name: str, address: str, ada: User
) -> None:
    make_person("bert")
    fail(5)

    assert fail(1, name, address) == [422]


def test_a_name_that_nobody_has_is_locked_out_alike(db: None) -> None:
    assert fail(5, "nobody") == [422, 422, 422, 422, 429]


def test_a_sign_in_that_works_starts_the_count_anew(ada: User) -> None:
    fail(4)
    Client(REMOTE_ADDR="10.0.0.1").post(SIGN_IN, {"username": "ada", "password": PASSWORD})

    assert fail(4) == [422] * 4


def test_operators_sign_in_at_the_same_place(ada: User) -> None:
    root = User.objects.create_superuser("root", password=PASSWORD)

    signed_out = Client().get("/admin/")
    login_page = Client().get("/admin/login/?next=/admin/accounts/user/")
    no_operator = signed_in(ada).get("/admin/login/?next=/admin/")
    operator = signed_in(root).get("/admin/")

    assert signed_out.status_code == 302
    assert login_page["Location"] == "/sign-in/?next=/admin/accounts/user/"
    assert no_operator.status_code == 403
    assert operator.status_code == 200


def test_the_start_page_leads_to_the_last_project(
    project: Project, other_project: Project, ada: User
) -> None:
    other_project.members.create(user=ada, role="viewer")
    client = signed_in(ada)

    first = client.get("/")
    client.get(reverse("settings_members", args=["looms"]))
    last = client.get("/")

    assert first["Location"] == "/p/dyes/"
    assert last["Location"] == "/p/looms/"


def test_who_is_in_no_project_is_told_so(db: None, settings: Settings) -> None:
    answer = signed_in(make_person("nina")).get("/", follow=True)

    assert answer.redirect_chain[-1][0] == "/projects/"
    assert "You are in no project yet" in answer.content.decode()
