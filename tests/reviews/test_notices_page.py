from __future__ import annotations

import pytest
from django.conf import LazySettings
from django.core import mail
from django.test import Client
from django.urls import reverse

from loomverify.accounts.models import Member, Project, Role, User
from tests.builders import make_project, make_user, signed_in
from tests.reviews.mail_server import running_mail_server
from tests.reviews.noticing import NOON, make_reader, waiting
from verification.reviews.models import Notice, NoticePreference
from verification.reviews.notices import lists, services

pytestmark = pytest.mark.django_db
FILES = "django.core.mail.backends.filebased.EmailBackend"
SMTP = "django.core.mail.backends.smtp.EmailBackend"


@pytest.fixture
def project() -> Project:
    return make_project("looms")


@pytest.fixture
def mira(project: Project) -> User:
    user = make_user(project, Role.REVIEWER, "mira")
    user.email = "mira@example.org"
    user.save(update_fields=["email"])
    return user


def page(project: Project, user: User) -> str:
    answer = signed_in(user).get(reverse("review_notices", args=[project.slug]))
    assert answer.status_code == 200
    return str(answer.content.decode())


def example(project: Project, user: User) -> str:
    url = reverse("review_notices_example", args=[project.slug])
    return str(signed_in(user).post(url, follow=True).content.decode())


@pytest.mark.parametrize(
    ("role", "status"),
    [
        (None, 404),
        (Role.VIEWER, 403),
        (Role.AGENT, 403),
        (Role.REVIEWER, 200),
        (Role.EDITOR, 200),
        (Role.ADMIN, 200),
    ],
    ids=str,
)
def test_reviewers_and_up_choose_when_they_are_told(
    project: Project, role: Role | None, status: int
) -> None:
    user = make_user(project, role) if role else make_user()

    for name in ("review_notices", "review_notices_example"):
        url = reverse(name, args=[project.slug])
        client = signed_in(user)
        answer = client.get(url) if name == "review_notices" else client.post(url)

        assert answer.status_code == (302 if status == 200 and name != "review_notices" else status)


def test_what_is_chosen_is_kept_and_shown(project: Project, mira: User) -> None:
    client, url = signed_in(mira), reverse("review_notices", args=[project.slug])

    answer = client.post(url, {"notice": "daily", "min_urgency": "40"}, follow=True)

    assert answer.redirect_chain == [(url, 302)]
    kept = NoticePreference.objects.get(member__user=mira)
    assert (kept.notice, kept.min_urgency, kept.sent_at) == (Notice.DAILY, 40, None)
    html = page(project, mira)
    assert 'value="daily"' in html.split("checked")[0].rsplit("<input", 1)[1]
    assert 'value="40"' in html
    assert "None has gone yet" in html


def test_another_choice_does_not_forget_what_was_told(project: Project) -> None:
    preference = make_reader(project, Notice.DAILY, sent_at=NOON)
    client = signed_in(preference.member.user)

    client.post(
        reverse("review_notices", args=[project.slug]), {"notice": "at_once", "min_urgency": "0"}
    )

    preference.refresh_from_db()
    assert (preference.notice, preference.sent_at) == (Notice.AT_ONCE, NOON)
    assert "2026-11-18 12:00 UTC" in page(project, preference.member.user)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"notice": "weekly", "min_urgency": "0"},
        {"notice": "daily", "min_urgency": "101"},
        {"notice": "daily", "min_urgency": "-1"},
        {"notice": "daily", "min_urgency": "NaN"},
        {"notice": "daily", "min_urgency": "9" * 5000},
        {"notice": "\x00", "min_urgency": "0"},
    ],
    ids=range(7),
)
def test_a_choice_that_means_nothing_is_told_beside_its_field(
    project: Project, mira: User, body: dict[str, str]
) -> None:
    answer = signed_in(mira).post(reverse("review_notices", args=[project.slug]), body)

    assert answer.status_code == 422
    assert "errorlist" in answer.content.decode()
    assert not NoticePreference.objects.exists()


def test_one_person_s_choice_is_for_one_project(project: Project, mira: User) -> None:
    other = make_project()
    Member.objects.create(project=other, user=mira, role=Role.REVIEWER)

    signed_in(mira).post(
        reverse("review_notices", args=[project.slug]), {"notice": "daily", "min_urgency": "0"}
    )

    assert NoticePreference.objects.get().member.project == project


