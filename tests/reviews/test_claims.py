from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from loomverify.accounts.access import Access, Actor, person
from loomverify.accounts.models import ApiKey, AuditEntry, Project, Role, User
from loomverify.accounts.services import create_api_key
from loomverify.errors import InputError
from tests.builders import make_project, make_user
from tests.reviewing import make_review
from tests.tables import check_rows
from verification.engine.outcome import Outcome
from verification.engine.reviewing import WAITING_PER_POINT
from verification.reviews.models import Decision, Skip
from verification.reviews.queue import claims
from verification.reviews.queue.claims import LEASE
from verification.reviews.queue.selectors import QueueFilters
from verification.runs import flags
from verification.runs.models import Event, OutboxEvent, Review, ReviewState

pytestmark = pytest.mark.django_db
SOON = timedelta(minutes=1)


@pytest.fixture
def mira(project: Project) -> Access:
    return reviewer_of(project, "mira")


@pytest.fixture
def jonas(project: Project) -> Access:
    return reviewer_of(project, "jonas")


def reviewer_of(project: Project, name: str = "") -> Access:
    return Access(project, Role.REVIEWER, person(make_user(project, Role.REVIEWER, name)))


def key_of(project: Project) -> Access:
    actor = person(make_user(project, Role.ADMIN))
    key, _ = create_api_key(project=project, name="nightly", role=Role.REVIEWER, actor=actor)
    return Access(project, Role.REVIEWER, Actor(key.name, api_key=key))


def user_of(access: Access) -> User:
    assert access.actor.user is not None
    return access.actor.user


def run_out(review: Review) -> None:
    Review.objects.filter(pk=review.pk).update(lease_until=timezone.now())


def decide(review: Review, access: Access, **columns: Any) -> Decision:
    return Decision.objects.create(
        **{
            "project": review.project,
            "review": review,
            "evaluation": review.evaluation,
            "reviewer": access.actor.user,
            "api_key": access.actor.api_key,
            "outcome": Outcome.FAIL,
            "round": review.round,
            "created_at": timezone.now(),
            **columns,
        }
    )


def taken_in_turn(access: Access) -> Iterator[Review]:
    """What a reviewer is given who gives nothing back."""
    held: list[Review] = []
    while taken := claims.claim_next(access=access, without=[one.uuid for one in held]):
        held.append(taken)
        yield taken


def test_the_most_urgent_comes_first_and_of_two_the_older(project: Project, mira: Access) -> None:
    now = timezone.now()
    low = make_review(project, urgency=20, created_at=now)
    younger = make_review(project, urgency=60, created_at=now)
    older = make_review(project, urgency=60, created_at=now - timedelta(hours=1))

    assert list(taken_in_turn(mira)) == [older, younger, low]


def test_who_waited_long_overtakes_what_came_just_now_and_is_more_urgent(
    project: Project, mira: Access
) -> None:
    now = timezone.now()
    make_review(project, urgency=60, created_at=now)
    patient = make_review(project, urgency=20, created_at=now - 41 * WAITING_PER_POINT)

    assert claims.claim_next(access=mira) == patient


def test_nobody_gets_what_another_holds(project: Project, mira: Access, jonas: Access) -> None:
    first, second = make_review(project, urgency=60), make_review(project, urgency=50)

    assert claims.claim_next(access=mira) == first
    assert claims.claim_next(access=jonas) == second
    assert claims.claim_next(access=key_of(project)) is None


def test_what_one_holds_comes_back_first_and_longer(project: Project, mira: Access) -> None:
    mine = make_review(project, urgency=10)
    claims.claim(access=mira, review=mine.uuid)
    Review.objects.filter(pk=mine.pk).update(lease_until=timezone.now() + SOON)
    make_review(project, urgency=90)

    taken = claims.claim_next(access=mira)

    assert taken == mine
    assert taken.lease_until is not None
    assert taken.lease_until > timezone.now() + LEASE - SOON


def test_what_is_assigned_to_oneself_comes_before_what_is_more_urgent(
    project: Project, mira: Access, jonas: Access
) -> None:
    mine = make_review(project, urgency=10, assigned_to=user_of(mira))
    urgent = make_review(project, urgency=90)
    make_review(project, urgency=95, assigned_to=user_of(jonas))

    assert list(taken_in_turn(mira)) == [mine, urgent]


