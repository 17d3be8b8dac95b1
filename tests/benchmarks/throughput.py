"""Runs verified a second, beside empty `acks_late` tasks on the same broker and workers."""

from __future__ import annotations

import subprocess
import sys
import time

from tests.benchmarks.latency import submission
from tests.stack import Stack, wait_for

RUNS = 2000
EMPTY_TASKS = 4000
TARGET = 0.15

EMPTY = f"""
import django; django.setup()
from loomverify.celery import app
with app.producer_pool.acquire(block=True) as producer:
    for number in range({EMPTY_TASKS}):
        app.send_task("tests.empty", args=(number,), queue="live", producer=producer)
"""


def rows(stack: Stack) -> list[tuple[str, str, str, bool]]:
    empty = _empty_rate(stack)
    runs = _run_rate(stack)
    ratio = runs / empty
    return [
        ("empty tasks a second, Redis, two worker processes", f"{empty:.0f}", "", True),
        ("runs verified a second, Redis, two worker processes", f"{runs:.0f}", "", True),
        ("runs to empty tasks", f"{ratio:.2f}", f"at least {TARGET}", ratio >= TARGET),
    ]


def _run_rate(stack: Stack) -> float:
    stack.kill("worker")
    stack.kill("relay")
    with stack.client() as client:
        for number in range(RUNS):
            body = submission(number, task={"id": f"rate-{number}", "description": "Sum up."})
            assert client.post("/runs", json=body).status_code == 202
    first = stack.query("select max(id) from runs_event")[0][0]
    stack.start("worker")
    wait_for(lambda: _finished_since(stack, first) >= 100, "the first hundred runs")
    began, before = time.perf_counter(), _finished_since(stack, first)
    wait_for(lambda: _finished_since(stack, first) >= RUNS, "the end of all runs")
    rate = (RUNS - before) / (time.perf_counter() - began)
    stack.start("relay")
    return rate


def _finished_since(stack: Stack, event: int) -> int:
    rows = stack.query(
        "select count(*) from runs_event where id > %s and kind = 'verification_passed'", event
    )
    return int(rows[0][0])


def _empty_rate(stack: Stack) -> float:
    """The same worker command, with one more task that does nothing."""
    import redis

    broker = redis.Redis.from_url(stack.redis_url)
    stack.kill("worker")
    broker.delete("live")
    subprocess.run([sys.executable, "-c", EMPTY], env=stack.environment, check=True)
    stack.variables = {**stack.variables, "DJANGO_SETTINGS_MODULE": "tests.benchmarks.settings"}
    stack.start("worker")
    wait_for(lambda: broker.llen("live") <= EMPTY_TASKS - 400, "the first empty tasks")
    began, left = time.perf_counter(), broker.llen("live")
    wait_for(lambda: broker.llen("live") == 0, "the end of the empty tasks")
    rate = left / (time.perf_counter() - began)
    stack.kill("worker")
    stack.variables = {
        name: value for name, value in stack.variables.items() if name != "DJANGO_SETTINGS_MODULE"
    }
    stack.start("worker")
    return float(rate)
