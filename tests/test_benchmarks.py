from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.benchmarks import morning_report
from tests.benchmarks.__main__ import main
from tests.benchmarks.environments import EmptyFolder
from tests.benchmarks.framework import Benchmark, Figures, Metric, Requirement, Status, Unit
from tests.benchmarks.registry import BENCHMARKS
from tests.benchmarks.runner import Report, run
from tests.builders import make_project
from verification.actions.report import gathering


@dataclass(frozen=True)
class Size:
    runs: int


def make_benchmark(
    name: str = "made",
    measure: Callable[[Path, Size], Figures] = lambda _folder, _size: {"ratio": 2.0},
    *,
    metric: Metric | None = None,
    requirements: tuple[Requirement, ...] = (),
) -> Benchmark[Path, Size]:
    return Benchmark(
        name=name,
        summary=f"What {name} measures",
        environment=EmptyFolder(requirements),
        measure=measure,
        full=Size(1_000),
        smoke=Size(1),
        metrics=(metric or Metric("ratio", "{runs:,} runs", Unit.RATIO, at_most=3),),
    )


def fail(_folder: Path, _size: Size) -> Figures:
    raise AssertionError("537 of 1,000\nand more")


def interrupt(_folder: Path, _size: Size) -> Figures:
    raise KeyboardInterrupt


def statuses(report: Report) -> dict[str, Status]:
    return {row.benchmark: row.status for row in report.rows}


def test_the_benchmarks_start_without_a_project_of_their_own() -> None:
    process = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks", "list"], capture_output=True, env={}
    )

    assert (process.returncode, process.stderr) == (0, b"")
    names = [line.split()[0] for line in process.stdout.decode().splitlines()]
    assert names == [benchmark.name for benchmark in BENCHMARKS]
    assert len(set(names)) == len(names)


def test_an_unknown_name_ends_with_2_and_lists_the_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["latency", "no-such"]) == 2

    assert "no-such" in capsys.readouterr().err
    assert main(["list"]) == 0
    assert "latency-redis" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("metric", "value", "shown", "target", "status", "exit_code"),
    [
        (Metric("m", "m", Unit.RATIO, at_most=3), 2.0, "2.00", "at most 3", Status.MET, 0),
        (Metric("m", "m", Unit.RATIO, at_most=1.5), 7.91, "7.91", "at most 1.5", Status.MISSED, 1),
        (Metric("m", "m", Unit.RATIO, at_least=50), 115, "115", "at least 50", Status.MET, 0),
        (Metric("m", "m", Unit.SHARE, at_least=0.9), 0.8, "80%", "at least 90%", Status.MISSED, 1),
        (Metric("m", "m", Unit.COUNT, at_most=0), 0, "0", "at most 0", Status.MET, 0),
        (
            Metric("m", "m", Unit.SECONDS, at_most=0.06),
            0.857,
            "857 ms",
            "at most 60 ms",
            Status.MISSED_ABSOLUTE,
            0,
        ),
        (Metric("m", "m", Unit.SECONDS, at_most=20), 15.6, "15.6 s", "at most 20 s", Status.MET, 0),
        (Metric("m", "m", Unit.RATE), 1234.5, "1,234 a second", "", Status.NO_TARGET, 0),
    ],
)
def test_a_missed_ratio_fails_the_run_and_a_missed_absolute_target_does_not(
    metric: Metric, value: float, shown: str, target: str, status: Status, exit_code: int
) -> None:
    report = run([make_benchmark(measure=lambda _folder, _size: {"m": value}, metric=metric)])

    [row] = report.rows
    assert (row.value, row.target, row.status) == (shown, target, status)
    assert report.exit_code == exit_code


def test_a_failing_benchmark_is_one_row_and_the_others_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = run([make_benchmark("first", fail), make_benchmark("second")])

    assert statuses(report) == {"first": Status.FAILED, "second": Status.MET}
    assert report.exit_code == 1
    table = report.write().splitlines()
    assert "| first | What first measures | AssertionError: 537 of 1,000 |  | failed |" in table
    assert "| second | 1,000 runs | 2.00 | at most 3 | yes |" in table
    errors = capsys.readouterr().err
    assert "first: What first measures: AssertionError: 537 of 1,000\n" in errors
    assert 'raise AssertionError("537' in errors, "the traceback"


@pytest.mark.parametrize("figures", [{}, {"other": 1.0}, {"ratio": 0.0}, {"ratio": float("nan")}])
def test_figures_that_are_missing_or_no_plausible_numbers_fail(figures: Figures) -> None:
    report = run([make_benchmark(measure=lambda _folder, _size: figures)])

    assert statuses(report) == {"made": Status.FAILED}


def test_an_interrupted_run_keeps_what_is_measured() -> None:
    report = run([make_benchmark("first"), make_benchmark("second", interrupt)])

    assert statuses(report) == {"first": Status.MET}
    assert "first" in report.write()
    assert report.exit_code == 130


def test_a_benchmark_whose_requirement_is_missing_is_skipped_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")

    report = run([make_benchmark(measure=fail, requirements=(Requirement.REDIS,))])

    [row] = report.rows
    assert (row.status, row.value) == (Status.SKIPPED, "redis-server is not installed")
    assert report.exit_code == 0


def test_each_full_run_has_an_empty_environment_of_its_own() -> None:
    folders = []

    def measure(folder: Path, _size: Size) -> Figures:
        assert not list(folder.iterdir())
        (folder / "data").write_text("data")
        folders.append(folder)
        return {"ratio": 1.0}

    report = run([make_benchmark("first", measure), make_benchmark("second", measure)])

    assert set(statuses(report).values()) == {Status.MET}
    assert not any(folder.exists() for folder in folders)


def test_the_night_of_the_report_has_a_change_for_each_run(db: None) -> None:
    project = make_project()

    morning_report.fill(project, 20)

    night = gathering.report(project, morning_report.night_of(project))
    assert (night.runs, night.changes) == (20, 20)
