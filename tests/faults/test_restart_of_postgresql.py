"""PostgreSQL restarts while people and agents are connected."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from loomverify.embedded import start_server, stop_server
from tests.runs.conftest import body_of
from tests.session import FAST
from tests.stack import Stack, running_stack, wait_for

pytestmark = pytest.mark.faults

THREADS = 64
REQUESTS = 300
LISTENERS = """
    select pid from pg_stat_activity
    where datname = current_database() and query ilike 'listen run_over%%'
"""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A web server. Tests start a worker and a relay themselves."""
    with running_stack(tmp_path_factory.mktemp("restart"), "web", own_server=True) as stack:
        yield stack


def restart_postgresql(stack: Stack) -> None:
    stop_server(stack.folder / "postgres")
    start_server(stack.folder / "postgres", extra_settings=FAST)


def test_a_full_pool_survives_a_restart_without_an_error(stack: Stack) -> None:
    with ThreadPoolExecutor(THREADS) as pool, stack.client() as client:
        busy = set(pool.map(lambda _: client.get("/runs").status_code, range(REQUESTS)))

    restart_postgresql(stack)
    with stack.client() as client:
        after = [client.get("/runs").status_code for _ in range(20)]

    assert busy == {200}
    assert set(after) == {200}


def test_an_agent_that_waits_for_its_run_survives_a_restart(stack: Stack) -> None:
    with ThreadPoolExecutor(1) as pool, stack.client() as client:
        run = client.post("/runs", json=body_of()).json()["id"]
        waiting = pool.submit(client.get, f"/runs/{run}?wait=60")
        wait_for(lambda: len(stack.query(LISTENERS)) == 1, "a listener")
        restart_postgresql(stack)
        stack.start("worker", "relay")

        answer = waiting.result(timeout=90)

    assert (answer.status_code, answer.json()["state"]) == (200, "finished")
