from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import LazySettings
from django.core import mail
from django.db import connection
from django.test import Client

from loomverify.accounts.access import Access, person
from loomverify.accounts.models import Project, Role, User
from tests.builders import make_project, make_user
from tests.golden.builders import make_case, make_replay, make_result
from tests.golden.replayed import FILES
from tests.reviews.mail_server import MailServer, running_mail_server
from verification.engine.golden.standing import Change, Standing
from verification.golden import tasks
from verification.golden.models import GoldenNotice, Replay, ReplayPurpose, ReplayState
from verification.golden.replays import notices
from verification.reviews.notices.services import Pace

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
SMTP = "django.core.mail.backends.smtp.EmailBackend"


@pytest.fixture
def project() -> Project:
    return make_project("ours")


@pytest.fixture
def ada(project: Project) -> Access:
    user = make_user(project, Role.VIEWER, "ada")
    User.objects.filter(pk=user.pk).update(email="ada@example.org")
    access = Access(project, Role.VIEWER, person(user))
    notices.choose(access=access, is_told=True)
    GoldenNotice.objects.update(created_at=NOON - DAY)
    return access


def regressed(project: Project, name: str = "case", **columns: Any) -> Replay:
    counts = {**dict.fromkeys(Change, 0), Change.REGRESSED: 1}
    usual = {"purpose": ReplayPurpose.NIGHTLY, "counts": counts, "total": 1}
    replay = make_replay(project, **{"created_at": NOON - MINUTE, **usual, **columns})
    case = make_case(project, name, files=FILES)
    make_result(replay, case, standing=Standing.FAILING, change=Change.REGRESSED)
    return replay


def due(now: datetime = NOON) -> int:
    return notices.due(now).count()


def send(now: datetime = NOON) -> bool:
    return notices.send(GoldenNotice.objects.get().pk, now=now)


def test_who_wants_to_is_mailed_what_regressed_at_night(project: Project, ada: Access) -> None:
    replay = regressed(project)

    assert send()

    [letter] = mail.outbox
    assert letter.to == ["ada@example.org"]
    assert letter.subject == "1 of 1 golden cases regressed in Ours"
    assert f"/p/ours/golden/replays/{replay.uuid}/" in letter.body
    assert "case\n  small-work\n" in letter.body
    assert "/p/ours/golden/schedule/" in letter.body
    away = letter.extra_headers["List-Unsubscribe"].strip("<>")
    assert away in letter.body
    Client(enforce_csrf_checks=True).post(urlsplit(away).path)
    assert not GoldenNotice.objects.exists()


def test_a_regression_is_told_once(project: Project, ada: Access) -> None:
    regressed(project)

    assert [send(), send(NOON + MINUTE)] == [True, False]
    regressed(project, "next", created_at=NOON + DAY)
    assert [due(NOON + DAY + MINUTE), send(NOON + DAY + MINUTE)] == [1, True]
    assert len(mail.outbox) == 2


def test_of_several_nights_the_newest_is_told(project: Project, ada: Access) -> None:
    newest = regressed(project, "newest")
    regressed(project, "older", created_at=NOON - timedelta(hours=20))

    assert [send(), send()] == [True, False]
    assert str(newest.uuid) in mail.outbox[0].body


@pytest.mark.parametrize(
    "columns",
    [
        {"purpose": ReplayPurpose.CI},
        {"counts": {"regressed": 0}},
        {"counts": {}},
        {"state": ReplayState.RUNNING},
        {"created_at": NOON - 3 * DAY},
        {"created_at": NOON - DAY - MINUTE},
    ],
    ids=["ci", "none", "uncounted", "running", "long-ago", "before-they-chose"],
)
def test_nothing_else_is_mailed(project: Project, ada: Access, columns: dict[str, Any]) -> None:
    regressed(project, **columns)

    assert due() == 0
    assert not send()


def test_another_projects_regression_is_not_theirs(project: Project, ada: Access) -> None:
    regressed(make_project("theirs"))

    assert due() == 0


@pytest.mark.parametrize("change", [{"email": ""}, {"is_active": False}], ids=["mail", "active"])
def test_who_cannot_be_reached_is_not_waited_for(
    project: Project, ada: Access, change: dict[str, Any]
) -> None:
    regressed(project)
    User.objects.filter(username="ada").update(**change)

    assert due() == 0


def test_who_does_not_want_it_any_more_hears_nothing(project: Project, ada: Access) -> None:
    regressed(project)
    assert notices.is_told(ada)

    notices.choose(access=ada, is_told=False)

    assert not notices.is_told(ada)
    assert due() == 0


def test_long_lists_are_cut_in_the_mail(project: Project, ada: Access) -> None:
    replay = regressed(project, counts={"regressed": 25}, total=30)
    for number in range(24):
        case = make_case(project, f"more-{number:02}", files=FILES)
        make_result(replay, case, standing=Standing.FAILING, change=Change.REGRESSED)

    send()

    assert mail.outbox[0].body.count("/cases/") == notices.MOST_NAMED
    assert "… and 15 more." in mail.outbox[0].body


def test_the_relay_wakes_for_a_mail_ever_more_slowly(project: Project, ada: Access) -> None:
    regressed(project)
    pace = Pace()

    woken = [minute for minute in range(12) if notices.sweep(pace=pace, now=NOON + minute * MINUTE)]

    assert woken == [0, 1, 2, 4, 8]
    assert tasks.send_notice.name == notices.SEND_TASK


@pytest.fixture
def mail_server(settings: LazySettings) -> Iterator[MailServer]:
    with running_mail_server() as server:
        settings.EMAIL_BACKEND, settings.EMAIL_HOST = SMTP, "127.0.0.1"
        settings.EMAIL_PORT, settings.EMAIL_USE_TLS = server.port, False
        yield server


def test_what_the_mail_server_refuses_is_sent_later(
    project: Project, ada: Access, mail_server: MailServer
) -> None:
    regressed(project)
    mail_server.refuses = True
    assert not send()
    assert due() == 1

    mail_server.refuses = False

    assert send(NOON + MINUTE)
    assert len(mail_server.mails) == 1


@pytest.mark.django_db(transaction=True)
def test_workers_side_by_side_send_one_mail(
    project: Project, ada: Access, mail_server: MailServer
) -> None:
    regressed(project)
    pk, gate = GoldenNotice.objects.get().pk, threading.Barrier(4)

    def act(_: int) -> bool:
        gate.wait()
        try:
            return notices.send(pk, now=NOON)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        sent = list(pool.map(act, range(4)))

    assert sorted(sent) == [False, False, False, True]
    assert len(mail_server.mails) == 1
