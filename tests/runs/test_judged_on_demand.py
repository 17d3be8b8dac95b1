"""Runs that somebody has verified again, while they are in doubt or when they are over."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.conf import LazySettings
from django.utils import timezone

from loomverify.accounts.models import Project
from tests.model_server import ModelServer, model_server
from tests.runs.conftest import Caller
from tests.runs.judged import AWAY, PASSING, judged_by, make_due, pass_deadline, submit, work_on
from verification.runs import leases
from verification.runs.models import Evaluation, Review, Run


@pytest.fixture(autouse=True)
def _nobody_waits_long(settings: LazySettings) -> None:
    settings.JUDGE_FIRST_WAIT_SECONDS = 0.01


@pytest.fixture
def server(project: Project) -> Iterator[ModelServer]:
    """A judge that is away."""
    with model_server(AWAY) as server:
        judged_by(project, server)
        yield server


def test_asking_for_it_brings_the_next_turn_forward(agent: Caller, server: ModelServer) -> None:
    run = work_on(submit(agent))
    server.script[:] = [PASSING]

    answer = agent.post(f"/runs/{run.uuid}/reverify")
    work_on(run)

    assert answer.status_code == 202
    assert (run.verdict, run.evaluations.count()) == ("accept", 2)


def test_a_finished_doubt_is_verified_again_on_demand_and_waits_like_a_first(
    agent: Caller, server: ModelServer
) -> None:
    run = work_on(submit(agent))
    pass_deadline(run)
    work_on(run)

    agent.post(f"/runs/{run.uuid}/reverify")
    work_on(run)

    assert (run.state, run.verdict) == ("queued", "")
    assert run.undecided_since is not None
    assert timezone.now() - run.undecided_since < timedelta(minutes=1)
    assert Review.objects.get().state == "pending"


def test_the_pauses_of_a_doubt_that_was_asked_for_begin_anew(
    agent: Caller, server: ModelServer
) -> None:
    run = work_on(submit(agent))
    for _ in range(3):
        make_due(run)
        work_on(run)
    pass_deadline(run)
    work_on(run)

    agent.post(f"/runs/{run.uuid}/reverify")

    run = work_on(run)
    assert run.next_at is not None
    assert run.undecided_since is not None
    assert 12 <= (run.next_at - run.undecided_since).total_seconds() <= 18


def test_an_evaluation_that_was_given_up_is_not_taken_up_after_a_later_one(
    agent: Caller, server: ModelServer
) -> None:
    run = submit(agent)
    Run.objects.filter(pk=run.pk).update(claims=leases.MAX_CLAIMS)
    assert work_on(run).state == "errored"
    given_up = Evaluation.objects.get(run=run)
    agent.post(f"/runs/{run.uuid}/reverify")
    run = work_on(run)
    server.script[:] = [PASSING]
    make_due(run)

    run = work_on(run)

    assert (run.verdict, run.reverifications) == ("accept", 1)
    assert run.live_evaluation is not None
    assert (run.live_evaluation.purpose, run.live_evaluation.seq) == ("reverify", 2)
    given_up.refresh_from_db()
    assert given_up.finished_at is None
