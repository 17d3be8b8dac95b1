"""Live runs while a shadow trial replays past runs, compared with live runs alone."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from tests.benchmarks.environments import WHOLE
from tests.benchmarks.framework import Benchmark, Figures, Metric, Unit
from tests.benchmarks.latency import verdict_seconds
from tests.benchmarks.past_runs import make_past_runs
from tests.stack import Stack, wait_for

PROJECT = "live-during-trial"


@dataclass(frozen=True, slots=True)
class Size:
    """In each of `turns`, `rounds` live runs alone, and as many during the trial."""

    submitted: int
    past: int
    rounds: int
    turns: int


def measure(stack: Stack, size: Size) -> Figures:
    alone: list[float] = []
    during: list[float] = []
    with make_past_runs(stack, PROJECT, submitted=size.submitted, total=size.past) as past_runs:

        def measure_live(label: str) -> list[float]:
            tasks = [f"{label}-{number}" for number in range(size.rounds)]
            return [verdict_seconds(past_runs.client, task) for task in tasks]

        for turn in range(size.turns):
            alone += measure_live(f"alone-{turn}")
            trial, replay = past_runs.start_trial(size.past)
            wait_for(
                lambda replay=replay: past_runs.count_compared(replay), "the first comparisons"
            )
            during += measure_live(f"during-{turn}")
            assert past_runs.is_open(replay), "the trial ended before the live runs did"
            past_runs.stop_trial(trial)
    p50 = statistics.median(alone)
    return {"alone": p50, "ratio": statistics.median(during) / p50}


BENCHMARK = Benchmark(
    name="live-during-trial",
    summary="Submit to verdict while a shadow trial replays past runs",
    environment=WHOLE,
    measure=measure,
    full=Size(submitted=100, past=6_000, rounds=40, turns=3),
    smoke=Size(submitted=10, past=600, rounds=2, turns=1),
    metrics=(
        Metric("alone", "submit to verdict, p50, no trial", Unit.SECONDS),
        Metric(
            "ratio",
            "submit to verdict, p50, during a trial / no trial",
            Unit.RATIO,
            at_most=2,
        ),
    ),
)
