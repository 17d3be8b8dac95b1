"""The memory of a worker and its probes over 10,000 runs."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import psutil

from tests.benchmarks.latency import submission
from tests.stack import Stack, wait_for

RUNS = 10_000
WARM = 1_000
SUBMITTERS = 4
TARGET = 1.1


def rows(stack: Stack) -> list[tuple[str, str, str, bool]]:
    first = stack.query("select coalesce(max(id), 0) from runs_run")[0][0]
    parts = range(SUBMITTERS)
    with ThreadPoolExecutor(SUBMITTERS) as pool:
        list(pool.map(lambda part: _submit(stack, range(part, WARM, SUBMITTERS)), parts))
        _wait_for_all(stack, first)
        warm = _bytes(stack)
        list(pool.map(lambda part: _submit(stack, range(WARM + part, RUNS, SUBMITTERS)), parts))
        _wait_for_all(stack, first)
    ratio = _bytes(stack) / warm
    return [
        (
            f"memory of the workers after {RUNS:,} runs, to that after {WARM:,}",
            f"{ratio:.2f} ({warm / 1e6:.0f} MB)",
            f"at most {TARGET}",
            ratio <= TARGET,
        )
    ]


def _submit(stack: Stack, numbers: Iterable[int]) -> None:
    with stack.client() as client:
        for number in numbers:
            body = submission(
                number,
                task={"id": f"memory-{number}", "description": "Write a module."},
                files={"module.py": f"def answer():\n    return {number}\n"},
            )
            assert client.post("/runs", json=body).status_code == 202


def _wait_for_all(stack: Stack, first: int) -> None:
    unfinished = "select count(*) from runs_run where id > %s and state <> 'finished'"
    wait_for(lambda: stack.query(unfinished, first)[0][0] == 0, "the end of all runs", seconds=300)


def _bytes(stack: Stack) -> int:
    """What the worker's processes and their probes hold for themselves alone."""
    worker = psutil.Process(stack.processes["worker"].pid)
    return sum(one.memory_full_info().uss for one in (worker, *worker.children(recursive=True)))