def test_a_key_is_given_nothing_that_is_assigned(project: Project, mira: Access) -> None:
    make_review(project, assigned_to=user_of(mira))
    anybodys = make_review(project)

    assert list(taken_in_turn(key_of(project))) == [anybodys]


def test_what_was_skipped_comes_last_and_the_last_skipped_after_it(
    project: Project, mira: Access, jonas: Access
) -> None:
    first, second, third = (make_review(project, urgency=urgency) for urgency in (60, 50, 40))
    claims.skip(access=mira, review=first.uuid)
    claims.skip(access=mira, review=second.uuid)
    claims.skip(access=mira, review=first.uuid)

    assert list(taken_in_turn(mira)) == [third, second, first]
    assert claims.claim_next(access=jonas, without=[]) is None
    assert Skip.objects.count() == 2


def test_a_skip_gives_it_back_to_the_others(project: Project, mira: Access, jonas: Access) -> None:
    review = make_review(project)
    claims.claim_next(access=mira)

    claims.skip(access=mira, review=review.uuid)

    assert claims.claim_next(access=jonas) == review


def test_a_skip_of_what_somebody_else_holds_leaves_it_with_them(
    project: Project, mira: Access, jonas: Access
) -> None:
    review = make_review(project)
    claims.claim_next(access=jonas)

    claims.skip(access=mira, review=review.uuid)

    review.refresh_from_db()
    assert review.claimed_by == user_of(jonas)


@pytest.mark.parametrize(
    ("columns", "is_offered"),
    [
        ({}, False),
        ({"outcome": "", "first_outcome": Outcome.PASS}, True),  # seen blind, not yet confirmed
        ({"undone_at": datetime.fromisoformat("2026-01-01T00:00:00+00:00")}, True),
        ({"round": 1}, True),  # of an earlier round
    ],
    ids=["decided", "half decided blind", "undone", "earlier round"],
)
def test_what_one_has_decided_in_this_round_is_not_offered_again(
    project: Project, mira: Access, jonas: Access, columns: dict[str, Any], is_offered: bool
) -> None:
    review = make_review(project, reviewers=2, round=2)
    decide(review, mira, **columns)

    assert (claims.claim_next(access=mira) == review) is is_offered
    Review.objects.update(claimed_by=None, lease_until=None)
    assert claims.claim_next(access=jonas) == review


def test_where_two_disagreed_neither_is_asked_again(
    project: Project, mira: Access, jonas: Access
) -> None:
    review = make_review(project, round=2, is_adjudication=True)
    decide(review, mira, round=1)
    decide(review, jonas, round=1, outcome=Outcome.PASS)

    assert claims.claim_next(access=mira) is None
    assert refused(mira, review) == "review.decided_by_you"
    assert claims.claim_next(access=reviewer_of(project)) == review


@pytest.mark.parametrize("state", [state for state in ReviewState if state != "pending"])
def test_what_does_not_wait_is_not_offered_and_cannot_be_taken(
    project: Project, mira: Access, state: ReviewState
) -> None:
    review = make_review(project, state=state)

    assert claims.claim_next(access=mira) is None
    assert refused(mira, review) == "review.over"


def test_what_has_expired_and_is_not_closed_yet_cannot_be_taken_but_kept(
    project: Project, mira: Access, jonas: Access
) -> None:
    review = make_review(project)
    claims.claim(access=mira, review=review.uuid)
    Review.objects.update(expires_at=timezone.now())

    assert claims.claim_next(access=jonas) is None
    assert claims.claim(access=mira, review=review.uuid) == review
    claims.release(access=mira, review=review.uuid)
    assert refused(jonas, review) == "review.over"


def refused(access: Access, review: Review) -> str:
    with pytest.raises(InputError) as refusal:
        claims.claim(access=access, review=review.uuid)
    return refusal.value.code


