"""A page while many agents wait for runs that nobody evaluates."""

from __future__ import annotations

import statistics
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass

from tests.benchmarks.environments import WHOLE, paused_worker, stopped_relay
from tests.benchmarks.framework import Benchmark, Figures, Metric, Unit
from tests.benchmarks.latency import submission
from tests.benchmarks.timing import seconds_of
from tests.stack import Stack

WAIT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Size:
    """`requests` of each of `turns`, with and without the agents."""

    agents: int
    requests: int
    turns: int


def measure(stack: Stack, size: Size) -> Figures:
    alone: list[float] = []
    with_agents: list[float] = []
    with stopped_relay(stack), closing(stack.browser()) as browser:

        def load_page() -> None:
            assert browser.get("/p/default/runs/").status_code == 200

        load_page()  # compiles the templates
        for turn in range(size.turns):
            alone += [seconds_of(load_page) for _ in range(size.requests)]
            with waiting_agents(stack, f"turn-{turn}", size.agents):
                with_agents += [seconds_of(load_page) for _ in range(size.requests)]
    p50 = statistics.median(alone)
    return {"alone": p50, "ratio": statistics.median(with_agents) / p50}


@contextmanager
def waiting_agents(stack: Stack, label: str, count: int) -> Iterator[None]:
    """Let agents wait for verdicts until the context ends, and then get them."""
    all_submitted = threading.Barrier(count + 1, timeout=WAIT_SECONDS)
    with ThreadPoolExecutor(count) as pool:
        with paused_worker(stack):
            agents = [
                pool.submit(_wait_for_verdict, stack, f"{label}-{number}", all_submitted)
                for number in range(count)
            ]
            all_submitted.wait()
            yield
        for agent in agents:
            agent.result()


BENCHMARK = Benchmark(
    name="waiting-agents",
    summary="The list of runs while agents wait for verdicts",
    environment=WHOLE,
    measure=measure,
    full=Size(agents=64, requests=12, turns=5),
    smoke=Size(agents=4, requests=3, turns=1),
    metrics=(
        Metric("alone", "list of runs, no agent waits", Unit.SECONDS),
        Metric(
            "ratio",
            "list of runs, {agents} agents wait / no agent waits",
            Unit.RATIO,
            at_most=1.5,
        ),
    ),
)


def _wait_for_verdict(stack: Stack, task: str, all_submitted: threading.Barrier) -> None:
    with stack.client() as client:
        response = client.post("/runs", json=submission(task))
        assert response.status_code == 202, response.text
        all_submitted.wait()
        run = response.json()
        while run["state"] in ("queued", "running"):
            run = client.get(f"/runs/{run['id']}?wait={WAIT_SECONDS}").json()
        assert run["verdict"] == "accept", run
