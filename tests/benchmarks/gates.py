"""Gates in containers: time on top of the bare commands, unchanged work, number of containers."""

from __future__ import annotations

import os
import socket
import statistics
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.benchmarks.environments import EmptyFolder
from tests.benchmarks.framework import Benchmark, Figures, Metric, Requirement, Unit
from tests.sandbox.engine import IMAGE, SETTINGS, parts_of, sandbox_of
from tests.stack import Stack, running_stack, wait_for
from verification.adapters.sandbox.archive import archive
from verification.adapters.sandbox.docker import connect
from verification.adapters.sandbox.opening import USER, WORKER
from verification.engine.gating.stages import Part
from verification.engine.reports.model import WORKSPACE

PROCESS = """\
name: coding
phases:
  - id: implement
    description: Write it
    acceptance_criteria: It works
    gates: [install, build, types, test, lint, security]
"""
PYTHON = {
    "requirements.txt": "iniconfig==2.3.0\n",
    "mypy.ini": "[mypy]\n",
    "calc.py": "def add(a: int, b: int) -> int:\n    return a + b\n",
    "tests/test_calc.py": "import iniconfig\nfrom calc import add\n\n\n"
    "def test_add() -> None:\n    assert iniconfig\n    assert add(1, 2) == 3\n",
}
NODE = {
    "package.json": '{"name": "page", "version": "1.0.0", "scripts": {"test": "node --test"}}',
    "page.test.js": 'require("node:test")("adds", () => {});\n',
}
WARM_UP = (NODE, {"pytest.ini": "[pytest]\n", "test_it.py": "def test_it():\n    pass\n"})
"""The first work in each language unpacks the tools."""


@dataclass(frozen=True, slots=True)
class Size:
    """A Python component has a dependency and therefore an install, one of Node has none."""

    warm_up: tuple[Mapping[str, str], ...]
    python: int
    node: int
    rounds: int

    @property
    def files(self) -> dict[str, str]:
        components = {
            **{f"python-{number}": PYTHON for number in range(self.python)},
            **{f"node-{number}": NODE for number in range(self.node)},
        }
        return {
            f"{folder}/{path}": text
            for folder, files in components.items()
            for path, text in files.items()
        }


def measure(folder: Path, size: Size) -> Figures:
    variables = {
        "DOCKER_HOST": os.environ.get("DOCKER_HOST", ""),
        "LOOMVERIFY_SANDBOX_IMAGE_PYTHON": IMAGE,
        "LOOMVERIFY_SANDBOX_IMAGE_NODE": IMAGE,
    }
    processes = ("web", "worker", "worker-sandbox", "relay")
    with running_stack(folder, *processes, variables=variables) as stack:
        with stack.client(**{"Content-Type": "application/yaml"}) as client:
            client.post("/processes", content=PROCESS).raise_for_status()
        wait_for(lambda: _has_sandbox_worker(stack), "a worker that reaches the Docker engine")
        for files in size.warm_up:
            _verdict_seconds(stack, files)
        components = _measure_components(stack, size)
        _verdict_seconds(stack, PYTHON)  # installs its dependency
        pairs = [_gates_and_bare_seconds(stack, number) for number in range(size.rounds)]
    return {
        **components,
        "added": statistics.median(gates - bare for gates, bare in pairs),
        "gates_to_bare": statistics.median(gates / bare for gates, bare in pairs),
    }


BENCHMARK = Benchmark(
    name="gates",
    summary="All gates but `run`, in containers of a Docker engine",
    environment=EmptyFolder((Requirement.DOCKER,)),
    measure=measure,
    full=Size(warm_up=WARM_UP, python=2, node=1, rounds=3),
    smoke=Size(warm_up=(), python=1, node=0, rounds=1),
    metrics=(
        Metric(
            "containers",
            "containers for {python} Python and {node} Node components, first run",
            Unit.COUNT,
        ),
        Metric(
            "containers_to_needed",
            "containers / needed for isolation, first run",
            Unit.RATIO,
            at_most=1,
        ),
        Metric(
            "changed_to_needed",
            "containers / needed for isolation, one file changed",
            Unit.RATIO,
            at_most=1,
        ),
        Metric("unchanged_containers", "containers, nothing changed", Unit.COUNT, at_most=0),
        Metric(
            "times_faster",
            "unchanged work: times faster than its first run",
            Unit.RATIO,
            at_least=10,
        ),
        Metric(
            "added",
            "time that gates add to the bare commands, dependencies installed",
            Unit.SECONDS,
            at_most=2,
            is_signed=True,
        ),
        Metric(
            "gates_to_bare",
            "gates / bare commands, dependencies installed",
            Unit.RATIO,
            at_most=2,
        ),
    ),
)