def test_an_example_shows_that_mails_arrive(project: Project, mira: User) -> None:
    assert "on its way to mira@example.org" in example(project, mira)

    [letter] = mail.outbox
    assert letter.to == ["mira@example.org"]
    assert letter.subject.startswith("Example: ")
    assert "This is an example" in str(letter.body)
    assert "List-Unsubscribe" in letter.extra_headers
    assert not NoticePreference.objects.exists()


def test_without_a_mail_server_the_page_and_the_example_say_what_to_set(
    project: Project, mira: User, settings: LazySettings
) -> None:
    settings.EMAIL_BACKEND = FILES

    assert "EMAIL_URL" in page(project, mira)
    assert "No mail server is set up: whoever runs this" in example(project, mira)


def test_an_example_that_the_server_refuses_says_so(
    project: Project, mira: User, settings: LazySettings
) -> None:
    with running_mail_server() as server:
        server.refuses = True
        settings.EMAIL_BACKEND, settings.EMAIL_HOST = SMTP, "127.0.0.1"
        settings.EMAIL_PORT = server.port

        html = example(project, mira)

    assert "The mail server did not take it" in html


def test_without_an_address_the_page_leads_to_where_one_is_added(project: Project) -> None:
    user = make_user(project, Role.REVIEWER)

    assert reverse("account") in page(project, user).split("You have no e-mail address")[1]
    assert "You have no e-mail address yet" in example(project, user)


def unsubscribe_url(preference: NoticePreference) -> str:
    return reverse("notice_unsubscribe", args=[lists.token_of(preference.member)])


def test_the_link_in_a_mail_asks_once_and_then_ends_them_signed_out(project: Project) -> None:
    preference = make_reader(project, Notice.AT_ONCE)
    client = Client(enforce_csrf_checks=True)

    asked = client.get(unsubscribe_url(preference))

    preference.refresh_from_db()
    assert "Stop the mails" in asked.content.decode()
    assert preference.notice == Notice.AT_ONCE

    done = client.post(unsubscribe_url(preference))

    preference.refresh_from_db()
    assert "No more mails" in done.content.decode()
    assert preference.notice == Notice.OFF


def test_one_click_of_a_mail_program_ends_them(project: Project) -> None:
    preference = make_reader(project, Notice.DAILY)
    client = Client(enforce_csrf_checks=True)

    answer = client.post(unsubscribe_url(preference), {"List-Unsubscribe": "One-Click"})

    preference.refresh_from_db()
    assert (answer.status_code, preference.notice) == (200, Notice.OFF)


def test_a_link_ends_the_mails_of_its_own_member_alone(project: Project) -> None:
    mine, other = make_reader(project, Notice.DAILY), make_reader(project, Notice.DAILY)

    Client().post(unsubscribe_url(mine))

    other.refresh_from_db()
    assert other.notice == Notice.DAILY


@pytest.mark.parametrize("token", ["x", "x:y:z", "é", "a" * 3000, "..", "IjEi:1xUurN:abc"])
def test_a_link_that_is_not_ours_ends_nothing(project: Project, token: str) -> None:
    preference = make_reader(project, Notice.DAILY)

    answer = Client().post(reverse("notice_unsubscribe", args=[token]))

    preference.refresh_from_db()
    assert (answer.status_code, preference.notice) == (404, Notice.DAILY)


def test_a_removed_member_s_link_leads_to_a_page_that_says_so(project: Project) -> None:
    preference = make_reader(project, Notice.DAILY)
    url = unsubscribe_url(preference)
    preference.member.delete()

    assert Client().get(url).status_code == 404
    assert not services.turn_off(preference.member.uuid)


def test_hostile_names_are_shown_as_text(project: Project) -> None:
    preference = make_reader(project, Notice.DAILY)
    Project.objects.update(name="<script>alert(1)</script>")
    User.objects.update(first_name="<img src=x>")
    waiting(project)

    html = Client().get(unsubscribe_url(preference)).content.decode()

    assert "<script>alert" not in html
    assert "<img src=x>" not in html
