"""Runs verified per second, compared with empty Celery tasks on the same broker and worker."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from tests.benchmarks.django_process import call_in_django
from tests.benchmarks.environments import WHOLE, paused_worker, stopped_relay
from tests.benchmarks.framework import Benchmark, Figures, Metric, Unit
from tests.benchmarks.latency import submission
from tests.stack import Stack, wait_for

SUBMITTERS = 4
Measured = tuple[int, float]
"""How many, in how many seconds."""


@dataclass(frozen=True, slots=True)
class Size:
    """Of each turn; `skipped` of them are done before the clock starts."""

    runs: int
    runs_skipped: int
    tasks: int
    tasks_skipped: int
    turns: int


def measure(stack: Stack, size: Size) -> Figures:
    with stopped_relay(stack):
        turns = [
            (_measure_tasks(stack, size), _measure_runs(stack, size)) for _ in range(size.turns)
        ]
    tasks, runs = (_rate(column) for column in zip(*turns, strict=True))
    return {"tasks": tasks, "runs": runs, "ratio": runs / tasks}


def send_empty_tasks(count: int) -> None:
    """Needs Django."""
    from loomverify.celery import app

    with app.producer_pool.acquire(block=True) as producer:
        for number in range(count):
            app.send_task("tests.empty", args=(number,), queue="live", producer=producer)


BENCHMARK = Benchmark(
    name="throughput",
    summary="Runs verified per second by two worker processes, Redis broker",
    environment=WHOLE,
    measure=measure,
    full=Size(runs=350, runs_skipped=50, tasks=1_300, tasks_skipped=100, turns=3),
    smoke=Size(runs=20, runs_skipped=4, tasks=100, tasks_skipped=20, turns=1),
    metrics=(
        Metric("tasks", "empty tasks", Unit.RATE),
        Metric("runs", "verified runs", Unit.RATE),
        Metric("ratio", "verified runs / empty tasks", Unit.RATIO, at_least=0.15),
    ),
)


def _measure_tasks(stack: Stack, size: Size) -> Measured:
    import redis

    with redis.Redis.from_url(stack.redis_url) as broker:
        with paused_worker(stack):
            call_in_django(stack, __name__, "send_empty_tasks", size.tasks)

        def count_done() -> int:
            return size.tasks - int(broker.llen("live"))

        return _measure(count_done, size.tasks_skipped, size.tasks)


def _measure_runs(stack: Stack, size: Size) -> Measured:
    [[last_event]] = stack.query("select coalesce(max(id), 0) from runs_event")
    with paused_worker(stack), stack.client() as client, ThreadPoolExecutor(SUBMITTERS) as pool:

        def submit(number: int) -> None:
            response = client.post("/runs", json=submission(f"throughput-{number}"))
            assert response.status_code == 202, response.text

        list(pool.map(submit, range(size.runs)))

    def count_verified() -> int:
        [[count]] = stack.query(
            "select count(*) from runs_event where id > %s and kind = 'verification_passed'",
            last_event,
        )
        return int(count)

    return _measure(count_verified, size.runs_skipped, size.runs)


def _measure(count_done: Callable[[], int], skipped: int, total: int) -> Measured:
    """Wait until `total` are done; return how many after the first `skipped`, and the seconds."""
    wait_for(lambda: count_done() >= skipped, f"the first {skipped}")
    began, before = time.perf_counter(), count_done()
    wait_for(lambda: count_done() >= total, f"the end of all {total}")
    return total - before, time.perf_counter() - began


def _rate(turns: Iterable[Measured]) -> float:
    counts, seconds = zip(*turns, strict=True)
    return float(sum(counts) / sum(seconds))
