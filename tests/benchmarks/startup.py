"""A later start of `loomverify run`, compared with an interpreter that loads the web application."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from loomverify.embedded import stop_server
from tests.benchmarks.environments import EmptyFolder
from tests.benchmarks.framework import Benchmark, Figures, Metric, Unit
from tests.benchmarks.timing import seconds_of
from tests.ground.installation import Installation, installed
from tests.stack import Stack, wait_for

LOAD = "import loomverify.asgi, loomverify.urls"


@dataclass(frozen=True, slots=True)
class Size:
    rounds: int


def measure(folder: Path, size: Size) -> Figures:
    data = folder / "data"
    data.mkdir()
    Stack(data, own_server=True).prepare()
    stop_server(data / "postgres")
    with installed(data) as installation:
        rounds = [
            (_start_seconds(installation), seconds_of(partial(_load_application, installation)))
            for _ in range(size.rounds)
        ]
    start, load = (min(column) for column in zip(*rounds, strict=True))
    return {"start": start, "load": load, "ratio": start / load}


BENCHMARK = Benchmark(
    name="startup",
    summary="A later start of `loomverify run` until its first page",
    environment=EmptyFolder(),
    measure=measure,
    full=Size(rounds=3),
    smoke=Size(rounds=1),
    metrics=(
        Metric("start", "start to the first page", Unit.SECONDS, at_most=5),
        Metric("load", "an interpreter loads the web application", Unit.SECONDS),
        Metric("ratio", "start to the first page / loading alone", Unit.RATIO, at_most=5),
    ),
)


def _start_seconds(installation: Installation) -> float:
    began = time.perf_counter()
    installation.start()
    wait_for(installation.answers, "the first page")
    seconds = time.perf_counter() - began
    installation.press()
    installation.wait()
    return seconds


def _load_application(installation: Installation) -> None:
    subprocess.run([sys.executable, "-c", LOAD], env=installation.variables, check=True)
