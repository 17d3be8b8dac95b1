from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from multiprocessing import get_context
from threading import Barrier
from uuid import UUID

import pytest
from django.db import connection
from django.utils import timezone

from loomverify.accounts.access import Access
from loomverify.accounts.models import Project
from loomverify.errors import InputError
from tests.reviewing import make_review
from tests.reviews.many import generate_reviews
from tests.reviews.test_claims import reviewer_of
from verification.engine.outcome import Outcome
from verification.reviews import deciding, settling
from verification.reviews.deciding import Said
from verification.reviews.models import Decision
from verification.reviews.queue import claims
from verification.runs import flags
from verification.runs.models import Review, ReviewState

pytestmark = pytest.mark.django_db(transaction=True)
REVIEWS = 500
REVIEWERS = 10
ROUNDS = 10


def at_once(*actions: Callable[[], object]) -> list[object]:
    """Do them in threads of their own that start together; a refusal is its code."""
    barrier = Barrier(len(actions))

    def act(action: Callable[[], object]) -> object:
        try:
            barrier.wait(timeout=150)
            return action()
        except InputError as refusal:
            return refusal.code
        finally:
            connection.close()

    with ThreadPoolExecutor(len(actions)) as pool:
        return list(pool.map(act, actions))


def close_connections() -> None:
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]


def work_through(access: Access) -> list[UUID]:
    """Decide what one is given until nothing is left; return what it was, in its order."""
    return list(_worked_through(access))


def _worked_through(access: Access) -> Iterator[UUID]:
    said = Said(outcome=Outcome.PASS, comment="Looked at.")
    while taken := claims.claim_next(access=access):
        deciding.decide(access=access, review=taken.uuid, said=said)
        yield taken.uuid


