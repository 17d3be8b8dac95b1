"""Each benchmark at its smallest size: it runs, and gives a figure for each metric."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.benchmarks.framework import Benchmark, Environment, Status
from tests.benchmarks.registry import BENCHMARKS
from tests.benchmarks.runner import group_by_environment, measure_rows

pytestmark = [pytest.mark.extended, pytest.mark.timeout(300)]


def _cases() -> Iterator[Any]:
    """Yield each group with its number: the benchmarks of a group share an environment."""
    for number, group in enumerate(group_by_environment(BENCHMARKS)):
        environment = group[0].environment
        marks = [getattr(pytest.mark, name.value) for name in environment.requirements]
        for benchmark in group:
            yield pytest.param((number, environment), benchmark, id=benchmark.name, marks=marks)


@pytest.fixture(scope="module")
def opened(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    environment: Environment[Any]
    _, environment = request.param
    with environment.open(tmp_path_factory.mktemp("bench")) as opened:
        yield opened


@pytest.mark.parametrize(("opened", "benchmark"), list(_cases()), indirect=["opened"])
def test_a_benchmark_gives_a_figure_for_each_metric(
    opened: Any, benchmark: Benchmark[Any, Any]
) -> None:
    rows = measure_rows(benchmark, opened, is_smoke=True)

    assert len(rows) == len(benchmark.metrics)
    assert {(row.benchmark, row.status) for row in rows} == {(benchmark.name, Status.NO_TARGET)}
