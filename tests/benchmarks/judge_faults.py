"""A judge with faults, by a seed: how many of the affected runs needed no person."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from tests.benchmarks.environments import JUDGED, Judged
from tests.benchmarks.framework import Benchmark, Figures, Metric, Unit
from tests.faults.mixed_replies import PROCESS, MixedJudge, is_good, output
from tests.stack import Stack, wait_for

SEED = 11
SUBMITTERS = 4


@dataclass(frozen=True, slots=True)
class Size:
    runs: int


def measure(judged: Judged, size: Size) -> Figures:
    judge = MixedJudge(seed=SEED)
    judged.model.script[:] = [judge]
    stack = judged.stack
    stack.query("update verifiers_judgeconnection set timeout_seconds = 1 returning id")
    with stack.client() as client:
        response = client.post("/processes", content=PROCESS.encode())
        assert response.status_code == 201, response.text
    verdicts = _verify(stack, size.runs)
    affected = [number for number, faults in judge.faults.items() if faults]
    decided = [number for number in affected if verdicts[number] in ("accept", "reject")]
    wrong = [
        number
        for number, verdict in verdicts.items()
        if verdict == ("reject" if is_good(number) else "accept")
    ]
    return {
        "affected": len(affected),
        "decided": len(decided) / len(affected),
        "wrong": len(wrong),
    }


BENCHMARK = Benchmark(
    name="judge-faults",
    summary="Verdicts of a judge that sends malformed replies, fails, and is late",
    environment=JUDGED,
    measure=measure,
    full=Size(runs=500),
    smoke=Size(runs=20),
    metrics=(
        Metric("affected", "runs with a fault, of {runs:,}", Unit.COUNT),
        Metric("decided", "runs with a fault decided without a person", Unit.SHARE, at_least=0.9),
        Metric("wrong", "wrong verdicts, of {runs:,} runs", Unit.COUNT, at_most=0),
    ),
)


def _verify(stack: Stack, runs: int) -> dict[int, str]:
    """Return the verdict on each run by its number; '' for a run that ended without one."""
    with stack.client() as client, ThreadPoolExecutor(SUBMITTERS) as pool:

        def submit(number: int) -> str:
            task = {"id": f"task-{number}", "description": "Write the summary."}
            body = {"process": "mixed", "task": task, "output": output(number)}
            response = client.post("/runs", json=body)
            assert response.status_code == 202, response.text
            return str(response.json()["id"])

        ids = list(pool.map(submit, range(runs)))
    unfinished = "select count(*) from runs_run where state in ('queued', 'running')"
    wait_for(lambda: stack.query(unfinished) == [(0,)], "the end of all runs", seconds=900)
    verdicts = dict(stack.query("select uuid::text, verdict from runs_run"))
    return {number: verdicts[run] for number, run in enumerate(ids)}
