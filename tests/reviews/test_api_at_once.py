from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.db import close_old_connections, connection

from loomverify.accounts.models import Project, Role
from tests.builders import make_project
from tests.reviewing import make_review
from tests.runs.conftest import Caller
from verification.reviews.models import Decision
from verification.runs.models import Event, OutboxEvent, Review

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 3
PASS, FAIL = {"outcome": "pass"}, {"outcome": "fail"}
SAID = (PASS, FAIL, PASS, FAIL)


@pytest.fixture
def project() -> Project:
    return make_project("ours")


@pytest.fixture
def keys(project: Project) -> list[Caller]:
    return [Caller(project, Role.REVIEWER) for _ in range(4)]


def at_once(*requests: Callable[[], Any]) -> list[Any]:
    """All of them at the same moment; the answers in their order."""
    gate = threading.Barrier(len(requests))

    def ask(request: Callable[[], Any]) -> Any:
        close_old_connections()
        gate.wait()
        try:
            return request()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(requests)) as pool:
        return list(pool.map(ask, requests))


def told(review: Review) -> tuple[int, int]:
    """How often a decision was told: in the run's history, and to the outside."""
    events = Event.objects.filter(run=review.run, kind="review_decided")
    return events.count(), OutboxEvent.objects.filter(topic="run.decided", run=review.run).count()


def test_of_two_keys_that_claim_one_gets_it(project: Project, keys: list[Caller]) -> None:
    for _ in range(ROUNDS):
        review = make_review(project)

        answers = at_once(*(partial(key.post, f"/reviews/{review.uuid}/claim") for key in keys))

        assert Counter(answer.status_code for answer in answers) == {200: 1, 409: 3}
        Review.objects.all().delete()


def test_what_is_next_is_handed_out_once(project: Project, keys: list[Caller]) -> None:
    for _ in range(ROUNDS):
        for _ in range(3):
            make_review(project)

        answers = at_once(*(partial(key.post, "/reviews/claim") for key in keys))

        assert Counter(answer.status_code for answer in answers) == {200: 3, 204: 1}
        assert len({answer.json()["id"] for answer in answers if answer.status_code == 200}) == 3
        Review.objects.all().delete()


def test_of_keys_that_decide_at_once_one_does(project: Project, keys: list[Caller]) -> None:
    for _ in range(ROUNDS):
        review = make_review(project)
        path = f"/reviews/{review.uuid}/decide"

        answers = at_once(
            *(partial(key.post, path, said) for key, said in zip(keys, SAID, strict=True))
        )

        assert Counter(answer.status_code for answer in answers) == {200: 1, 409: 3}
        assert Decision.objects.filter(review=review).count() == 1
        assert told(review) == (1, 1)


def test_a_request_that_arrives_twice_at_once_is_one_decision(
    project: Project, keys: list[Caller]
) -> None:
    for _ in range(ROUNDS):
        review = make_review(project)

        answers = at_once(
            *(partial(keys[0].post, f"/reviews/{review.uuid}/decide", PASS) for _ in range(4))
        )

        assert {answer.status_code for answer in answers} == {200}
        assert len({answer.json()["decision"]["id"] for answer in answers}) == 1
        assert told(review) == (1, 1)


def test_a_blind_answer_that_arrives_twice_at_once_does_not_confirm_itself(
    project: Project, keys: list[Caller]
) -> None:
    for _ in range(ROUNDS):
        review = make_review(project, is_blind=True)
        body = {**PASS, "is_first": True}

        at_once(*(partial(keys[0].post, f"/reviews/{review.uuid}/decide", body) for _ in range(4)))

        decision = Decision.objects.get(review=review)
        assert (decision.first_outcome, decision.outcome) == ("pass", "")
        assert told(review) == (0, 0)


def test_two_reviewers_who_decide_at_the_same_moment_both_count(
    project: Project, keys: list[Caller]
) -> None:
    for _ in range(ROUNDS):
        review = make_review(project, reviewers=2)

        answers = at_once(
            partial(keys[0].post, f"/reviews/{review.uuid}/decide", PASS),
            partial(keys[1].post, f"/reviews/{review.uuid}/decide", PASS),
        )

        assert [answer.status_code for answer in answers] == [200, 200]
        assert told(review) == (1, 1)
        review.refresh_from_db()
        assert (review.state, review.outcome) == ("decided", "pass")


def test_decided_together_by_two_at_once_each_is_decided_once(
    project: Project, keys: list[Caller]
) -> None:
    reviews = [make_review(project) for _ in range(12)]
    ids = [str(review.uuid) for review in reviews]

    answers = at_once(
        partial(keys[0].post, "/reviews/decide", {"reviews": ids, **PASS}),
        partial(keys[1].post, "/reviews/decide", {"reviews": ids[::-1], **PASS}),
    )

    decided = [name for answer in answers for name in answer.json()["decided"]]
    refused = [code for answer in answers for code in answer.json()["refused"].values()]
    assert sorted(decided) == sorted(ids)
    assert Counter(refused) == {"review.over": 12}
    assert {told(review) for review in reviews} == {(1, 1)}
