"""What happens when two do something to the same review at the same moment."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from loomverify.accounts.access import Access
from loomverify.accounts.models import Project
from loomverify.errors import InputError
from tests.reviewing import make_review
from tests.reviews.people import FAIL, PASS, fresh, in_time, key_of, kinds, reviewer_of, says, told
from tests.stack import wait_for
from verification.reviews import deciding, rounds, settling
from verification.reviews.deciding import Said
from verification.reviews.models import Decision
from verification.reviews.queue import claims
from verification.runs import flags, retention
from verification.runs.models import Review, ReviewState, Run, Task

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 4


@pytest.fixture
def people(project: Project) -> list[Access]:
    return [reviewer_of(project, name) for name in ("anna", "bert", "cleo")]


def apart(act: Callable[[], Any]) -> Any:
    """Do it on a connection of its own; the answer, or the refusal's code."""
    try:
        return act()
    except InputError as refusal:
        return refusal.code
    finally:
        connection.close()


def at_once(*acts: Callable[[], Any]) -> list[Any]:
    gate = threading.Barrier(len(acts))

    def act(one: Callable[[], Any]) -> Any:
        gate.wait()
        return apart(one)

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(act, acts))


def word(access: Access, review: Review, **said: Any) -> Callable[[], Any]:
    return lambda: bool(says(access, review, **said))


def settle() -> int:
    return settling.settle_due(now=in_time())


def is_anybody_waiting_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("select pg_stat_clear_snapshot()")  # a transaction sees one moment only
        cursor.execute(
            "select exists (select from pg_stat_activity where wait_event_type = 'Lock'"
            " and datname = current_database())"
        )
        return bool(cursor.fetchone()[0])


def test_of_two_who_decide_at_once_one_does(project: Project, people: list[Access]) -> None:
    for _ in range(ROUNDS):
        review = make_review(project)

        said = at_once(*(word(who, review) for who in people))

        assert Counter(said) == {True: 1, "review.over": 2}
        assert Decision.objects.filter(review=review).count() == 1


def test_of_two_keys_that_decide_at_once_the_second_changes_its_mind_about_nothing(
    project: Project,
) -> None:
    review = make_review(project)
    key = key_of(project)
    decide = partial(deciding.decide, access=key, review=review.uuid, said=Said(PASS), at_once=True)

    first, second = at_once(decide, decide)

    assert first.pk == second.pk
    assert (len(told(review.run)), Decision.objects.count()) == (1, 1)


def test_a_button_pressed_twice_is_one_decision(project: Project, people: list[Access]) -> None:
    for _ in range(ROUNDS):
        review = make_review(project)

        said = at_once(*[word(people[0], review)] * 3)

        assert said == [True] * 3
        assert Decision.objects.filter(review=review).count() == 1


def test_of_three_who_decide_at_once_where_two_are_asked_two_do(
    project: Project, people: list[Access]
) -> None:
    for _ in range(ROUNDS):
        review = make_review(project, reviewers=2)

        said = at_once(*(word(who, review) for who in people))

        assert Counter(said) == {True: 2, "review.over": 1}
        assert fresh(review).state == ReviewState.DECIDED


def test_of_two_who_adjudicate_at_once_one_does(project: Project, people: list[Access]) -> None:
    review = make_review(project, is_adjudication=True, round=2)

    said = at_once(word(people[0], review, outcome=PASS), word(people[1], review, outcome=FAIL))

    assert Counter(said) == {True: 1, "review.over": 1}


def test_two_relays_tell_each_decision_once(project: Project, people: list[Access]) -> None:
    reviews = [make_review(project) for _ in range(12)]
    for review in reviews:
        says(people[0], review)

    counts = at_once(settle, settle, settle)
    settle()

    assert sum(counts) <= len(reviews)
    assert [len(told(review.run)) for review in reviews] == [1] * len(reviews)
    assert {kinds(review.run).count("review_decided") for review in reviews} == {1}


def test_two_relays_open_one_adjudication(project: Project, people: list[Access]) -> None:
    review = make_review(project, reviewers=2)
    says(people[0], review, PASS)
    says(people[1], review, FAIL)

    at_once(settle, settle)

    after = fresh(review)
    assert (after.state, after.round) == (ReviewState.PENDING, 2)
    assert kinds(review.run).count("reviewers_disagreed") == 1


