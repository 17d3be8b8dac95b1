"""Runs benchmarks one after the other and writes their table."""

from __future__ import annotations

import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.benchmarks.environments import missing_requirement
from tests.benchmarks.framework import Benchmark, BenchmarkRow, Status

MAX_ERROR_CHARS = 200
INTERRUPTED = 130
AnyBenchmark = Benchmark[Any, Any]


@dataclass(slots=True)
class Report:
    """Rows and seconds of the benchmarks that ended."""

    rows: list[BenchmarkRow] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    lap_start: float = field(default_factory=time.perf_counter)
    is_interrupted: bool = False

    @property
    def exit_code(self) -> int:
        if self.is_interrupted:
            return INTERRUPTED
        return int(any(row.status.fails_run for row in self.rows))

    def add(self, rows: Sequence[BenchmarkRow]) -> None:
        """Add rows, and write them to standard error as they come."""
        for row in rows:
            sys.stderr.write(f"{row.benchmark}: {row.label}: {row.value}\n")
        self.rows += rows

    def fail(self, benchmark: AnyBenchmark, error: Exception) -> None:
        lines = f"{type(error).__name__}: {error}".splitlines()
        text = lines[0][:MAX_ERROR_CHARS].replace("|", "\\|")
        self.add([BenchmarkRow(benchmark.name, benchmark.summary, text, "", Status.FAILED)])
        traceback.print_exception(error)

    def end_lap(self, benchmark: AnyBenchmark) -> None:
        """Count the time since the last call for this benchmark."""
        now = time.perf_counter()
        self.seconds[benchmark.name] = self.seconds.get(benchmark.name, 0) + now - self.lap_start
        self.lap_start = now

    def write(self) -> str:
        """Return the tables in Markdown."""
        lines = ["| benchmark | figure | measured | target | met |", "|---|---|---|---|---|"]
        lines += [
            f"| {row.benchmark} | {row.label} | {row.value} | {row.target} | {row.status} |"
            for row in self.rows
        ]
        lines += ["", "| benchmark | seconds |", "|---|---|"]
        lines += [f"| {name} | {seconds:.0f} |" for name, seconds in self.seconds.items()]
        lines += [f"| all | {sum(self.seconds.values()):.0f} |", ""]
        return "\n".join(lines)


def select(benchmarks: Sequence[AnyBenchmark], words: Sequence[str]) -> list[AnyBenchmark]:
    """Return the benchmarks whose name contains one of the words; without a word, all.

    Raises:
        LookupError: no name contains this word.
    """
    for word in words:
        if not any(word in benchmark.name for benchmark in benchmarks):
            raise LookupError(word)
    return [
        benchmark
        for benchmark in benchmarks
        if not words or any(word in benchmark.name for word in words)
    ]


def run(benchmarks: Sequence[AnyBenchmark], *, is_smoke: bool = False) -> Report:
    """Run each at full size in an environment of its own, and compare figures with targets.

    A smoke run uses the smallest sizes, shares equal environments and judges no figure. A
    benchmark that fails becomes a row; an interruption ends the run.
    """
    report = Report()
    groups = group_by_environment(benchmarks) if is_smoke else [[one] for one in benchmarks]
    try:
        for group in groups:
            _run_group(report, group, is_smoke=is_smoke)
    except KeyboardInterrupt:
        report.is_interrupted = True
    return report


def group_by_environment(benchmarks: Sequence[AnyBenchmark]) -> list[list[AnyBenchmark]]:
    """Put benchmarks together whose environments are equal and can be shared."""
    groups: dict[object, list[AnyBenchmark]] = {}
    for benchmark in benchmarks:
        environment = benchmark.environment
        key = environment if environment.is_shareable else benchmark.name
        groups.setdefault(key, []).append(benchmark)
    return list(groups.values())


def measure_rows(benchmark: AnyBenchmark, opened: Any, *, is_smoke: bool) -> list[BenchmarkRow]:
    size = benchmark.smoke if is_smoke else benchmark.full
    figures = benchmark.measure(opened, size)
    return benchmark.rows(size, figures, is_judged=not is_smoke)


def _run_group(report: Report, group: Sequence[AnyBenchmark], *, is_smoke: bool) -> None:
    environment = group[0].environment
    if reason := missing_requirement(environment.requirements):
        report.add(
            [BenchmarkRow(one.name, one.summary, reason, "", Status.SKIPPED) for one in group]
        )
        return
    waiting = list(group)
    try:
        with (
            tempfile.TemporaryDirectory(prefix="loomverify-bench-") as folder,
            environment.open(Path(folder)) as opened,
        ):
            while waiting:
                benchmark = waiting.pop(0)
                try:
                    report.add(measure_rows(benchmark, opened, is_smoke=is_smoke))
                except Exception as error:
                    report.fail(benchmark, error)
                report.end_lap(benchmark)
    except Exception as error:  # the environment did not start, or did not stop
        for benchmark in waiting or group[-1:]:
            report.fail(benchmark, error)
    report.end_lap(group[-1])