@pytest.mark.extended
def test_ten_reviewers_decide_five_hundred_none_twice_and_none_lost(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    generate_reviews(project, REVIEWS)
    people = [reviewer_of(project) for _ in range(REVIEWERS)]
    close_connections()  # none is shared by two processes
    began = time.perf_counter()

    with ProcessPoolExecutor(REVIEWERS, mp_context=get_context("fork")) as pool:
        worked = list(pool.map(work_through, people))

    took = time.perf_counter() - began
    handed_out = Counter(name for mine in worked for name in mine)
    assert len(handed_out) == REVIEWS
    assert set(handed_out.values()) == {1}
    assert Decision.objects.count() == REVIEWS
    assert Decision.objects.values("review").distinct().count() == REVIEWS
    assert set(Review.objects.values_list("state", flat=True)) == {ReviewState.DECIDED}
    shares = sorted(len(mine) for mine in worked)
    with capsys.disabled():
        print(  # noqa: T201
            f"\n{REVIEWS} reviews, {REVIEWERS} reviewers: {took:.1f} s, "
            f"{REVIEWS / took:.0f} a second, each {shares[0]} to {shares[-1]}"
        )


def test_what_one_left_lying_comes_to_others_after_the_lease_and_not_before(
    project: Project,
) -> None:
    reviews = [make_review(project) for _ in range(30)]
    gone, *others = (reviewer_of(project) for _ in range(4))
    left = {one.uuid for one in reviews[:5]}
    at_once(lambda: [claims.claim(access=gone, review=name) for name in left])  # its thread is gone

    before = at_once(*(partial(work_through, one) for one in others))
    Review.objects.filter(claimed_by=gone.actor.user).update(lease_until=timezone.now())
    after = at_once(*(partial(work_through, one) for one in others))

    assert {name for mine in before for name in mine} == {one.uuid for one in reviews} - left  # type: ignore[attr-defined]
    assert Counter(name for mine in after for name in mine) == dict.fromkeys(left, 1)  # type: ignore[attr-defined]


@pytest.mark.extended
def test_of_those_who_ask_at_once_each_gets_another(project: Project) -> None:
    people = [reviewer_of(project) for _ in range(6)]
    for _ in range(ROUNDS):
        Review.objects.all().delete()
        for _ in range(4):
            make_review(project)

        got = at_once(*(partial(claims.claim_next, access=one) for one in people))

        assert sum(one is None for one in got) == 2
        assert len(set(got)) == 5


@pytest.mark.extended
def test_of_those_who_open_the_same_one_at_once_one_gets_it(project: Project) -> None:
    people = [reviewer_of(project) for _ in range(4)]
    for _ in range(ROUNDS):
        review = make_review(project)

        said = at_once(*(partial(claims.claim, access=one, review=review.uuid) for one in people))

        review.refresh_from_db()
        assert Counter(map(str, said))["review.held"] == 3
        assert people[said.index(review)].actor.user == review.claimed_by


def test_one_person_in_two_tabs_holds_the_same_one(project: Project) -> None:
    mira = reviewer_of(project, "mira")
    for _ in range(ROUNDS):
        review = make_review(project)

        got = at_once(*[partial(claims.claim_next, access=mira)] * 2)

        assert review in got
        assert set(got) <= {review, None}
        review.delete()


@pytest.mark.extended
def test_a_lease_that_runs_out_is_renewed_or_taken_never_both(project: Project) -> None:
    mira, jonas = reviewer_of(project, "mira"), reviewer_of(project, "jonas")
    for _ in range(ROUNDS):
        review = claims.claim(access=mira, review=make_review(project).uuid)
        Review.objects.filter(pk=review.pk).update(lease_until=timezone.now())

        said = at_once(
            partial(claims.claim, access=mira, review=review.uuid),
            partial(claims.claim, access=jonas, review=review.uuid),
        )

        review.refresh_from_db()
        assert Counter(map(str, said))["review.held"] == 1
        assert (said[0] == review) == (review.claimed_by == mira.actor.user)


def test_a_claim_at_the_moment_of_expiry_holds_or_finds_it_over(project: Project) -> None:
    mira = reviewer_of(project, "mira")
    for _ in range(ROUNDS):
        review = make_review(project, expires_at=timezone.now() + timedelta(milliseconds=1))

        said, _ = at_once(
            partial(claims.claim, access=mira, review=review.uuid),
            lambda: flags.expire(now=timezone.now()),
        )

        review.refresh_from_db()
        if said == review:
            assert (review.state, review.claimed_by) == (ReviewState.PENDING, mira.actor.user)
        else:
            assert said == "review.over"


def test_two_who_take_in_the_same_one_take_it_in_once(project: Project) -> None:
    people = [reviewer_of(project) for _ in range(2)]
    for _ in range(ROUNDS):
        review = make_review(project, state=ReviewState.HELD)

        said = at_once(*(partial(claims.take_in, access=one, review=review.uuid) for one in people))

        assert Counter(map(str, said))["review.over"] == 1


@pytest.mark.extended
def test_deciding_a_group_and_one_of_it_at_once_decides_each_once(project: Project) -> None:
    mira, jonas = reviewer_of(project, "mira"), reviewer_of(project, "jonas")
    said = Said(outcome=Outcome.PASS)
    for _ in range(3):
        reviews = [make_review(project, fingerprint="f1").uuid for _ in range(6)]

        at_once(
            partial(deciding.decide_together, access=mira, reviews=reviews, said=said),
            partial(work_through, jonas),
        )

        decided = Counter(Decision.objects.values_list("review__uuid", flat=True))
        assert [decided[name] for name in reviews] == [1] * 6


def test_what_two_people_decide_is_given_to_two_and_not_to_a_third(project: Project) -> None:
    reviews = [make_review(project, reviewers=2) for _ in range(12)]
    people = [reviewer_of(project) for _ in range(4)]

    for _ in range(2):  # whose second seat came free when the others had gone home
        at_once(*(partial(work_through, one) for one in people))
    settling.settle_due(now=timezone.now() + timedelta(minutes=1))

    decided = Counter(Decision.objects.values_list("review", flat=True))
    assert decided == dict.fromkeys((one.pk for one in reviews), 2)
    assert set(Review.objects.values_list("state", flat=True)) == {ReviewState.DECIDED}
