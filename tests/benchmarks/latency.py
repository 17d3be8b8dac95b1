"""Submit to verdict, one agent on an idle installation, compared with a bare Celery task."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx

from tests.benchmarks.django_process import call_in_django
from tests.benchmarks.environments import WHOLE, WITHOUT_REDIS, FreshStack
from tests.benchmarks.framework import Benchmark, Figures, Metric, Unit
from tests.benchmarks.timing import percentile
from tests.stack import Stack, api_client

if TYPE_CHECKING:
    import psycopg

CHANNEL = "benchmark"


@dataclass(frozen=True, slots=True)
class Size:
    runs: int
    warm_up: int


def submission(task: str, **fields: Any) -> dict[str, Any]:
    """Return the body of a run with an output of one kilobyte."""
    return {
        "process": "general",
        "task": {"id": task, "description": "Write the summary."},
        "output": "The summary covers all four quarters. " * 25,
        **fields,
    }


def verdict_seconds(client: httpx.Client, task: str) -> float:
    """Submit a run and wait for its verdict."""
    body = submission(task)
    began = time.perf_counter()
    response = client.post("/runs?wait=30", json=body)
    seconds = time.perf_counter() - began
    assert response.status_code == 200, response.text
    assert response.json()["verdict"] == "accept", response.text
    return seconds


def measure(stack: Stack, size: Size) -> Figures:
    verdicts, tasks = call_in_django(
        stack, __name__, "measure_seconds", stack.url, stack.key, size.warm_up, size.runs
    )
    p50, task_p50 = statistics.median(verdicts), statistics.median(tasks)
    p95, task_p95 = percentile(verdicts, 0.95), percentile(tasks, 0.95)
    return {
        "p50": p50,
        "p95": p95,
        "task_p50": task_p50,
        "p50_ratio": p50 / task_p50,
        "p95_ratio": p95 / task_p95,
    }


def measure_seconds(url: str, key: str, warm_up: int, runs: int) -> list[list[float]]:
    """Return the seconds of runs until their verdict, and of bare tasks in turn. Needs Django."""
    import psycopg

    from loomverify.env import environment

    seconds = []
    with (
        api_client(url, key) as client,
        psycopg.connect(environment().database_url, autocommit=True) as connection,
    ):
        connection.execute(f"listen {CHANNEL}")
        for number in range(warm_up + runs):
            verdict = verdict_seconds(client, f"latency-{number}")
            seconds.append((verdict, _task_seconds(connection)))
    return [list(column) for column in zip(*seconds[warm_up:], strict=True)]


def _task_seconds(connection: psycopg.Connection) -> float:
    """Send a task that only notifies PostgreSQL, and wait for the notification."""
    from loomverify.celery import app

    began = time.perf_counter()
    app.send_task("tests.notify", args=(CHANNEL,), queue="live")
    notifications = list(connection.notifies(timeout=30, stop_after=1))
    seconds = time.perf_counter() - began
    assert notifications, "no worker ran the task within 30 s"
    return seconds


def _benchmark(
    name: str, broker: str, environment: FreshStack, *, at_most: float
) -> Benchmark[Stack, Size]:
    return Benchmark(
        name=name,
        summary=f"Submit to verdict, one agent, {broker} broker",
        environment=environment,
        measure=measure,
        full=Size(runs=200, warm_up=20),
        smoke=Size(runs=4, warm_up=1),
        metrics=(
            Metric("p50", "submit to verdict, p50", Unit.SECONDS, at_most=0.06),
            Metric("p95", "submit to verdict, p95", Unit.SECONDS, at_most=0.2),
            Metric("task_p50", "bare task round trip, p50", Unit.SECONDS),
            Metric("p50_ratio", "submit to verdict / bare task, p50", Unit.RATIO, at_most=at_most),
            Metric("p95_ratio", "submit to verdict / bare task, p95", Unit.RATIO, at_most=at_most),
        ),
    )


REDIS = _benchmark("latency-redis", "Redis", WHOLE, at_most=50)
FILESYSTEM = _benchmark("latency-filesystem", "filesystem", WITHOUT_REDIS, at_most=20)
