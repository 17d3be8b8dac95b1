"""Pages while 64 agents wait for runs that do not end."""

from __future__ import annotations

import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from tests.benchmarks.latency import submission
from tests.stack import Stack

WAITERS = 64
REQUESTS = 60
TARGET = 1.5


def rows(stack: Stack) -> list[tuple[str, str, str, bool]]:
    alone = _page_seconds(stack)
    stack.kill("worker")
    stack.kill("relay")
    started = threading.Barrier(WAITERS + 1)
    with ThreadPoolExecutor(WAITERS) as pool:
        for number in range(WAITERS):
            pool.submit(_wait, stack, number, started)
        started.wait()
        crowded = _page_seconds(stack)
        stack.start("worker", "relay")
    ratio = crowded / alone
    return [
        (
            f"the page of runs while {WAITERS} agents wait, to the same alone",
            f"{ratio:.2f}",
            f"at most {TARGET}",
            ratio <= TARGET,
        )
    ]


def _wait(stack: Stack, number: int, started: threading.Barrier) -> None:
    with stack.client() as client:
        body = submission(number, task={"id": f"waiter-{number}", "description": "Wait."})
        run = client.post("/runs", json=body).json()["id"]
        started.wait()
        assert client.get(f"/runs/{run}?wait=60").status_code == 200


def _page_seconds(stack: Stack) -> float:
    took = []
    with closing(stack.browser()) as browser:
        for _ in range(REQUESTS):
            began = time.perf_counter()
            assert browser.get("/p/default/runs/").status_code == 200
            took.append(time.perf_counter() - began)
    return statistics.median(took)
