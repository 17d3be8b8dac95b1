from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial

import pytest
from django.conf import LazySettings
from django.core import mail
from django.db import DEFAULT_DB_ALIAS, OperationalError, connection, connections

from loomverify.accounts.models import Project
from loomverify.celery import app
from tests.actions.conftest import drain_messages
from tests.reviews.mail_server import MailServer, running_mail_server
from tests.reviews.noticing import NOON, make_reader, waiting
from verification.reviews import tasks  # noqa: F401 - as a worker imports them
from verification.reviews.models import Notice, NoticePreference
from verification.reviews.notices import services
from verification.reviews.notices.services import Pace, sweep

pytestmark = pytest.mark.django_db
FILES = "django.core.mail.backends.filebased.EmailBackend"


@pytest.fixture
def empty_queue() -> Iterator[None]:
    drain_messages()
    yield
    drain_messages()


@pytest.fixture
def mail_server(settings: LazySettings) -> Iterator[MailServer]:
    with running_mail_server() as server:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        yield server


def sent_at(preference: NoticePreference) -> datetime | None:
    preference.refresh_from_db()
    return preference.sent_at


def test_the_relay_wakes_a_worker_which_sends_the_mail(
    project: Project, empty_queue: None, mail_server: MailServer
) -> None:
    preference = make_reader(project, Notice.DAILY)
    waiting(project, seconds=10**7)

    assert sweep(pace=Pace()) == 1
    [(name, arguments)] = drain_messages()
    app.tasks[name](*arguments)

    assert [*arguments] == [preference.pk]
    assert [letter["To"] for letter in mail_server.mails] == [preference.member.user.email]
    assert sent_at(preference) is not None
    assert sweep(pace=Pace()) == 0


def test_two_relays_and_late_messages_are_one_mail(project: Project, empty_queue: None) -> None:
    make_reader(project, Notice.DAILY)
    waiting(project, seconds=10**7)

    assert sweep(pace=Pace()) == sweep(pace=Pace()) == 1
    for name, arguments in drain_messages():
        app.tasks[name](*arguments)

    assert len(mail.outbox) == 1


@pytest.mark.django_db(transaction=True)
def test_workers_at_the_same_moment_send_one_mail(
    project: Project, mail_server: MailServer
) -> None:
    preference = make_reader(project, Notice.DAILY)
    waiting(project, seconds=86400)
    together, sent = threading.Barrier(4), []

    def work() -> None:
        try:
            together.wait()
            sent.append(services.send_notice(preference.pk, now=NOON))
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(sent) == [False, False, False, True]
    assert len(mail_server.mails) == 1


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_is_lost_after_the_mail_sends_it_again_and_holds_nobody_up(
    project: Project, mail_server: MailServer
) -> None:
    preference = make_reader(project, Notice.DAILY)
    waiting(project, seconds=86400)
    with connection.cursor() as cursor:
        cursor.execute("select pg_backend_pid()")
        [backend] = cursor.fetchone()
    mail_server.on_mail = partial(_end_connection, backend)

    with pytest.raises(OperationalError):
        services.send_notice(preference.pk, now=NOON)
    connection.close()
    mail_server.on_mail = None

    assert sent_at(preference) is None
    assert services.send_notice(preference.pk, now=NOON)
    assert len(mail_server.mails) == 2
    assert sent_at(preference) == NOON


def _end_connection(backend: int) -> None:
    own = connections.create_connection(DEFAULT_DB_ALIAS)
    with own.cursor() as cursor:
        cursor.execute("select pg_terminate_backend(%s)", [backend])
    own.close()


