"""Five votes compared with one judge call, in the same runs: real HTTP to a slow model."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Any

import httpx

from tests.benchmarks.environments import JUDGED, Judged
from tests.benchmarks.framework import Benchmark, Figures, Metric, Unit
from tests.benchmarks.latency import submission
from tests.model_server import Said


@dataclass(frozen=True, slots=True)
class Size:
    """The warm-up loads libraries in each worker process."""

    warm_up: int
    runs: int
    model_seconds: float


def measure(judged: Judged, size: Size) -> Figures:
    judged.model.script[:] = [Said('{"passed": true}', seconds=size.model_seconds)]
    with judged.stack.client() as client:
        for number in range(size.warm_up):
            _judge(client, f"warm-up-{number}")
        runs = [_judge(client, f"panel-{number}") for number in range(size.runs)]
    assert judged.model.most_at_once == JUDGED.voters, judged.model.most_at_once
    return {"ratio": statistics.median(_panel_to_call(run) for run in runs)}


BENCHMARK = Benchmark(
    name="judge-panel",
    summary="A panel of five judges, compared with one judge call",
    environment=JUDGED,
    measure=measure,
    full=Size(warm_up=4, runs=8, model_seconds=1.0),
    smoke=Size(warm_up=0, runs=1, model_seconds=0.1),
    metrics=(
        Metric("ratio", "five votes / one call of {model_seconds} s", Unit.RATIO, at_most=1.3),
    ),
)


def _judge(client: httpx.Client, task: str) -> dict[str, Any]:
    body = submission(task, tier=3)
    body["task"]["description"] = f"Sum up {task}."  # the same question would not be asked again
    run: dict[str, Any] = client.post("/runs?wait=60", json=body).json()
    assert run["verdict"] == "accept", run
    assert len(run["votes"]) == JUDGED.voters, run
    return run


def _panel_to_call(run: dict[str, Any]) -> float:
    """Return the duration of tier 3 (the panel) divided by that of tier 2 (one call)."""
    durations = {tier["tier"]: tier["duration_ms"] for tier in run["tiers"]}
    return float(durations[3] / durations[2])