def test_what_another_holds_is_refused_with_the_time_it_ends(
    project: Project, mira: Access, jonas: Access
) -> None:
    review = claims.claim(access=mira, review=make_review(project).uuid)
    assert review.lease_until is not None

    until = re.escape(review.lease_until.isoformat(timespec="seconds"))
    with pytest.raises(InputError, match=until):
        claims.claim(access=jonas, review=review.uuid)


def test_another_project_has_no_such_review(project: Project) -> None:
    stranger = reviewer_of(make_project())
    review = make_review(project)

    for act in (claims.claim, claims.release, claims.skip, claims.take_in):
        with pytest.raises(InputError) as refusal:
            act(access=stranger, review=review.uuid)
        assert (refusal.value.code, refusal.value.status) == ("review.unknown", 404)
    assert claims.claim_next(access=stranger) is None
    assert refused_code_of_unknown(stranger) == "review.unknown"


def refused_code_of_unknown(access: Access) -> str:
    with pytest.raises(InputError) as refusal:
        claims.claim(access=access, review=uuid4())
    return refusal.value.code


def test_a_lease_that_ran_out_is_free_for_all(
    project: Project, mira: Access, jonas: Access
) -> None:
    review = claims.claim(access=mira, review=make_review(project).uuid)
    run_out(review)

    assert claims.claim_next(access=jonas) == review
    assert refused(mira, review) == "review.held"


def test_a_lease_that_ran_out_and_nobody_took_is_had_again(project: Project, mira: Access) -> None:
    review = claims.claim(access=mira, review=make_review(project).uuid)
    run_out(review)

    assert claims.claim(access=mira, review=review.uuid).claimed_by == user_of(mira)


def test_a_claim_is_given_back_once_and_only_by_who_has_it(
    project: Project, mira: Access, jonas: Access
) -> None:
    review = claims.claim(access=mira, review=make_review(project).uuid)

    given = [claims.release(access=who, review=review.uuid) for who in (jonas, mira, mira)]

    review.refresh_from_db()
    assert given == [False, True, False]
    assert (review.claimed_by, review.lease_until) == (None, None)


@check_rows(
    ("filters", "found"),
    [
        (QueueFilters(process="small-work"), True),
        (QueueFilters(process="other"), False),
        (QueueFilters(phase="write"), False),
        (QueueFilters(reason="vote_divergence"), True),
        (QueueFilters(reason="low_confidence"), False),
        (QueueFilters(rule="no-placeholders"), True),
        (QueueFilters(fingerprint="f1"), True),
        (QueueFilters(verdict="undecided"), True),
        (QueueFilters(verdict="reject"), False),
        (QueueFilters(sample="only"), False),
        (QueueFilters(sample="without"), True),
        (QueueFilters(assigned="nobody"), True),
        (QueueFilters(assigned="me"), False),
        (QueueFilters(state="decided"), True),  # what is taken always waits
    ],
    ids=str,
    rollback=True,
)
def test_the_next_one_passes_the_filters(
    project: Project, mira: Access, filters: QueueFilters, found: bool
) -> None:
    make_review(project, rule="no-placeholders", fingerprint="f1")

    assert (claims.claim_next(access=mira, filters=filters) is not None) is found


@pytest.mark.parametrize(
    "filters",
    [
        QueueFilters(rule="no-placeholders"),
        QueueFilters(fingerprint="f1"),
        QueueFilters(verdict="undecided"),
        QueueFilters(reason="rule_violated"),
    ],
    ids=str,
)
def test_a_filter_does_not_tell_the_verdict_of_what_is_decided_blind(
    project: Project, mira: Access, filters: QueueFilters
) -> None:
    review = make_review(
        project, is_blind=True, rule="no-placeholders", fingerprint="f1", reasons=["rule_violated"]
    )

    assert claims.claim_next(access=mira, filters=filters) is None
    assert claims.claim_next(access=mira) == review


def test_a_review_is_assigned_and_anybodys_again(
    project: Project, mira: Access, jonas: Access
) -> None:
    review = make_review(project)

    claims.assign(access=mira, review=review.uuid, to=user_of(jonas))
    assert claims.claim_next(access=mira) is None
    claims.assign(access=mira, review=review.uuid, to=None)
    assert claims.claim_next(access=mira) == review

    told = AuditEntry.objects.filter(verb="review.assigned").order_by("id")
    assert [entry.diff["assigned_to"] for entry in told] == [["", "jonas"], ["jonas", ""]]