def _measure_components(stack: Stack, size: Size) -> Figures:
    """Verify work with several components; count the containers, and compare with the need.

    Each install needs one with the network, and each component one for its code. Static checks
    run no code of the work: they share as many as run at a time.
    """
    components = size.python + size.node
    with closing(connect(SETTINGS)) as client:
        static = min(components, int(client.info()["NCPU"]))
    changed = {**size.files, "python-0/more.py": "NUMBER = 1\n"}
    first, containers = _seconds_and_containers(stack, size.files)
    _, changed_containers = _seconds_and_containers(stack, changed)
    unchanged = [_seconds_and_containers(stack, size.files) for _ in range(size.rounds)]
    return {
        "containers": containers,
        "containers_to_needed": containers / (size.python + components + static),
        "changed_to_needed": changed_containers / (components + static),
        "unchanged_containers": sum(count for _, count in unchanged),
        "times_faster": first / statistics.median(seconds for seconds, _ in unchanged),
    }


def _seconds_and_containers(stack: Stack, files: Mapping[str, str]) -> tuple[float, int]:
    with containers_made(stack) as containers:
        seconds = _verdict_seconds(stack, files)
    return seconds, len(containers)


@contextmanager
def containers_made(stack: Stack) -> Iterator[list[str]]:
    """Yield a list of the containers that the engine makes for the installation's worker.

    The list is complete when the context ends.
    """
    process = psutil.Process(stack.processes["worker-sandbox"].pid)
    pids = [child.pid for child in (process, *process.children(recursive=True))]
    workers = {f"{socket.gethostname()}:{pid}" for pid in pids}
    containers: list[str] = []
    with closing(connect(SETTINGS)) as client:
        events = client.events(filters={"event": "create", "label": WORKER}, decode=True)

        def listen() -> None:
            actors = (event["Actor"] for event in events)
            containers.extend(
                actor["ID"] for actor in actors if actor["Attributes"][WORKER] in workers
            )

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        yield containers
        events.close()
        thread.join()


def _gates_and_bare_seconds(stack: Stack, number: int) -> tuple[float, float]:
    """Verify work with a changed file and known dependencies: all its commands run."""
    files = {**PYTHON, "more.py": f"NUMBER = {number}\n"}
    return _verdict_seconds(stack, files), _bare_seconds(files)


def _bare_seconds(files: Mapping[str, str]) -> float:
    """Run the same commands on the same files in a plain container that runs already."""
    client = connect(SETTINGS)
    [part] = parts_of(files, "")
    image = sandbox_of(client, files).install(part).image
    container = client.create_container(image, ["sleep", "600"], user=USER)["Id"]
    try:
        client.start(container)
        spool, _ = archive((path, text.encode()) for path, text in files.items())
        with spool:
            client.put_archive(container, WORKSPACE, spool)
        chown = ["chown", "-R", USER, WORKSPACE]
        client.exec_start(client.exec_create(container, chown, user="0:0")["Id"])
        command = client.exec_create(
            container,
            ["/bin/sh", "-c", _script(part)],
            workdir=WORKSPACE,
            environment={**part.environment, "HOME": "/tmp", "LV_SECONDS": "120"},  # noqa: S108
        )["Id"]
        began = time.perf_counter()
        command_output = client.exec_start(command)
        seconds = time.perf_counter() - began
        assert client.exec_inspect(command)["ExitCode"] == 0, command_output
    finally:
        client.remove_container(container, force=True)
        client.close()
    return seconds


def _script(part: Part) -> str:
    """Return all commands in a row, static checks first; the last one gives the exit code."""
    return "\n".join(
        f"( export LV_REPORT=/tmp/{stage.gate}; {stage.command}\n)"
        for stage in sorted(part.stages, key=lambda stage: not stage.is_apart)
        if stage.command
    )


def _verdict_seconds(stack: Stack, files: Mapping[str, str]) -> float:
    """Return the seconds from the submission to the verdict."""
    body = {
        "process": "coding",
        "task": {"id": f"task-{time.time_ns()}", "description": "Add."},
        "output": "done",
        "files": dict(files),
    }
    with stack.client() as client:
        began = time.perf_counter()
        run = client.post("/runs", json=body).json()
        while run["state"] in {"queued", "running"}:
            run = client.get(f"/runs/{run['id']}?wait=60").json()
        seconds = time.perf_counter() - began
    assert run["verdict"] == "accept", run
    return seconds


def _has_sandbox_worker(stack: Stack) -> bool:
    return bool(stack.query("select 1 from runs_heartbeat where role = 'worker-sandbox'"))
