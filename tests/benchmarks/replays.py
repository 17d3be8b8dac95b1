"""1,000 golden cases replayed by two worker processes, beside one that knows no database."""

from __future__ import annotations

import json
import subprocess
import time
from typing import Any

from tests.benchmarks.beside_django import called
from tests.stack import Stack, wait_for

CASES = 1_000
TARGET_SECONDS = 20.0
TARGET = 0.5


def rows(stack: Stack) -> list[tuple[str, str, str, bool]]:
    called(stack, __name__, "make_cases", CASES)
    seconds = _replayed(stack)
    alone = _alone(stack)
    ratio = alone * CASES / seconds
    what = f"{CASES:,} golden cases replayed, two worker processes"
    return [
        (what, f"{seconds:.1f} s", f"under {TARGET_SECONDS:.0f} s", seconds < TARGET_SECONDS),
        ("golden cases a second there, to one process without a database", f"{ratio:.2f}",
         f"at least {TARGET}", ratio >= TARGET),
    ]  # fmt: skip


def make_cases(count: int) -> None:
    """The shipped ones again and again, under other names. Runs beside Django."""
    from loomverify.accounts.access import SYSTEM, Access
    from loomverify.accounts.models import Project, Role
    from verification.golden.cases.services import create_case, retire
    from verification.golden.models import GoldenCase
    from verification.golden.shipped import shipped_documents

    project = Project.objects.get(slug="default")
    access = Access(project, Role.EDITOR, SYSTEM)
    documents = [one for _, one in shipped_documents() if "canary" not in one.get("tags", ())]
    for case in GoldenCase.objects.filter(project=project):
        retire(access=access, case=case.uuid)
    for number in range(count):
        document = documents[number % len(documents)]
        create_case(access=access, document={**document, "id": f"bench-{number:05}"})


def seconds_a_case() -> float:
    """Without a database, in one process. Runs beside Django."""
    from verification.adapters.probe import ChildProbe
    from verification.engine.fakes import MemoryWorkspace
    from verification.engine.golden.replay import World
    from verification.engine.verifier import VerifierSpec
    from verification.golden.documents.reading import read_case
    from verification.golden.replaying import LEGACY, judge_case
    from verification.golden.shipped import builtin_definitions, shipped_documents

    probe, definitions = ChildProbe(), builtin_definitions()
    cases = [
        read_case(one) for _, one in shipped_documents() if "canary" not in one.get("tags", ())
    ]
    began = 0.0
    for _ in range(2):  # the first turn warms up
        began = time.perf_counter()
        for case in cases:
            definition = case.definition or definitions[case.document.process]
            world = World(MemoryWorkspace(case.files), probe)
            judge_case(case.given, case.expected, definition, VerifierSpec(), world, legacy=LEGACY)
    return (time.perf_counter() - began) / len(cases)


def _replayed(stack: Stack) -> float:
    """From the request to the end, by workers that have just started."""
    stack.kill("worker")
    stack.kill("worker-bulk")
    command = stack._command("worker", "--queues=bulk", "--concurrency=2", "--name=replays")
    with (stack.folder / "replays.log").open("ab") as log:
        stack.processes["replays"] = subprocess.Popen(
            command, env=stack.environment, start_new_session=True, stdout=log, stderr=log
        )
    try:
        with stack.client() as client:
            _replay(client, tags=["injection"])  # both workers are up
            began = time.perf_counter()
            replay = _replay(client)
            seconds = time.perf_counter() - began
    finally:
        stack.kill("replays")
        stack.start("worker", "worker-bulk")
    assert replay["counts"]["held"] == CASES, json.dumps(replay["counts"])
    return seconds


def _replay(client: Any, **wish: Any) -> dict[str, Any]:
    replay: dict[str, Any] = client.post("/golden/replays", json=wish).json()

    def is_over() -> bool:
        replay.update(client.get(f"/golden/replays/{replay['id']}?wait=30").json())
        return bool(replay["state"] == "finished")

    wait_for(is_over, "the end of the replay", seconds=300)
    return replay


def _alone(stack: Stack) -> float:
    return float(called(stack, __name__, "seconds_a_case"))