def test_assigning_to_whom_it_is_assigned_already_is_not_told_twice(
    project: Project, mira: Access, jonas: Access
) -> None:
    review = make_review(project)

    for _ in range(2):
        claims.assign(access=mira, review=review.uuid, to=user_of(jonas))

    assert AuditEntry.objects.filter(verb="review.assigned").count() == 1


def test_what_somebody_holds_stays_theirs_when_it_is_assigned(
    project: Project, mira: Access, jonas: Access
) -> None:
    review = claims.claim(access=mira, review=make_review(project).uuid)

    claims.assign(access=mira, review=review.uuid, to=user_of(jonas))

    assert refused(jonas, review) == "review.held"
    run_out(review)
    assert claims.claim_next(access=jonas) == review


@pytest.mark.parametrize("role", [Role.VIEWER, Role.AGENT, None])
def test_only_reviewers_of_the_project_are_assigned_to(
    project: Project, mira: Access, role: Role | None
) -> None:
    other = make_user(project, role) if role else make_user(make_project(), Role.REVIEWER)

    with pytest.raises(InputError, match="Only a reviewer of this project"):
        claims.assign(access=mira, review=make_review(project).uuid, to=other)


def test_what_is_over_is_assigned_to_nobody(project: Project, mira: Access) -> None:
    review = make_review(project, state=ReviewState.EXPIRED)

    with pytest.raises(InputError) as refusal:
        claims.assign(access=mira, review=review.uuid, to=user_of(mira))

    assert refusal.value.code == "review.over"


def test_what_was_held_back_is_taken_in_as_if_it_were_opened_now(
    project: Project, mira: Access
) -> None:
    opened = timezone.now() - timedelta(days=1)
    held = make_review(
        project,
        state=ReviewState.HELD,
        created_at=opened,
        expires_at=opened + timedelta(days=2),
        urgency=30,
    )
    younger = make_review(project, urgency=30, created_at=timezone.now() - timedelta(minutes=1))

    claims.take_in(access=mira, review=held.uuid)

    held.refresh_from_db()
    assert list(taken_in_turn(mira)) == [younger, held]
    assert held.expires_at == held.created_at + timedelta(days=2)
    assert held.run.review_state == "pending"
    assert Event.objects.filter(run=held.run, kind="review_requested").count() == 1
    told = OutboxEvent.objects.get(topic="review.requested")
    assert (told.payload["run"], told.payload["passed"]) == (str(held.run.uuid), None)
    assert AuditEntry.objects.filter(verb="review.taken_in").count() == 1


def test_taking_in_twice_is_told_once(project: Project, mira: Access) -> None:
    held = make_review(project, state=ReviewState.HELD)
    claims.take_in(access=mira, review=held.uuid)

    with pytest.raises(InputError) as refusal:
        claims.take_in(access=mira, review=held.uuid)

    assert refusal.value.code == "review.over"
    assert OutboxEvent.objects.count() == 1


def test_a_run_that_is_verified_and_settles_itself_frees_who_held_its_review(
    project: Project, mira: Access
) -> None:
    review = claims.claim(access=mira, review=make_review(project).uuid)

    flags.withdraw(review.run_id)

    assert refused(mira, review) == "review.over"
    assert claims.release(access=mira, review=review.uuid) is False


def test_a_revoked_key_keeps_nothing_beyond_its_lease(project: Project, mira: Access) -> None:
    holder = key_of(project)
    review = claims.claim(access=holder, review=make_review(project).uuid)
    ApiKey.objects.all().delete()

    assert refused(mira, review) == "review.held"
    run_out(review)
    assert claims.claim_next(access=mira) == review


def test_what_was_renewed_meanwhile_is_not_given_back_by_a_page_that_left(
    mira: Access, project: Project
) -> None:
    review = make_review(project)
    left = claims.claim(access=mira, review=review.uuid).lease_until
    renewed = claims.claim(access=mira, review=review.uuid).lease_until

    given = [claims.release(access=mira, review=review.uuid, until=one) for one in (left, renewed)]

    assert given == [False, True]