def test_a_decision_is_undone_or_takes_effect_never_both(
    project: Project, people: list[Access]
) -> None:
    for _ in range(ROUNDS):
        review = make_review(project)
        says(people[0], review)

        undone, _ = at_once(partial(deciding.undo, access=people[0]), settle)
        settle()

        after = fresh(review)
        if undone.is_erased:
            assert (after.state, told(review.run)) == (ReviewState.PENDING, [])
        else:
            assert (after.run.review_state, len(told(review.run))) == ("decided", 1)
        Review.objects.all().delete()


def test_an_undo_that_comes_first_wins_though_the_relay_is_at_work(
    project: Project, people: list[Access]
) -> None:
    review = make_review(project)
    says(people[0], review)

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Task.objects.select_for_update().get(pk=review.run.task_id)
            undoing = pool.submit(apart, partial(deciding.undo, access=people[0]))
            wait_for(is_anybody_waiting_for_a_lock, "the undo")
            with ThreadPoolExecutor(1) as relay:
                assert relay.submit(apart, settle).result() == 0  # left for a later turn
        undone = undoing.result()
    assert settle() == 0

    assert undone.is_erased
    assert told(review.run) == []


def test_an_undo_that_comes_second_is_told_so(project: Project, people: list[Access]) -> None:
    review = make_review(project)
    says(people[0], review)

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            rows = rounds.lock(fresh(review))
            assert rows is not None
            settling.take_effect(rows, now=in_time())
            undoing = pool.submit(apart, partial(deciding.undo, access=people[0]))
            wait_for(is_anybody_waiting_for_a_lock, "the undo")
        undone = undoing.result()

    assert undone.is_erased is False
    assert (undone.review.run.final_outcome, len(told(review.run))) == ("pass", 1)


def test_of_two_who_undo_at_once_one_erases(project: Project, people: list[Access]) -> None:
    review = make_review(project)
    decision = says(people[0], review)
    undo = partial(deciding.undo, access=people[0], decision=decision.uuid)

    said = at_once(undo, undo)

    erased = [one for one in said if one != "decision.unknown" and one.is_erased]
    assert len(erased) == 1
    assert fresh(review).state == ReviewState.PENDING


def test_a_review_is_decided_or_expires_never_both(project: Project, people: list[Access]) -> None:
    for _ in range(ROUNDS):
        review = make_review(project)
        claims.claim(access=people[0], review=review.uuid)
        Review.objects.filter(pk=review.pk).update(expires_at=in_time(), lease_until=None)

        [said, _] = at_once(word(people[0], review), lambda: flags.expire(now=in_time()))
        settle()

        after = fresh(review)
        assert (said, after.state, after.run.review_state) in (
            (True, "decided", "decided"),
            ("review.over", "expired", "not_required"),
        )


def test_a_claim_that_is_taken_at_the_moment_of_the_decision_goes_to_one(
    project: Project, people: list[Access]
) -> None:
    for _ in range(ROUNDS):
        review = make_review(project)

        [said, taken] = at_once(
            word(people[0], review),
            lambda: bool(claims.claim_next(access=people[1])),
        )

        assert (said, taken) in ((True, False), ("review.held", True))
        Review.objects.all().delete()


def test_what_is_just_being_decided_is_left_for_a_later_purge(
    project: Project, people: list[Access]
) -> None:
    review, other = make_review(project), make_review(project)
    Run.objects.update(retain_until=timezone.now() - timedelta(days=1))

    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        Review.objects.select_for_update(no_key=True).get(pk=review.pk)  # as a decision begins
        assert pool.submit(apart, retention.purge_expired).result(timeout=120) == 1
        Run.objects.select_for_update(nowait=True).get(pk=review.run_id)  # as it goes on

    assert not Run.objects.filter(pk=other.run_id).exists()
    assert retention.purge_expired() == 1


def test_a_run_is_decided_or_purged_and_neither_waits_for_the_other(
    project: Project, people: list[Access]
) -> None:
    for _ in range(ROUNDS):
        reviews = [make_review(project) for _ in range(6)]
        Run.objects.update(retain_until=timezone.now() - timedelta(days=1))

        said = at_once(*(word(people[0], one) for one in reviews), retention.purge_expired)

        assert set(said[:-1]) <= {True, "review.over", "review.unknown"}
        Run.objects.all().delete()
