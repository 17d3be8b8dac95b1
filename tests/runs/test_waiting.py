from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any
from uuid import UUID

import httpx
import pytest
from django.db import OperationalError, connection

from loomverify.accounts.access import SYSTEM, Access
from loomverify.accounts.models import Role
from tests.runs.conftest import Caller, body_of
from tests.stack import Stack, running_stack, wait_for
from verification.runs import api
from verification.runs.waiting import MAX_WAITERS

WAITERS = 64
LISTENS = """
    select pid from pg_stat_activity
    where datname = current_database() and query ilike 'listen run_over%%'
"""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_stack(tmp_path_factory.mktemp("waiting"), "web", "worker", "relay") as stack:
        yield stack


@pytest.fixture
def idle_stack(stack: Stack) -> Iterator[Stack]:
    """Nobody works on runs until the test starts somebody."""
    stack.kill("worker")
    stack.kill("relay")
    yield stack
    for name in {"worker", "relay"} - set(stack.processes):
        stack.start(name)


def ended(client: httpx.Client, run: str) -> dict[str, Any]:
    """The run once it is over, though its worker takes longer to start than one wait lasts."""
    found: dict[str, Any] = {}

    def is_over() -> bool:
        found.update(client.get(f"/runs/{run}?wait=60").json())
        return found["state"] in ("finished", "cancelled")

    wait_for(is_over, f"the end of run {run}")
    return found


def at_once(count: int, act: Callable[[httpx.Client, int], Any], stack: Stack) -> list[Any]:
    """What `act` gave to so many clients that started together."""
    barrier = threading.Barrier(count)

    def one(number: int) -> Any:
        with stack.client() as client:
            barrier.wait()
            return act(client, number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def test_a_run_is_answered_when_it_is_over(stack: Stack) -> None:
    with stack.client() as client:
        answer = client.post("/runs?wait=60", json=body_of())

    assert answer.status_code == 200
    assert answer.json()["state"] == "finished"


def test_twenty_with_one_idempotency_key_make_one_run(stack: Stack) -> None:
    body = body_of()

    answers = at_once(
        20,
        lambda client, _: client.post("/runs", json=body, headers={"Idempotency-Key": "same"}),
        stack,
    )

    assert sorted(answer.status_code for answer in answers) == [200] * 19 + [202]
    assert len({answer.json()["id"] for answer in answers}) == 1


@pytest.mark.extended
def test_twenty_attempts_at_one_task_are_all_taken(stack: Stack) -> None:
    body = body_of()

    answers = at_once(20, lambda client, _: client.post("/runs", json=body), stack)

    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["id"] for answer in answers}) == 20


@pytest.mark.extended
def test_a_cancellation_and_a_worker_agree_on_one_end(stack: Stack) -> None:
    def submit_and_cancel(client: httpx.Client, _: int) -> tuple[bool, str]:
        run = client.post("/runs", json=body_of()).json()["id"]
        cancelled = client.post(f"/runs/{run}/cancel").json()["cancelled"]
        return cancelled, client.get(f"/runs/{run}?wait=60").json()["state"]

    ends = at_once(20, submit_and_cancel, stack)

    assert all((state == "cancelled") == cancelled for cancelled, state in ends)
    assert {state for _, state in ends} <= {"cancelled", "finished"}


@pytest.mark.extended
def test_many_who_wait_leave_room_for_others(idle_stack: Stack) -> None:
    posted = threading.Barrier(WAITERS + 1)

    def wait(number: int) -> str:
        with idle_stack.client() as client:
            run = client.post("/runs", json=body_of()).json()["id"]
            posted.wait()
            return str(ended(client, run)["state"])

    with ThreadPoolExecutor(WAITERS) as pool, idle_stack.client() as client:
        waiting = [pool.submit(wait, number) for number in range(WAITERS)]
        posted.wait()
        pages = [client.get("/runs") for _ in range(20)]
        idle_stack.start("worker", "relay")

    assert {page.status_code for page in pages} == {200}
    assert {future.result() for future in waiting} == {"finished"}


def test_a_wait_that_ends_early_says_so(idle_stack: Stack) -> None:
    with idle_stack.client() as client:
        first = client.post("/runs?wait=0.2", json=body_of())
        again = client.get(f"/runs/{first.json()['id']}?wait=0.2")

    assert (first.status_code, again.status_code) == (202, 200)
    assert again.json()["state"] == "queued"


@pytest.mark.extended
def test_a_lost_listener_is_replaced(idle_stack: Stack) -> None:
    with ThreadPoolExecutor(1) as pool, idle_stack.client() as client:
        run = client.post("/runs", json=body_of()).json()["id"]
        waiting = pool.submit(client.get, f"/runs/{run}?wait=60")
        wait_for(lambda: len(idle_stack.query(LISTENS)) == 1, "somebody who listens")
        [[lost]] = idle_stack.query(LISTENS)
        idle_stack.query("select pg_terminate_backend(%s)", lost)
        wait_for(lambda: len({*idle_stack.query(LISTENS)} - {(lost,)}) == 1, "a new listener")
        idle_stack.query("select pg_notify('run_over', 'nobody waits for this')")
        idle_stack.start("worker", "relay")

        answer = waiting.result(timeout=90)

    assert answer.json()["state"] == "finished"


@pytest.mark.extended
def test_who_hangs_up_leaves_the_place_to_others(idle_stack: Stack) -> None:
    with idle_stack.client() as client:
        run = client.post("/runs", json=body_of()).json()["id"]
        request = (
            f"GET /api/v1/runs/{run}?wait=60 HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {idle_stack.key}\r\n\r\n"
        )

        def may_wait() -> bool:
            return client.get(f"/runs/{run}?wait=0.5").elapsed.total_seconds() >= 0.5

        with ExitStack() as connections:

            def wait_too() -> None:
                address = ("127.0.0.1", idle_stack.port)
                connection = connections.enter_context(socket.create_connection(address))
                connection.sendall(request.encode())

            def is_full() -> bool:
                if may_wait():
                    wait_too()  # into the place that asking took from somebody
                    return False
                return True

            for _ in range(MAX_WAITERS):
                wait_too()
            wait_for(is_full, "as many as may wait")

        wait_for(may_wait, "a place")


def test_a_lost_database_is_no_news_of_a_run(
    agent: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = agent.post("/runs", body_of()).json()["id"]

    def lost(*_: Any) -> Any:
        raise OperationalError("terminating connection due to administrator command")

    monkeypatch.setattr(api, "close_old_connections", lambda: None)  # the test's own
    with connection.execute_wrapper(lost):
        is_over = api._is_over(Access(agent.project, Role.AGENT, SYSTEM), UUID(run))

    assert is_over is False