def test_what_the_mail_server_refuses_is_logged_and_sent_later(
    project: Project, mail_server: MailServer, caplog: pytest.LogCaptureFixture
) -> None:
    preference = make_reader(project, Notice.DAILY)
    waiting(project, seconds=86400)
    mail_server.refuses = True

    with caplog.at_level(logging.WARNING):
        assert not services.send_notice(preference.pk, now=NOON)

    assert f"notice_failed preference={preference.pk}" in caplog.text
    assert preference.member.user.email not in caplog.text
    assert sent_at(preference) is None

    mail_server.refuses = False

    assert services.send_notice(preference.pk, now=NOON)
    assert len(mail_server.mails) == 1


def test_a_mail_server_that_is_away_is_no_error_of_ours(
    project: Project, settings: LazySettings
) -> None:
    with running_mail_server() as server:
        port = server.port
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
    preference = make_reader(project, Notice.DAILY)
    waiting(project, seconds=86400)

    assert not services.send_notice(preference.pk, now=NOON)
    assert sent_at(preference) is None


@pytest.mark.extended
def test_each_vain_attempt_is_waited_for_twice_as_long_but_at_most_five_minutes(
    project: Project, empty_queue: None
) -> None:
    make_reader(project, Notice.DAILY)
    waiting(project, seconds=86400)
    pace = Pace()

    woken = [
        second
        for second in range(0, 3600, 5)
        if sweep(pace=pace, now=NOON + timedelta(seconds=second))
    ]

    assert woken[:7] == [0, 30, 90, 210, 450, 750, 1050]
    assert woken[-1] - woken[-2] == 300


def test_who_was_told_is_woken_for_anew_without_a_wait(project: Project, empty_queue: None) -> None:
    preference = make_reader(project, Notice.AT_ONCE)
    waiting(project, seconds=60)
    pace = Pace()
    assert sweep(pace=pace, now=NOON) == 1

    assert services.send_notice(preference.pk, now=NOON)
    later = NOON + timedelta(minutes=6)
    waiting(project, seconds=-60)

    assert sweep(pace=pace, now=NOON) == 0
    assert sweep(pace=pace, now=later) == 1


def test_a_notice_that_is_not_due_any_more_is_not_sent(project: Project) -> None:
    preference = make_reader(project, Notice.DAILY)
    waiting(project, seconds=86400)
    NoticePreference.objects.update(notice=Notice.OFF)

    assert not services.send_notice(preference.pk, now=NOON)
    assert not services.send_notice(preference.pk + 1, now=NOON)
    assert mail.outbox == []


def test_without_a_mail_server_nobody_is_woken(
    project: Project, settings: LazySettings, empty_queue: None
) -> None:
    settings.EMAIL_BACKEND = FILES
    make_reader(project, Notice.DAILY)
    waiting(project, seconds=86400)

    assert sweep(pace=Pace(), now=NOON) == 0


def test_a_morning_s_mail_is_not_sent_to_whom_nothing_is_left(project: Project) -> None:
    mine, theirs = make_reader(project, Notice.DAILY), make_reader(project, Notice.DAILY)
    waiting(project, seconds=86400, assigned_to=theirs.member.user)

    assert not services.send_notice(mine.pk, now=NOON)
    assert services.send_notice(theirs.pk, now=NOON)
    assert [letter.to for letter in mail.outbox] == [[theirs.member.user.email]]


def test_the_relay_looks_every_five_seconds(project: Project, empty_queue: None) -> None:
    pace = Pace()
    assert sweep(pace=pace, now=NOON) == 0
    make_reader(project, Notice.DAILY)
    waiting(project, seconds=86400)

    assert sweep(pace=pace, now=NOON + timedelta(seconds=4)) == 0
    assert sweep(pace=pace, now=NOON + timedelta(seconds=5)) == 1


def test_a_clock_that_was_set_back_does_not_stop_the_relay(
    project: Project, empty_queue: None
) -> None:
    pace = Pace()
    sweep(pace=pace, now=NOON + timedelta(days=9))
    make_reader(project, Notice.DAILY)
    waiting(project, seconds=86400)

    assert sweep(pace=pace, now=NOON) == 1
