"""Golden cases replayed by two worker processes, compared with one process without a database."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any

import httpx

from tests.benchmarks.django_process import call_in_django
from tests.benchmarks.environments import WHOLE
from tests.benchmarks.framework import Benchmark, Figures, Metric, Unit
from tests.stack import Stack, wait_for


@dataclass(frozen=True, slots=True)
class Size:
    cases: int


def measure(stack: Stack, size: Size) -> Figures:
    case_seconds = call_in_django(stack, __name__, "prepare", size.cases)
    with stack.client() as client:
        _replay(client, tags=["injection"])  # loads libraries
        began = time.perf_counter()
        replay = _replay(client)
        seconds = time.perf_counter() - began
    assert replay["counts"]["held"] == size.cases, replay["counts"]
    return {"seconds": seconds, "ratio": case_seconds * size.cases / seconds}


BENCHMARK = Benchmark(
    name="golden-replays",
    summary="A replay of the golden corpus, from the request to its end",
    environment=WHOLE,
    measure=measure,
    full=Size(cases=1_000),
    smoke=Size(cases=20),
    metrics=(
        Metric("seconds", "{cases:,} golden cases, two worker processes", Unit.SECONDS, at_most=20),
        Metric(
            "ratio",
            "cases per second, two worker processes / one process without a database",
            Unit.RATIO,
            at_least=0.5,
        ),
    ),
)


def prepare(count: int) -> float:
    """Make the cases; return the seconds of one case in this process. Needs Django."""
    make_cases(count)
    return _case_seconds(_documents()[:count])


def make_cases(count: int) -> None:
    """Replace the corpus by copies of the shipped cases under other names. Needs Django."""
    from loomverify.accounts.access import SYSTEM, Access
    from loomverify.accounts.models import Project, Role
    from verification.golden.cases.services import create_case, retire
    from verification.golden.models import GoldenCase

    project = Project.objects.get(slug="default")
    access = Access(project, Role.EDITOR, SYSTEM)
    documents = _documents()
    for case in GoldenCase.objects.filter(project=project):
        retire(access=access, case=case.uuid)
    for number in range(count):
        document = documents[number % len(documents)]
        create_case(access=access, document={**document, "id": f"bench-{number:05}"})


def _documents() -> list[dict[str, Any]]:
    """Return the shipped cases without the canary set."""
    from verification.golden.shipped import shipped_documents

    documents = (document for _, document in shipped_documents())
    return [document for document in documents if "canary" not in document.get("tags", ())]


def _case_seconds(documents: list[dict[str, Any]]) -> float:
    """Return the seconds of one case, as nice as a worker of the queue `bulk`."""
    from loomverify.celery import NICENESS
    from verification.adapters.probe import ChildProbe
    from verification.engine.fakes import MemoryWorkspace
    from verification.engine.golden.replay import World
    from verification.engine.verifier import VerifierSpec
    from verification.golden.documents.reading import read_case
    from verification.golden.replaying import LEGACY, judge_case
    from verification.golden.shipped import builtin_definitions

    probe, definitions = ChildProbe(), builtin_definitions()
    cases = [read_case(document) for document in documents]
    os.nice(NICENESS)
    began = 0.0
    for _ in range(2):  # the first round warms up
        began = time.perf_counter()
        for case in cases:
            definition = case.definition or definitions[case.document.process]
            world = World(MemoryWorkspace(case.files), probe)
            judge_case(case.given, case.expected, definition, VerifierSpec(), world, legacy=LEGACY)
    return (time.perf_counter() - began) / len(cases)


def _replay(client: httpx.Client, **parameters: Any) -> dict[str, Any]:
    """Replay the corpus and wait for the end."""
    response = client.post("/golden/replays", json=parameters)
    assert response.status_code == 202, response.text
    replay: dict[str, Any] = response.json()

    def is_finished() -> bool:
        replay.update(client.get(f"/golden/replays/{replay['id']}?wait=30").json())
        return bool(replay["state"] == "finished")

    wait_for(is_finished, "the end of the replay", seconds=900)
    return replay
