from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import pytest
from django.conf import LazySettings
from django.core import mail
from django.db import connection
from django.test import Client

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import AuditEntry, Member, Project, Role, User
from tests.actions.conftest import drain_messages
from tests.builders import make_project, make_run, make_user
from tests.golden.builders import make_replay
from tests.reviews.mail_server import MailServer, running_mail_server
from tests.reviews.noticing import make_reader, waiting
from verification.actions.models import Mail, NightReport, ReportSettings
from verification.actions.report import forgetting, mailing, preferences, schedule
from verification.actions.report.gathering import report
from verification.actions.report.nights import Hours, last_night
from verification.actions.report.preferences import Wanted
from verification.golden.models import GoldenNotice
from verification.golden.replays import notices as regressions
from verification.reviews.models import Notice
from verification.reviews.notices import due as notices
from verification.reviews.notices.services import Pace
from verification.runs.models import OutboxEvent

pytestmark = pytest.mark.django_db
DOCS = (Path(__file__).resolve().parents[3] / "docs" / "webhooks.md").read_text()
NIGHT_ENDS = datetime(2026, 11, 18, 8, tzinfo=UTC)
AT = NIGHT_ENDS + timedelta(seconds=3)
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
WANTED = Wanted(True, time(18), time(8), time(0), time(0))


@pytest.fixture
def project() -> Project:
    return make_project("looms")


def reader(project: Project, name: str = "ada") -> Member:
    user = make_user(project, Role.VIEWER, name)
    User.objects.filter(pk=user.pk).update(email=f"{name}@example.org")
    return Member.objects.get(project=project, user=user)


def switched_on(project: Project, *members: Member, **columns: object) -> ReportSettings:
    wanted = Wanted(True, time(18), time(8), time(0), time(0), {one.uuid for one in members})
    preferences.change(project=project, actor=SYSTEM, wanted=wanted)
    rows = ReportSettings.objects.filter(project=project)
    rows.update(**{"on_since": NIGHT_ENDS - timedelta(days=30), **columns})
    return rows.get()


def test_a_night_s_report_is_made_once_and_told(project: Project) -> None:
    row = switched_on(project, reader(project))
    make_run(project, created_at=NIGHT_ENDS - HOUR)

    made = [schedule.make(row.pk, now=AT), schedule.make(row.pk, now=AT + HOUR)]

    assert made == [True, False]
    [report] = NightReport.objects.all()
    assert (report.start, report.end) == (NIGHT_ENDS - 14 * HOUR, NIGHT_ENDS)
    assert report.summary.startswith("1 run of 1 process")
    [event] = OutboxEvent.objects.filter(topic="report.morning")
    assert (event.payload["runs"], event.payload["until"]) == (1, NIGHT_ENDS.isoformat())
    [letter] = Mail.objects.all()
    assert letter.subject.startswith("Looms: 1 run of 1 process")


@pytest.mark.parametrize(
    ("at", "is_due"),
    [
        (NIGHT_ENDS, False),  # runs of its last second may not be seen yet
        (NIGHT_ENDS + 2 * timedelta(seconds=1), True),
        (NIGHT_ENDS + 23 * HOUR, True),
        (NIGHT_ENDS + 24 * HOUR - MINUTE, True),
    ],
)
def test_a_night_is_reported_late_after_downtime(
    project: Project, at: datetime, is_due: bool
) -> None:
    row = switched_on(project)

    assert [one.night.end for one in schedule.due(at)] == [NIGHT_ENDS] * is_due
    assert schedule.make(row.pk, now=at) is is_due


def test_of_many_nights_without_a_relay_the_last_alone_is_reported(project: Project) -> None:
    row = switched_on(project)
    schedule.make(row.pk, now=AT)

    for hours in range(23):
        schedule.make(row.pk, now=AT + timedelta(days=4, hours=hours))

    ends = list(NightReport.objects.order_by("end").values_list("end", flat=True))
    assert ends == [NIGHT_ENDS, NIGHT_ENDS + timedelta(days=4)]


def test_a_week_of_turns_makes_a_report_of_each_night(project: Project) -> None:
    row = switched_on(project)

    for hour in range(24 * 7):
        schedule.make(row.pk, now=AT + hour * HOUR)

    assert NightReport.objects.count() == 7


def test_a_night_that_was_over_when_it_was_switched_on_is_not_reported(project: Project) -> None:
    switched_on(project, on_since=NIGHT_ENDS + MINUTE)

    assert schedule.due(NIGHT_ENDS + HOUR) == []
    assert len(schedule.due(NIGHT_ENDS + 25 * HOUR)) == 1


def test_what_is_off_is_never_made(project: Project) -> None:
    row = switched_on(project, is_on=False)

    assert (schedule.due(AT), schedule.make(row.pk, now=AT)) == ([], False)


@pytest.mark.usefixtures("empty_queue")
def test_the_relay_wakes_a_worker_for_each_and_asks_once_whatever_their_number() -> None:
    rows = [switched_on(make_project()) for _ in range(3)]

    assert schedule.sweep(pace=Pace(), now=AT) == 3
    named = {arguments[0] for task, arguments in drain_messages() if task == schedule.MAKE_TASK}
    assert named == {row.pk for row in rows}


