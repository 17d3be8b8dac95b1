"""Gates in containers: what they add to the bare commands, and what unchanged work costs."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from tests.sandbox.engine import IMAGE, lacking_engine
from tests.stack import Stack, running_stack, wait_for

ROUNDS = 3
MOST_SECONDS = 2.0
TIMES_FASTER = 10
APART = ("lint", "security")
PROCESS = """\
name: coding
phases:
  - id: implement
    description: Write it
    acceptance_criteria: It works
    gates: [install, build, types, test, lint, security]
"""
WORK = {
    "requirements.txt": "iniconfig==2.3.0\n",
    "mypy.ini": "[mypy]\n",
    "calc.py": "def add(a: int, b: int) -> int:\n    return a + b\n",
    "tests/test_calc.py": "import iniconfig\nfrom calc import add\n\n\n"
    "def test_add() -> None:\n    assert iniconfig\n    assert add(1, 2) == 3\n",
}


def rows(folder: Path) -> list[tuple[str, str, str, bool]]:
    if lacking := lacking_engine():
        sys.stderr.write(f"gates were not measured: {lacking}\n")
        return []
    variables = {
        "DOCKER_HOST": os.environ.get("DOCKER_HOST", ""),
        "LOOMVERIFY_SANDBOX_IMAGE_PYTHON": IMAGE,
    }
    names = ("web", "worker", "worker-sandbox", "relay")
    with running_stack(folder, *names, variables=variables) as stack:
        with stack.client(**{"Content-Type": "application/yaml"}) as client:
            client.post("/processes", content=PROCESS).raise_for_status()
        wait_for(lambda: _beats(stack), "a worker that a Docker engine answers")
        _timed(stack, {"pytest.ini": "[pytest]\n", "test_it.py": "def test_it():\n    pass\n"})
        first, _ = _timed(stack, WORK)
        again = median(_timed(stack, WORK)[0] for _ in range(ROUNDS))
        over = median(_overhead(stack, number) for number in range(ROUNDS))
    return [
        ("gates over the bare commands, warm", f"{over:.2f} s", "under 2 s", over < MOST_SECONDS),
        (
            "unchanged work: times faster than its first run, its install among it",
            f"{first / again:.0f}",
            f"at least {TIMES_FASTER}",
            first / again >= TIMES_FASTER,
        ),
    ]


def _overhead(stack: Stack, number: int) -> float:
    """A changed file over the same dependencies: all its commands are run."""
    seconds, run = _timed(stack, {**WORK, "more.py": f"NUMBER = {number}\n"})
    bare = sum(one["duration_ms"] for one in run["gates"] if one["gate"] not in APART)
    return float(seconds - bare / 1000)


def _timed(stack: Stack, files: dict[str, str]) -> tuple[float, dict[str, Any]]:
    """From the submission to its outcome."""
    body = {
        "process": "coding",
        "task": {"id": f"task-{time.time_ns()}", "description": "Add."},
        "output": "done",
        "files": files,
    }
    with stack.client() as client:
        began = time.perf_counter()
        run = client.post("/runs", json=body).json()["id"]
        found: dict[str, Any] = {"state": "queued"}
        while found["state"] in {"queued", "running"}:
            found = client.get(f"/runs/{run}?wait=60").json()
        seconds = time.perf_counter() - began
    assert found["verdict"] == "accept", found
    return seconds, found


def _beats(stack: Stack) -> bool:
    return bool(stack.query("select 1 from runs_heartbeat where role = 'worker-sandbox'"))
