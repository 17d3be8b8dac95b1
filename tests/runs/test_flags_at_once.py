"""The day's cap, expiry and the ends of runs, all at the same moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import close_old_connections, connection
from django.utils import timezone

from loomverify.accounts.access import Access, Actor
from loomverify.accounts.models import Role
from loomverify.errors import InputError
from tests.builders import make_project, make_user
from tests.reviewing import make_review
from tests.runs.conftest import Caller, body_of, new_project
from tests.runs.test_flags import asked_process
from verification.engine.outcome import Outcome
from verification.reviews import deciding
from verification.reviews.deciding import Said
from verification.runs import flags, worker
from verification.runs.models import Event, OutboxEvent, Review, Run

pytestmark = pytest.mark.django_db(transaction=True)
WORKERS = 8


@pytest.fixture
def agent(transactional_db: None) -> Caller:
    return Caller(new_project("ours"), Role.AGENT)


def at_once(*actions: Callable[[], Any]) -> list[Any]:
    gate = threading.Barrier(len(actions))

    def act(action: Callable[[], Any]) -> Any:
        close_old_connections()
        gate.wait()
        try:
            return action()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(actions)) as pool:
        return [one.result() for one in [pool.submit(act, action) for action in actions]]


def submitted(agent: Caller, number: int, **fields: Any) -> list[int]:
    made = [agent.post("/runs", body_of(process="asked", **fields)).json() for _ in range(number)]
    return [Run.objects.get(uuid=one["id"]).pk for one in made]


def states() -> dict[str, int]:
    found = list(Review.objects.values_list("state", flat=True))
    return {state: found.count(state) for state in sorted(set(found))}


@pytest.mark.extended
def test_runs_that_end_at_the_same_moment_never_exceed_the_cap(agent: Caller) -> None:
    asked_process(agent.project, "{cap_per_day: 3}", tier=2)
    for _ in range(2):  # the second time the day is full already
        runs = submitted(agent, WORKERS)
        at_once(*(partial(worker.work_on, run) for run in runs))

    assert states() == {"held": 2 * WORKERS - 3, "pending": 3}
    assert Run.objects.filter(review_state="pending").count() == 3
    assert Event.objects.filter(kind="review_held_back").count() == 2 * WORKERS - 3
    assert OutboxEvent.objects.filter(topic="review.requested").count() == 3


@pytest.mark.extended
def test_chance_is_on_top_of_the_cap_also_under_load(agent: Caller) -> None:
    asked_process(
        agent.project, "{reasons: [undecided, rejected], sample_rate: 1, cap_per_day: 2}", tier=2
    )
    runs = [
        *submitted(agent, WORKERS // 2),
        *submitted(agent, WORKERS // 2, tier=1, return_code=1),
    ]

    at_once(*(partial(worker.work_on, run) for run in runs))

    drawn = Review.objects.filter(sample_rate__isnull=False)
    assert set(drawn.values_list("state", flat=True)) == {"pending"}
    assert drawn.count() == WORKERS // 2
    assert Review.objects.filter(sample_rate__isnull=True, state="pending").count() == 2


def test_two_relays_close_each_review_once(transactional_db: None) -> None:
    project, past = make_project(), timezone.now() - timedelta(seconds=1)
    for _ in range(5):
        make_review(project, expires_at=past)

    closed = at_once(*(partial(flags.expire, now=timezone.now()) for _ in range(4)))
    closed.append(flags.expire(now=timezone.now()))

    assert sum(closed) == 5
    assert Event.objects.filter(kind="review_expired").count() == 5
    assert Run.objects.filter(review_state="not_required").count() == 5


@pytest.mark.extended
@pytest.mark.parametrize("is_settled", [True, False], ids=["settles", "in-doubt"])
def test_what_is_decided_while_the_run_is_verified_again_is_kept_or_comes_too_late(
    agent: Caller, is_settled: bool
) -> None:
    asked_process(agent.project, tier=2)
    person = make_user(agent.project, Role.REVIEWER)
    access = Access(agent.project, Role.REVIEWER, Actor("reviewer", user=person))
    for _ in range(4):
        [pk] = submitted(agent, 1)
        worker.work_on(pk)
        run = Run.objects.get(pk=pk)
        Run.objects.filter(pk=pk).update(tier_requested=1 if is_settled else 2)
        agent.post(f"/runs/{run.uuid}/reverify")
        decide = partial(
            deciding.decide,
            access=access,
            review=run.review.uuid,
            said=Said(Outcome.PASS_WITH_WARNINGS),
            at_once=True,
        )

        at_once(partial(worker.work_on, pk), partial(refused, decide))

        run = Run.objects.select_related("review").get(pk=pk)
        found = (run.review.state, run.review_state, run.final_outcome)
        kept = ("decided", "decided", "pass_with_warnings")
        late = ("withdrawn", "not_required", "pass")
        assert found in ((kept, late) if is_settled else (kept,))
        assert run.state == "finished"


def refused(action: Callable[[], Any]) -> str:
    try:
        action()
    except InputError as refusal:
        return refusal.code
    return ""
