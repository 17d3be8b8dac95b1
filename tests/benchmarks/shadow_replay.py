"""A shadow trial over past runs, compared with the engine in one process without a database."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from tests.benchmarks.django_process import call_in_django
from tests.benchmarks.environments import WHOLE
from tests.benchmarks.framework import Benchmark, Figures, Metric, Unit
from tests.benchmarks.past_runs import DIFFERS_EVERY, make_past_runs, past_submission
from tests.stack import Stack

PROJECT = "shadow-replay"
ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Size:
    """`submitted` runs are verified, the others are their copies; all are multiples of ten."""

    submitted: int
    runs: int
    warm_up: int


def measure(stack: Stack, size: Size) -> Figures:
    alone = call_in_django(stack, __name__, "evaluation_seconds", size.submitted)
    with make_past_runs(stack, PROJECT, submitted=size.submitted, total=size.runs) as past_runs:
        _, warm_up = past_runs.start_trial(size.warm_up)
        past_runs.replay_seconds(warm_up)
        _, replay = past_runs.start_trial(size.runs)
        seconds = past_runs.replay_seconds(replay)
        compared = past_runs.count_compared(replay)
    differences = size.runs // DIFFERS_EVERY
    expected = {"no_diff": size.runs - differences, "old_fail_new_pass": differences}
    assert compared == expected, compared
    return {"seconds": seconds, "ratio": alone * size.runs / seconds}


BENCHMARK = Benchmark(
    name="shadow-replay",
    summary="A shadow trial of the legacy engine over past runs, from the request to its end",
    environment=WHOLE,
    measure=measure,
    full=Size(submitted=100, runs=4_000, warm_up=200),
    smoke=Size(submitted=10, runs=60, warm_up=20),
    metrics=(
        Metric("seconds", "{runs:,} past runs, two worker processes", Unit.SECONDS, at_most=12),
        Metric(
            "ratio",
            "past runs per second, two worker processes / one process without a database",
            Unit.RATIO,
            at_least=0.25,
        ),
    ),
)


def evaluation_seconds(count: int) -> float:
    """Return the seconds of one run by the legacy engine alone, in one process. Needs Django.

    The process is as nice as a worker of the queue `shadow`.
    """
    from loomverify.celery import NICENESS
    from verification.adapters.probe import ChildProbe
    from verification.engine.fakes import MemoryWorkspace
    from verification.engine.golden.given import Given
    from verification.engine.golden.replay import World, replay
    from verification.golden.replaying import LEGACY
    from verification.golden.shipped import builtin_definitions
    from verification.runs.evidence_store import digest_of
    from verification.runs.submission import submission_of

    probe, definition = ChildProbe(), builtin_definitions()["general"]
    phase = definition.phases[0].id
    runs = []
    for number in range(count):
        body = past_submission(number)
        files = {path: text.encode() for path, text in body.pop("files", {}).items()}
        digests = {path: digest_of(content) for path, content in files.items()}
        given = Given(phase, submission_of(body, digests))
        runs.append((given, World(MemoryWorkspace(files), probe)))
    os.nice(NICENESS)
    began = 0.0
    for _ in range(ROUNDS):  # the first rounds warm up
        began = time.perf_counter()
        for given, world in runs:
            replay(given, definition, LEGACY, world)
    return (time.perf_counter() - began) / len(runs)
