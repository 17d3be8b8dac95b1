from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from email.message import EmailMessage

import pytest
from django.conf import LazySettings
from django.core import mail
from django.db import connection
from django.test.utils import CaptureQueriesContext

from loomverify.accounts.models import Project
from tests.builders import make_project, make_run
from tests.reviewing import DOUBTED
from tests.reviews.mail_server import MailServer, running_mail_server
from tests.reviews.noticing import NOON, make_reader, waiting
from verification.engine.outcome import Outcome, Verdict
from verification.reviews.models import Notice, NoticePreference
from verification.reviews.notices import lists, services, telling

pytestmark = pytest.mark.django_db
HOSTILE = "Size\r\nBcc: everybody@example.org\r\n\r\n<b>https://evil.example\u202e" + "x" * 200


@pytest.fixture
def project() -> Project:
    return make_project("looms")


@pytest.fixture
def mail_server(settings: LazySettings) -> Iterator[MailServer]:
    with running_mail_server() as server:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        yield server


def sent_to(preference: NoticePreference) -> mail.EmailMessage:
    assert services.send_notice(preference.pk, now=NOON)
    return mail.outbox[-1]


def test_a_notice_counts_what_is_new_and_what_waits_and_leads_there(
    project: Project, settings: LazySettings
) -> None:
    settings.BASE_URL = "https://verify.example"
    preference = make_reader(project, Notice.HOURLY, sent_at=NOON - timedelta(minutes=30, hours=1))
    waiting(project, seconds=3 * 86400, urgency=5)
    urgent = waiting(project, seconds=600, urgency=90)

    letter = sent_to(preference)

    assert letter.to == [preference.member.user.email]
    assert letter.subject == f"To review in Looms: {urgent.run.title}"
    body = str(letter.body)
    for part in (
        "1 new. 2 wait for a reviewer in Looms, the oldest for 3 days.",
        "https://verify.example/p/looms/review/",
        f"{urgent.run.title} (new)",
        "small-work · build, urgency 90, waits 10 min",
        "votes or alternatives disagree",
        f"https://verify.example/p/looms/review/{urgent.uuid}/",
        "https://verify.example/p/looms/review/notices/",
    ):
        assert part in body
    preference.refresh_from_db()
    assert preference.sent_at == NOON


def test_at_most_ten_are_listed_most_urgent_first_and_the_rest_is_counted(
    project: Project,
) -> None:
    preference = make_reader(project, Notice.DAILY)
    for urgency in range(13):
        waiting(project, seconds=5 * 3600, urgency=urgency)

    told = telling.told(preference, now=NOON)

    assert [line.urgency for line in told.lines] == list(range(17, 7, -1))
    assert told.more == 3
    assert "… and 3 more." in str(sent_to(preference).body)


def test_many_flags_at_once_are_one_mail(project: Project) -> None:
    preference = make_reader(project, Notice.AT_ONCE, sent_at=NOON - timedelta(hours=1))
    for number in range(40):
        waiting(project, seconds=11 - number / 5)

    letter = sent_to(preference)

    assert letter.subject == "40 new to review in Looms"
    assert not services.send_notice(preference.pk, now=NOON + timedelta(minutes=4))
    assert not services.send_notice(preference.pk, now=NOON + timedelta(minutes=6))
    assert len(mail.outbox) == 1


def test_what_comes_right_after_a_mail_waits_five_minutes_for_the_next(project: Project) -> None:
    preference = make_reader(project, Notice.AT_ONCE)
    waiting(project, seconds=11)
    waiting(project, seconds=1)  # another transaction may not see it yet

    assert sent_to(preference).subject.startswith("To review in Looms: ")
    assert not services.send_notice(preference.pk, now=NOON + timedelta(minutes=4, seconds=59))
    assert services.send_notice(preference.pk, now=NOON + timedelta(minutes=5))
    assert mail.outbox[1].subject.startswith("To review in Looms: ")


def test_a_mail_at_once_lists_only_what_is_new(project: Project) -> None:
    preference = make_reader(project, Notice.AT_ONCE, sent_at=NOON - timedelta(hours=1))
    waiting(project, seconds=2 * 86400, urgency=100)
    new = waiting(project, seconds=60, urgency=5)

    letter = sent_to(preference)

    assert str(letter.body).count("/review/") - str(letter.body).count("/review/notices/") == 2
    assert str(new.uuid) in str(letter.body)
    assert "… and 1 more." in str(letter.body)


@pytest.mark.parametrize(("is_blind", "is_told"), [(True, False), (False, True)])
def test_a_blind_review_s_mail_says_nothing_of_the_verdict(
    project: Project, is_blind: bool, is_told: bool
) -> None:
    preference = make_reader(project, Notice.AT_ONCE)
    run = make_run(
        project, outcome=Outcome.FAIL, verdict=Verdict.REJECT, reason_code="tests_failed"
    )
    waiting(project, seconds=60, run=run, is_blind=is_blind)

    text = str(sent_to(preference).body) + mail.outbox[0].subject

    assert ("tests failed" in text) is is_told
    assert "reject" not in text.lower()


def test_submitted_text_cannot_write_headers_or_lines_of_its_own(
    project: Project, mail_server: MailServer
) -> None:
    preference = make_reader(project, Notice.AT_ONCE)
    waiting(project, seconds=60, run=make_run(project, title=HOSTILE[:200], **DOUBTED))

    assert services.send_notice(preference.pk, now=NOON)

    [letter] = mail_server.mails
    assert letter["Bcc"] is None
    assert letter["To"] == preference.member.user.email
    assert len(letter["Subject"]) < 160
    assert "\n" not in letter["Subject"]
    assert "\u202e" not in body_of(letter)
    assert "\nBcc" not in body_of(letter)
    assert "https://evil" not in body_of(letter)


def test_a_project_s_name_cannot_write_headers_either(
    project: Project, mail_server: MailServer
) -> None:
    preference = make_reader(project, Notice.DAILY)
    Project.objects.update(name="Looms\r\nBcc: all@example.org")
    waiting(project, seconds=86400)

    assert services.send_notice(preference.pk, now=NOON)

    assert mail_server.mails[0]["Bcc"] is None


def test_each_mail_can_be_ended_with_one_click(project: Project, mail_server: MailServer) -> None:
    preference = make_reader(project, Notice.DAILY)
    waiting(project, seconds=86400)

    assert services.send_notice(preference.pk, now=NOON)

    [letter] = mail_server.mails
    address = letter["List-Unsubscribe"].strip(" <>")
    assert letter["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert letter["Auto-Submitted"] == "auto-generated"
    assert address in body_of(letter)
    token = address.rstrip("/").rsplit("/", 1)[1]
    named = lists.named_by(token)
    assert named is not None
    assert named[1] == preference.member.uuid


def test_a_mail_costs_the_same_number_of_queries_however_much_waits(project: Project) -> None:
    preference = make_reader(project, Notice.DAILY)

    def cost() -> int:
        with CaptureQueriesContext(connection) as asked:
            telling.told(preference, now=NOON)
        return len(asked)

    waiting(project, seconds=86400)
    cost()
    few = cost()
    for _ in range(12):
        waiting(project, seconds=86400)

    assert cost() == few == 2


def body_of(letter: EmailMessage) -> str:
    return str(letter.get_content())
