from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.contrib.auth.hashers import make_password
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from loomverify.accounts.models import Member, Project, Role, User
from tests.builders import make_project
from tests.reviewing import make_review
from tests.reviews.noticing import NOON, make_reader, waiting
from tests.reviews.scene_past import decide
from tests.tables import check_rows
from verification.engine.outcome import Outcome
from verification.reviews.models import Notice, NoticePreference
from verification.reviews.notices import telling
from verification.reviews.notices.due import due
from verification.runs.models import Review, ReviewState

pytestmark = pytest.mark.django_db
AT_ONCE, HOURLY, DAILY, OFF = Notice.AT_ONCE, Notice.HOURLY, Notice.DAILY, Notice.OFF
MINUTE, HOUR, DAY = 60, 3600, 86400


def is_due(preference: NoticePreference, now: datetime = NOON) -> bool:
    return preference.pk in [one.preference for one in due(now)]


@check_rows(
    ("notice", "opened", "sent", "expected"),
    [
        # seconds before noon: the review was opened, the last notice was sent
        (OFF, HOUR, None, False),
        (AT_ONCE, 11, None, True),
        (AT_ONCE, 9, None, False),  # others may come within ten seconds
        (AT_ONCE, 11, 4 * MINUTE, False),  # at most one in five minutes
        (AT_ONCE, 11, 6 * MINUTE, True),
        (AT_ONCE, HOUR, 6 * MINUTE, False),  # told already
        (HOURLY, 3, None, True),
        (HOURLY, 1, None, False),  # not seen by everybody yet
        (HOURLY, 10 * MINUTE, 59 * MINUTE, True),
        (HOURLY, 2 * HOUR, 59 * MINUTE, False),  # nothing new
        (DAILY, 5 * HOUR, None, True),
        (DAILY, 3 * HOUR, None, False),  # it came after eight
        (DAILY, 3 * HOUR, DAY, False),
        (DAILY, 2 * DAY, DAY, True),  # nothing new, and it still waits
        (DAILY, 5 * HOUR, 3 * HOUR, False),  # told this morning
    ],
    rollback=True,
)
def test_a_notice_is_due_by_clock_and_by_what_is_new(
    project: Project, notice: Notice, opened: int, sent: int | None, expected: bool
) -> None:
    sent_at = None if sent is None else NOON - timedelta(seconds=sent)
    preference = make_reader(project, notice, sent_at=sent_at)
    waiting(project, seconds=opened)

    assert is_due(preference) is expected


def test_an_hourly_notice_waits_for_the_full_hour(project: Project) -> None:
    preference = make_reader(project, HOURLY, sent_at=NOON + timedelta(seconds=3))
    make_review(project, created_at=NOON + timedelta(minutes=20))

    assert not is_due(preference, NOON + timedelta(minutes=59))
    assert is_due(preference, NOON + timedelta(minutes=60, seconds=2))


def test_a_morning_is_the_project_s_own() -> None:
    project = make_project()
    Project.objects.filter(pk=project.pk).update(time_zone="America/Los_Angeles")
    preference = make_reader(project, DAILY, sent_at=NOON - timedelta(days=1))
    waiting(project, seconds=HOUR)

    assert not is_due(preference, NOON + timedelta(hours=3, minutes=59))
    assert is_due(preference, NOON + timedelta(hours=4, seconds=2))


@pytest.mark.parametrize(
    ("urgency", "opened", "expected"),
    [(60, 11, True), (59, 11, False), (59, HOUR + 11, True), (59, HOUR, False)],
)
def test_what_waits_is_told_once_it_is_as_urgent_as_asked(
    project: Project, urgency: int, opened: int, expected: bool
) -> None:
    asked = timedelta(seconds=6 * MINUTE)
    preference = make_reader(project, AT_ONCE, min_urgency=60, sent_at=NOON - asked)
    waiting(project, seconds=opened, urgency=urgency)

    assert is_due(preference) is expected


@pytest.mark.parametrize(
    "columns",
    [
        {"state": ReviewState.HELD},
        {"state": ReviewState.DECIDED},
        {"state": ReviewState.EXPIRED},
        {"state": ReviewState.WITHDRAWN},
    ],
)
def test_only_what_waits_is_told(project: Project, columns: dict[str, str]) -> None:
    preference = make_reader(project, AT_ONCE)
    waiting(project, seconds=HOUR, **columns)

    assert not is_due(preference)