@pytest.mark.django_db(transaction=True)
def test_of_two_who_make_it_at_once_one_does() -> None:
    project = make_project()
    row = switched_on(project, reader(project))
    barrier = threading.Barrier(4)
    made: list[bool] = []

    def work() -> None:
        barrier.wait()
        made.append(schedule.make(row.pk, now=AT))
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(made) == [False, False, False, True]
    assert NightReport.objects.count() == 1
    assert OutboxEvent.objects.filter(topic="report.morning").count() == 1
    assert Mail.objects.count() == 1


@pytest.fixture
def mail_server(settings: LazySettings) -> Iterator[MailServer]:
    with running_mail_server() as server:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        yield server


def test_a_mail_that_the_server_refuses_stays_due(
    project: Project, mail_server: MailServer
) -> None:
    row = switched_on(project, reader(project))
    schedule.make(row.pk, now=AT)
    letter = Mail.objects.get()
    mail_server.refuses = True

    assert mailing.send(letter.pk) is False
    assert list(mailing.due(letter.created_at + HOUR)) == [letter]
    mail_server.refuses = False
    mail_server.mails.clear()
    assert (mailing.send(letter.pk), mailing.send(letter.pk)) == (True, False)

    [sent] = mail_server.mails
    assert sent["To"] == "ada@example.org"
    assert "# Morning report of Looms" in str(sent.get_content())


def test_one_click_of_a_mail_program_ends_the_mails_and_what_is_on_its_way(
    project: Project, mail_server: MailServer
) -> None:
    row = switched_on(project, reader(project))
    schedule.make(row.pk, now=AT)
    assert mailing.send(Mail.objects.get().pk)
    [sent] = mail_server.mails
    away = sent["List-Unsubscribe"].strip(" <>")
    assert sent["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert away in sent.get_content()
    assert "/settings/" not in sent.get_content().split("An admin of the project")[1]
    mailing.add(row.recipients.all(), subject="Another", body="One more.")

    client = Client(enforce_csrf_checks=True)
    path = urlsplit(away).path
    asked = client.get(path)
    assert row.recipients.count() == 1
    client.post(path, {"List-Unsubscribe": "One-Click"})

    assert "told about nights and budgets" in asked.content.decode()
    assert (row.recipients.count(), Mail.objects.filter(sent_at=None).count()) == (0, 0)
    assert AuditEntry.objects.get(verb="report_settings.left").user is not None


def test_in_quiet_hours_the_report_is_made_and_nobody_is_mailed(project: Project) -> None:
    quiet = {"quiet_begins": time(22), "quiet_ends": time(9, 30)}
    row = switched_on(project, reader(project), **quiet)
    schedule.make(row.pk, now=AT)
    Mail.objects.update(created_at=AT)

    times = [AT, NIGHT_ENDS + 89 * MINUTE, NIGHT_ENDS + 90 * MINUTE]

    assert NightReport.objects.count() == 1
    assert [mailing.due(at).count() for at in times] == [0, 0, 1]


def test_in_quiet_hours_reviewers_are_not_mailed_but_after(project: Project) -> None:
    make_reader(project, Notice.AT_ONCE)
    waiting(project, seconds=8 * 3600)
    switched_on(project, quiet_begins=time(22), quiet_ends=time(9))

    assert notices.due(NIGHT_ENDS) == []
    assert len(notices.due(NIGHT_ENDS + HOUR)) == 1


@pytest.mark.parametrize(
    "lost",
    [
        lambda member: User.objects.filter(pk=member.user_id).update(is_active=False),
        lambda member: User.objects.filter(pk=member.user_id).update(email=""),
        lambda member: member.delete(),
    ],
)
def test_who_left_is_mailed_no_more(project: Project, lost: Callable[[Member], object]) -> None:
    member = reader(project)
    row = switched_on(project, member)
    schedule.make(row.pk, now=AT)
    [letter] = Mail.objects.all()

    lost(member)

    assert mailing.due(letter.created_at + MINUTE).count() == 0
    assert mailing.send(letter.pk) is False
    assert mail.outbox == []


def test_the_documented_payload_is_the_one_sent(project: Project) -> None:
    section = DOCS.split("### The morning report and budgets")[1].split("\n#")[0]
    [example] = (json.loads(one) for one in re.findall(r"```json\n(.*?)```", section, re.DOTALL))
    night = last_night(AT, Hours(), ZoneInfo("UTC"))

    told = schedule.payload(report(project, night))

    assert [*told] == [*example]
    assert {name: type(one) for name, one in told.items()} == {
        name: type(one) for name, one in example.items()
    }


def test_reports_and_mails_are_kept_no_longer_than_runs(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(retention_days=10)
    row = switched_on(project, reader(project))
    schedule.make(row.pk, now=AT)
    Mail.objects.update(created_at=AT)

    counts = []
    for days in (6, 8, 9.9, 10.1):
        forgetting.forget(AT + timedelta(days=days))
        counts.append((NightReport.objects.count(), Mail.objects.count()))

    assert counts == [(1, 1), (1, 0), (1, 0), (0, 0)]


def test_in_quiet_hours_a_regression_is_not_mailed_but_after(project: Project) -> None:
    member = reader(project)
    GoldenNotice.objects.create(member=member)
    GoldenNotice.objects.update(created_at=NIGHT_ENDS - 12 * HOUR)
    make_replay(
        project,
        created_at=NIGHT_ENDS - 5 * HOUR,
        purpose="nightly",
        counts={"regressed": 1},
        total=1,
    )
    switched_on(project, quiet_begins=time(22), quiet_ends=time(9))

    assert [regressions.due(at).count() for at in (NIGHT_ENDS, NIGHT_ENDS + HOUR)] == [0, 1]
