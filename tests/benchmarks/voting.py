"""Five votes beside one call, in the same runs: real HTTP to a model that takes its time."""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.benchmarks.latency import submission
from tests.model_server import ModelServer, Said, model_server
from tests.stack import Stack, running_stack

MODEL_SECONDS = 1.0
VOTERS = 5
ROUNDS = 10
TARGET = 1.3


def rows(folder: Path) -> list[tuple[str, str, str, bool]]:
    with model_server(Said('{"passed": true}', seconds=MODEL_SECONDS)) as model:
        variables = {
            "LOOMVERIFY_JUDGE_MODEL": "openai/judge",
            "LOOMVERIFY_JUDGE_API_BASE": model.url,
            "LOOMVERIFY_JUDGE_API_KEY": "of-no-use",
            "LOOMVERIFY_PANEL_MODELS": ",".join(f"openai/voter-{n}" for n in range(VOTERS)),
        }
        with running_stack(folder, variables=variables) as stack:
            # The installation was made before these variables were set.
            migrate = [sys.executable, "-m", "loomverify.cli", "migrate"]
            subprocess.run(migrate, env=stack.environment, check=True)
            ratio = statistics.median(_ratios(stack, model))
    return [
        (
            f"{VOTERS} votes, to one call of {MODEL_SECONDS} s",
            f"{ratio:.2f}",
            f"under {TARGET}",
            ratio < TARGET,
        )
    ]


def _ratios(stack: Stack, model: ModelServer) -> list[float]:
    """How long tier 3 took for each run, to its tier 2. The first run loads libraries."""
    with stack.client() as client:
        runs = [_judged(client, number) for number in range(ROUNDS + 1)][1:]
    assert model.most_at_once == VOTERS
    found = []
    for run in runs:
        took = {tier["tier"]: tier["duration_ms"] for tier in run["tiers"]}
        assert len(run["votes"]) == VOTERS
        found.append(took[3] / took[2])
    return found


def _judged(client: Any, number: int) -> dict[str, Any]:
    task = {"id": f"vote-{number}", "description": f"Sum up quarter {number}."}
    run = client.post("/runs?wait=60", json=submission(number, task=task, tier=3))
    told: dict[str, Any] = run.json()
    assert told["verdict"] == "accept", told
    return told