def test_what_is_for_somebody_else_or_was_decided_by_oneself_is_not_told(project: Project) -> None:
    mine, theirs = make_reader(project, HOURLY), make_reader(project, HOURLY)
    waiting(project, seconds=DAY, assigned_to=theirs.member.user)
    half = waiting(project, seconds=DAY, reviewers=2, assigned_to=None)
    decide(half, mine.member.user, Outcome.PASS, at=NOON)

    assert not is_due(mine)
    assert is_due(theirs)


@pytest.mark.parametrize(
    "changed",
    [
        lambda member: Member.objects.filter(pk=member.pk).update(role=Role.AGENT),
        lambda member: Member.objects.filter(pk=member.pk).update(role=Role.VIEWER),
        lambda member: User.objects.filter(pk=member.user_id).update(is_active=False),
        lambda member: User.objects.filter(pk=member.user_id).update(email=""),
        lambda member: member.delete(),
    ],
    ids=["agent", "viewer", "may not sign in", "no address", "removed"],
)
def test_who_may_not_review_or_cannot_be_reached_is_never_told(
    project: Project, changed: object
) -> None:
    preference = make_reader(project, DAILY)
    waiting(project, seconds=DAY)
    assert is_due(preference)

    changed(preference.member)  # type: ignore[operator]

    assert due(NOON) == []


def test_another_project_s_reviews_are_nobody_s_business(project: Project) -> None:
    preference = make_reader(project, DAILY)
    waiting(make_project(), seconds=DAY)

    assert not is_due(preference)


def test_what_is_due_is_what_is_told(project: Project) -> None:
    sent_at = NOON - timedelta(minutes=59, seconds=57)
    preference = make_reader(project, HOURLY, min_urgency=40, sent_at=sent_at)
    for urgency in (10, 30, 39, 40, 90):
        for seconds in (1, 3, 20 * MINUTE, 2 * HOUR, 10 * HOUR):
            waiting(project, seconds=seconds, urgency=urgency)

    told = telling.told(preference, now=NOON)
    seen = timedelta(seconds=2)
    ripe = [
        max(one.created_at, one.rank_at + 40 * timedelta(hours=1)) for one in Review.objects.all()
    ]

    assert is_due(preference)
    assert told.new == sum(sent_at - seen < at <= NOON - seen for at in ripe) > 0
    assert told.waiting == sum(at <= NOON - seen for at in ripe) > told.new


def test_a_thousand_members_are_three_queries(project: Project) -> None:
    password = make_password(None)
    people = User.objects.bulk_create(
        User(username=f"reader-{n}", email=f"reader-{n}@example.org", password=password)
        for n in range(1000)
    )
    members = Member.objects.bulk_create(
        Member(project=project, user=user, role=Role.REVIEWER) for user in people
    )
    choices = (AT_ONCE, HOURLY, DAILY)
    NoticePreference.objects.bulk_create(
        NoticePreference(member=member, notice=choices[n % 3]) for n, member in enumerate(members)
    )
    make_review(project, created_at=timezone.now() - timedelta(days=2))

    with CaptureQueriesContext(
        connection,
    ) as asked:
        found = due(timezone.now())

    assert len(found) == 1000
    assert len(asked) == 4


@pytest.mark.parametrize("notice", [AT_ONCE, HOURLY])
def test_who_is_to_settle_a_disagreement_is_told_once_of_what_waited_before(
    project: Project, notice: Notice
) -> None:
    sent_at = NOON - timedelta(minutes=61)
    third = make_reader(project, notice, sent_at=sent_at)
    first, second = (make_reader(project, notice, sent_at=sent_at) for _ in range(2))
    review = waiting(project, seconds=3 * HOUR)
    assert due(NOON) == []

    for preference, outcome in ((first, Outcome.PASS), (second, Outcome.FAIL)):
        decide(review, preference.member.user, outcome, at=NOON - timedelta(minutes=2), round=1)
    Review.objects.update(round=2, is_adjudication=True)

    assert [one.preference for one in due(NOON)] == [third.pk]
    assert telling.told(third, now=NOON).new == 1
    third.sent_at = NOON
    third.save()
    assert due(NOON + timedelta(hours=2)) == []
