"""Judged runs when two want the same one, and when somebody takes it away meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection
from django.db.models import F

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project
from tests.model_server import ModelServer, Said, model_server, together
from tests.runs.conftest import Caller
from tests.runs.judged import PASSING, calls_of, judged_by, submit, work_on
from verification.runs import services, worker
from verification.runs.models import Evaluation, ModelCall, OutboxEvent, Run
from verification.runs.side_by_side import side_by_side
from verification.verifiers.models import Spending

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _nobody_waits_long(settings: LazySettings) -> None:
    settings.JUDGE_FIRST_WAIT_SECONDS = 0.01


@pytest.fixture
def project(transactional_db: None, project: Project) -> Project:
    return project


@pytest.fixture
def server(project: Project) -> Iterator[ModelServer]:
    with model_server(PASSING) as server:
        judged_by(project, server)
        yield server


@pytest.mark.extended
def test_two_workers_ask_once(agent: Caller, server: ModelServer) -> None:
    server.script[:] = [Said(PASSING, seconds=0.5)]
    run = submit(agent)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: apart(lambda: worker.work_on(run.pk)), range(2)))

    run.refresh_from_db()
    assert (run.verdict, len(server.asked), len(calls_of(run))) == ("accept", 1, 1)
    assert Evaluation.objects.count() == 1
    assert OutboxEvent.objects.filter(topic="run.finished").count() == 1


@pytest.mark.extended
def test_a_run_cancelled_while_its_judge_is_asked_stays_cancelled_and_is_paid(
    agent: Caller, server: ModelServer
) -> None:
    run = submit(agent)
    server.script[:] = [
        meanwhile(lambda: services.cancel_run(run=run, actor=SYSTEM)),
        PASSING,
    ]

    work_on(run)

    assert (run.state, run.outcome, len(server.asked)) == ("cancelled", None, 1)
    [call] = calls_of(run)
    assert call.cost_usd == run.cost_usd == Decimal("0.003")
    spending = Spending.objects.get()
    assert (spending.spent_usd, spending.reserved_usd) == (Decimal("0.003"), Decimal(0))
    assert not OutboxEvent.objects.exists()


@pytest.mark.extended
def test_a_worker_that_lost_its_run_writes_no_end(agent: Caller, server: ModelServer) -> None:
    run = submit(agent)
    taken = Run.objects.filter(pk=run.pk)
    server.script[:] = [meanwhile(lambda: taken.update(fence=F("fence") + 1)), PASSING]

    work_on(run)

    assert (run.state, run.cost_usd) == ("running", Decimal("0.003"))
    assert Evaluation.objects.get().finished_at is None
    taken.update(state="queued", lease_until=None)
    work_on(run)
    assert (run.verdict, len(server.asked)) == ("accept", 1)


@pytest.mark.extended
def test_who_takes_over_hears_what_was_paid_for(agent: Caller, server: ModelServer) -> None:
    """The answer was written, its reading was not."""
    run = submit(agent)
    taken = Run.objects.filter(pk=run.pk)
    server.script[:] = [
        Said("try later", status=503),
        meanwhile(lambda: taken.update(fence=F("fence") + 1)),
        PASSING,
    ]
    work_on(run)
    unread = ModelCall.objects.get(lost="")
    assert unread.recovery == ""

    taken.update(state="queued", lease_until=None)
    work_on(run)

    unread.refresh_from_db()
    assert (run.verdict, len(server.asked), unread.recovery) == ("accept", 2, "strict_json")
    assert run.live_evaluation is not None
    assert run.live_evaluation.tiers.get(tier=2).calls == 2
    assert run.cost_usd == Decimal("0.003")


@pytest.mark.extended
def test_votes_are_written_by_one_thread(agent: Caller, server: ModelServer) -> None:
    server.script[:] = [PASSING, together(3, PASSING)]

    run = work_on(submit(agent, tier=3))

    assert (run.verdict, server.most_at_once) == ("accept", 3)
    assert [call.seq for call in calls_of(run) if call.tier == 3] == [1, 2, 3]


def test_steps_are_done_by_the_thread_that_asks() -> None:
    found = side_by_side(
        [lambda here: (here(threading.get_ident), threading.get_ident()) for _ in range(3)]
    )

    assert {done for done, _ in found} == {threading.get_ident()}
    assert len({asked for _, asked in found} - {threading.get_ident()}) == 3


def test_a_step_that_fails_fails_its_call_and_leaves_nobody_waiting() -> None:
    ended: list[int] = []

    def failing(here: Callable[[Any], Any]) -> None:
        here(lambda: 1 / 0)

    def calling(here: Callable[[Any], Any]) -> None:
        here(lambda: ended.append(1))

    with pytest.raises(ZeroDivisionError):
        side_by_side([failing, calling, calling])

    assert ended == [1, 1]


def meanwhile(step: Callable[[], Any]) -> Callable[[dict[str, Any]], Said]:
    """An answer before which something happens elsewhere."""

    def answer(_request: dict[str, Any]) -> Said:
        apart(step)
        return Said(PASSING)

    return answer


def apart(step: Callable[[], Any]) -> None:
    """Do something in a thread with a database connection of its own."""
    try:
        step()
    finally:
        connection.close()
