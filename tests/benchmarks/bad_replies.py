"""A judge with bad moments, by a seed: how many of the runs they touched needed no person."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.faults.mixed_replies import PROCESS, MixedJudge, is_good, output
from tests.model_server import ModelServer, model_server
from tests.stack import Stack, wait_for

RUNS = 1000
SEED = 11
TARGET = 0.9
DEADLINE_SECONDS = 60
SUBMITTERS = 4


def rows(folder: Path, *, runs: int = RUNS) -> list[tuple[str, str, str, bool]]:
    judge = MixedJudge(seed=SEED)
    with model_server(judge) as server:
        stack = _stack(folder, server)
        try:
            _start(stack)
            found = _verified(stack, runs)
        finally:
            stack.stop()
    touched = [number for number, faults in judge.faults.items() if faults]
    decided = [number for number in touched if found[number] in ("accept", "reject")]
    wrong = sum(
        verdict == ("reject" if is_good(number) else "accept") for number, verdict in found.items()
    )
    share = len(decided) / len(touched)
    return [
        (
            f"runs touched by a fault that needed no person, n = {len(touched)} of {runs:,}",
            f"{share:.1%}",
            f"{TARGET:.0%} or more",
            share >= TARGET,
        ),
        (f"verdicts of the wrong polarity, n = {runs:,}", str(wrong), "0", wrong == 0),
    ]


def _stack(folder: Path, server: ModelServer) -> Stack:
    judges = ("LOOMVERIFY_JUDGE", "LOOMVERIFY_ALTERNATE_JUDGE")
    return Stack(
        folder,
        settings="tests.faults.judged_settings",
        variables={
            "LOOMVERIFY_REVERIFY_DEADLINE": str(DEADLINE_SECONDS),
            **{f"{name}_MODEL": f"openai/{name.lower()}" for name in judges},
            **{f"{name}_API_BASE": server.url for name in judges},
            **{f"{name}_API_KEY": "of-no-use" for name in judges},
        },
    )


def _start(stack: Stack) -> None:
    stack.prepare()
    migrate = [sys.executable, "-m", "loomverify.cli", "migrate"]
    subprocess.run(migrate, env=stack.environment, check=True, stdout=subprocess.DEVNULL)
    stack.query("update verifiers_judgeconnection set timeout_seconds = 1 returning id")
    stack.start("web", "worker", "relay")
    with stack.client() as client:
        made = client.post("/processes", content=PROCESS.encode())
    assert made.status_code == 201, made.text


def _verified(stack: Stack, runs: int) -> dict[int, str]:
    """The verdict on each work; '' where the run ended without one."""
    with ThreadPoolExecutor(SUBMITTERS) as pool:
        ids = list(pool.map(lambda number: _submit(stack, number), range(runs)))
    open_runs = "select count(*) from runs_run where state in ('queued', 'running')"
    wait_for(lambda: stack.query(open_runs) == [(0,)], "the end of all runs", seconds=900)
    verdicts = dict(stack.query("select uuid::text, verdict from runs_run"))
    return {number: verdicts[run] for number, run in enumerate(ids)}


def _submit(stack: Stack, number: int) -> str:
    task = {"id": f"task-{number}", "description": "Write the summary."}
    body = {"process": "mixed", "task": task, "output": output(number)}
    with stack.client() as client:
        answer = client.post("/runs", json=body)
    assert answer.status_code == 202, answer.text
    run: str = answer.json()["id"]
    return run
