"""A person decides while the run is being verified again."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.db import connection

from loomverify.accounts.access import SYSTEM, Access
from loomverify.accounts.models import Project, Role
from tests.reviews.people import FAIL, PASS, fresh, in_time, reviewer_of, says, told
from tests.runs.conftest import Caller, new_project
from verification.engine.outcome import Outcome
from verification.reviews import deciding, settling
from verification.reviews.deciding import Said
from verification.runs import reverifying, services, worker
from verification.runs.models import Review, ReviewState, Run, Task

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 3


@pytest.fixture
def project(transactional_db: None, settings: Any, tmp_path: Any) -> Project:
    evidence = {**settings.STORAGES["evidence"], "OPTIONS": {"location": tmp_path / "evidence"}}
    settings.STORAGES = {**settings.STORAGES, "evidence": evidence}
    return new_project("ours")


@pytest.fixture
def anna(project: Project) -> Access:
    return reviewer_of(project, "anna")


def in_doubt_again(project: Project) -> Review:
    """A review of a run whose second verification only needs a worker."""
    caller = Caller(project, Role.AGENT)
    run = Run.objects.get(uuid=caller.submit(tier=2)["id"])
    reverifying.reverify_run(run=run, actor=SYSTEM)
    return Review.objects.get(run=run)


def settle() -> int:
    return settling.settle_due(now=in_time())


def both(*acts: Any) -> list[Any]:
    gate = threading.Barrier(len(acts))

    def act(one: Any) -> Any:
        gate.wait()
        try:
            return one()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return [future.result() for future in [pool.submit(act, one) for one in acts]]


@pytest.mark.extended
@pytest.mark.parametrize(("outcome", "history"), [(PASS, (0, "passed")), (FAIL, (1, "rejected"))])
def test_a_worker_that_ends_while_a_decision_takes_effect_leaves_the_persons_word(
    project: Project, anna: Access, outcome: Outcome, history: tuple[int, str]
) -> None:
    for _ in range(ROUNDS):
        review = in_doubt_again(project)
        says(anna, review, outcome)

        both(partial(worker.work_on, review.run_id), settle)
        settle()  # where the worker had the rows

        after = fresh(review)
        assert (after.state, after.run.state) == (ReviewState.DECIDED, "finished")
        assert (after.run.final_outcome, after.run.review_state) == (outcome, "decided")
        assert (after.run.verdict, len(told(after.run))) == ("undecided", 1)
        task = Task.objects.get(pk=after.run.task_id)
        assert (task.attempts_used, task.last_outcome) == history


@pytest.mark.extended
def test_a_worker_that_ends_while_somebody_decides_leaves_the_persons_word(
    project: Project, anna: Access
) -> None:
    for _ in range(ROUNDS):
        review = in_doubt_again(project)

        both(
            partial(worker.work_on, review.run_id),
            partial(
                deciding.decide, access=anna, review=review.uuid, said=Said(FAIL), at_once=True
            ),
        )

        after = fresh(review)
        assert (after.state, after.outcome) == (ReviewState.DECIDED, "fail")
        assert (after.run.final_outcome, after.run.review_state) == ("fail", "decided")
        assert after.run.task.attempts_used == 1


@pytest.mark.extended
def test_a_worker_that_ends_while_a_decision_is_undone_leaves_the_review_open(
    project: Project, anna: Access
) -> None:
    for _ in range(ROUNDS):
        review = in_doubt_again(project)
        says(anna, review, FAIL)

        both(partial(worker.work_on, review.run_id), partial(deciding.undo, access=anna))

        after = fresh(review)
        assert (after.state, after.run.review_state) == (ReviewState.PENDING, "pending")
        assert after.run.task.attempts_used == 0


@pytest.mark.extended
def test_nobody_is_asked_about_a_cancelled_run_though_its_decision_is_undone(
    project: Project, anna: Access
) -> None:
    review = in_doubt_again(project)
    says(anna, review)
    assert services.cancel_run(run=review.run, actor=SYSTEM)

    assert deciding.undo(access=anna).is_erased

    after = fresh(review)
    assert (after.state, after.claimed_by) == (ReviewState.WITHDRAWN, None)
    assert after.run.review_state == "not_required"


@pytest.mark.extended
def test_nobody_is_asked_about_a_cancelled_run_though_two_disagree(
    project: Project, anna: Access
) -> None:
    review = in_doubt_again(project)
    Review.objects.update(reviewers=2)
    says(anna, review, PASS)
    says(reviewer_of(project, "bert"), review, FAIL)
    assert services.cancel_run(run=review.run, actor=SYSTEM)

    settle()

    after = fresh(review)
    assert (after.state, after.round, after.outcome) == (ReviewState.WITHDRAWN, 1, "")
    assert (after.run.review_state, after.run.final_outcome) == ("not_required", "")
