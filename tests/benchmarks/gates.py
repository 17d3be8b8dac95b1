"""Gates in containers: what they add to the bare commands, what unchanged work costs, how many."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from tests.sandbox.engine import IMAGE, SETTINGS, lacking_engine, parts_of, sandbox_of
from tests.stack import Stack, running_stack, wait_for
from verification.adapters.sandbox.archive import archive
from verification.adapters.sandbox.docker import connect
from verification.adapters.sandbox.opening import USER, WORKER
from verification.engine.gating.stages import Part
from verification.engine.reports.model import WORKSPACE

ROUNDS = 3
MOST_SECONDS = 2.0
TIMES_FASTER = 10
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
NODE = {
    "package.json": '{"name": "page", "version": "1.0.0", "scripts": {"test": "node --test"}}',
    "page.test.js": 'require("node:test")("adds", () => {});\n',
}
INSTALLED, COMPONENTS = 2, 3
SEVERAL = {
    **{f"{folder}/{path}": text for folder in ("api", "jobs") for path, text in WORK.items()},
    **{f"page/{path}": text for path, text in NODE.items()},
}
"""Three components, two of which install a dependency."""


def rows(folder: Path) -> list[tuple[str, str, str, bool]]:
    if lacking := lacking_engine():
        sys.stderr.write(f"gates were not measured: {lacking}\n")
        return []
    variables = {
        "DOCKER_HOST": os.environ.get("DOCKER_HOST", ""),
        "LOOMVERIFY_SANDBOX_IMAGE_PYTHON": IMAGE,
        "LOOMVERIFY_SANDBOX_IMAGE_NODE": IMAGE,
    }
    names = ("web", "worker", "worker-sandbox", "relay")
    with running_stack(folder, *names, variables=variables) as stack:
        with stack.client(**{"Content-Type": "application/yaml"}) as client:
            client.post("/processes", content=PROCESS).raise_for_status()
        wait_for(lambda: _beats(stack), "a worker that a Docker engine answers")
        _timed(stack, {"pytest.ini": "[pytest]\n", "test_it.py": "def test_it():\n    pass\n"})
        _timed(stack, NODE)  # the tools of both languages are there
        first, _ = _timed(stack, WORK)
        again = median(_timed(stack, WORK)[0] for _ in range(ROUNDS))
        over = median(_overhead(stack, number) for number in range(ROUNDS))
        containers = list(_containers(stack))
    return [
        *containers,
        ("gates over the bare commands, warm", f"{over:.2f} s", "under 2 s", over < MOST_SECONDS),
        (
            "unchanged work: times faster than its first run, its install among it",
            f"{first / again:.0f}",
            f"at least {TIMES_FASTER}",
            first / again >= TIMES_FASTER,
        ),
    ]


def _containers(stack: Stack) -> Iterable[tuple[str, str, str, bool]]:
    """Each component's code has a container of its own, each install one with the network, and
    what only looks at the work as many as may run side by side."""
    with closing(connect(SETTINGS)) as client:
        looking = min(COMPONENTS, int(client.info()["NCPU"]))
    tried = (
        ("first run", SEVERAL, INSTALLED + COMPONENTS + looking),
        ("one file changed", {**SEVERAL, "api/more.py": "NUMBER = 1\n"}, COMPONENTS + looking),
        ("unchanged", SEVERAL, 0),
    )
    for what, files, most in tried:
        with containers_made(stack) as made:
            _, found = _timed(stack, files)
        gates = sum(one["status"] != "skipped" for one in found["gates"])
        yield (
            f"containers for {gates} gates of {COMPONENTS} components, {what}",
            f"{len(made)}",
            f"at most {most}" if most else "0",
            len(made) <= most,
        )


@contextmanager
def containers_made(stack: Stack) -> Iterator[list[str]]:
    """The containers that the engine makes meanwhile for this installation's worker."""
    process = psutil.Process(stack.processes["worker-sandbox"].pid)
    numbers = [one.pid for one in (process, *process.children(recursive=True))]
    workers = {f"{socket.gethostname()}:{one}" for one in numbers}
    made: list[str] = []
    with closing(connect(SETTINGS)) as client:
        told = client.events(filters={"event": "create", "label": WORKER}, decode=True)

        def listen() -> None:
            actors = (one["Actor"] for one in told)
            made.extend(one["ID"] for one in actors if one["Attributes"][WORKER] in workers)

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        yield made
        told.close()
        thread.join()


def _overhead(stack: Stack, number: int) -> float:
    """A changed file over the same dependencies: all its commands are run."""
    files = {**WORK, "more.py": f"NUMBER = {number}\n"}
    seconds, _ = _timed(stack, files)
    return seconds - _bare(files)


def _bare(files: Mapping[str, str]) -> float:
    """The same commands over the same files, in a plain container of the same image that runs."""
    client = connect(SETTINGS)
    [part] = parts_of(files, "")
    image = sandbox_of(client, files).install(part).image
    made = client.create_container(image, ["sleep", "600"], user=USER)["Id"]
    try:
        client.start(made)
        spool, _ = archive((path, text.encode()) for path, text in files.items())
        with spool:
            client.put_archive(made, WORKSPACE, spool)
        owned = client.exec_create(made, ["chown", "-R", USER, WORKSPACE], user="0:0")["Id"]
        client.exec_start(owned)
        ended = client.exec_create(
            made,
            ["/bin/sh", "-c", _script(part)],
            workdir=WORKSPACE,
            environment={**part.environment, "HOME": "/tmp", "LV_SECONDS": "120"},  # noqa: S108
        )["Id"]
        began = time.perf_counter()
        said = client.exec_start(ended)
        seconds = time.perf_counter() - began
        assert client.exec_inspect(ended)["ExitCode"] == 0, said
    finally:
        client.remove_container(made, force=True)
        client.close()
    return seconds


def _script(part: Part) -> str:
    """All commands one after another, those that only look first; it ends as the last one does."""
    return "\n".join(
        f"( export LV_REPORT=/tmp/{one.gate}; {one.command}\n)"
        for one in sorted(part.stages, key=lambda one: not one.is_apart)
        if one.command
    )


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
