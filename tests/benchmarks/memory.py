"""The memory of a worker and its probes after many runs, compared with few."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import psutil

from tests.benchmarks.environments import WHOLE
from tests.benchmarks.framework import Benchmark, Figures, Metric, Unit
from tests.benchmarks.latency import submission
from tests.stack import Stack, wait_for

SUBMITTERS = 4


@dataclass(frozen=True, slots=True)
class Size:
    few: int
    many: int


def measure(stack: Stack, size: Size) -> Figures:
    _verify(stack, range(size.few))
    few = _megabytes(stack)
    _verify(stack, range(size.few, size.many))
    many = _megabytes(stack)
    return {"few": few, "ratio": many / few}


BENCHMARK = Benchmark(
    name="memory",
    summary="Memory of the worker over many runs with a file each",
    environment=WHOLE,
    measure=measure,
    full=Size(few=500, many=2_500),
    smoke=Size(few=5, many=10),
    metrics=(
        Metric("few", "memory after {few:,} runs", Unit.MEGABYTES),
        Metric("ratio", "memory after {many:,} runs / after {few:,}", Unit.RATIO, at_most=1.1),
    ),
)


def _verify(stack: Stack, numbers: Iterable[int]) -> None:
    """Submit these runs and wait for all of them."""
    with stack.client() as client, ThreadPoolExecutor(SUBMITTERS) as pool:

        def submit(number: int) -> None:
            files = {"module.py": f"def answer():\n    return {number}\n"}
            response = client.post("/runs", json=submission(f"memory-{number}", files=files))
            assert response.status_code == 202, response.text

        list(pool.map(submit, numbers))
    unfinished = "select count(*) from runs_run where state <> 'finished'"
    wait_for(lambda: stack.query(unfinished) == [(0,)], "the end of all runs", seconds=900)


def _megabytes(stack: Stack) -> float:
    """Return what the worker's processes and their probes hold for themselves alone."""
    worker = psutil.Process(stack.processes["worker"].pid)
    processes = (worker, *worker.children(recursive=True))
    return sum(float(process.memory_full_info().uss) for process in processes) / 1e6
