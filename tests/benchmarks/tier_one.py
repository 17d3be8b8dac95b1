"""Tier 1 over a large workspace, compared with plain loops over the parsers."""

from __future__ import annotations

import ast
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import yaml

from processes.definition.model import Definition, Phase
from tests.benchmarks import workspace_files
from tests.benchmarks.environments import EmptyFolder
from tests.benchmarks.framework import Benchmark, Figures, Metric, Unit
from tests.benchmarks.timing import median_seconds_in_turns
from verification.adapters.probe import ChildProbe
from verification.engine.climb import Case, Ports, climb, conclude
from verification.engine.evidence import Submission, SubmittedFile, TaskSpec
from verification.engine.finding import Finding
from verification.engine.verifier import VerifierSpec

Lines = dict[str, int]
"""Line of the first syntax error by path."""


@dataclass(frozen=True, slots=True)
class Size:
    python: int
    json: int
    yaml: int
    rounds: int
    subprocesses: int
    single_rounds: int


@dataclass(frozen=True, slots=True)
class FolderWorkspace:
    root: Path

    def read(self, path: str) -> bytes:
        return (self.root / path).read_bytes()


def measure(folder: Path, size: Size) -> Figures:
    workspace = FolderWorkspace(folder)
    paths = workspace_files.write_files(
        folder, python_count=size.python, json_count=size.json, yaml_count=size.yaml
    )
    with closing(ChildProbe()) as probe:
        ports = Ports(workspace, probe, time.monotonic)
        case = _case(workspace, paths)
        tier_one, loop = math.inf, math.inf
        for _ in range(size.rounds):  # in turns, so that other load hits both
            seconds, lines = _timed(partial(_error_lines, case, ports))
            tier_one = min(tier_one, seconds)
            seconds, parser_lines = _timed(partial(_parser_lines, workspace, paths))
            loop = min(loop, seconds)
        subprocess_seconds = _subprocess_seconds(workspace, paths[: size.subprocesses])
        valid = paths[1]
        one_file, no_file = _case(workspace, [valid]), _case(workspace, [])
        with_file, without_file, parsing = median_seconds_in_turns(
            [
                lambda: _findings(one_file, ports),
                lambda: _findings(no_file, ports),
                lambda: ast.parse(workspace.read(valid)),
            ],
            size.single_rounds,
        )
    added = with_file - without_file
    return {
        "loop": loop / tier_one,
        "different": len(lines.items() ^ parser_lines.items()),
        "subprocess": subprocess_seconds * size.python / tier_one,
        "added": added,
        "added_to_parsing": added / parsing,
    }


BENCHMARK = Benchmark(
    name="tier-one",
    summary="Tier 1 over a workspace of many files",
    environment=EmptyFolder(),
    measure=measure,
    full=Size(python=1_000, json=200, yaml=200, rounds=4, subprocesses=100, single_rounds=200),
    smoke=Size(python=41, json=10, yaml=10, rounds=1, subprocesses=2, single_rounds=20),
    metrics=(
        Metric(
            "loop",
            "tier 1 over {python:,} .py, {json} .json, {yaml} .yaml: times faster than a loop of parsers",
            Unit.RATIO,
            at_least=8,
        ),
        Metric("different", "errors on other lines than the parsers'", Unit.COUNT, at_most=0),
        Metric(
            "subprocess",
            "times faster than an interpreter for each .py",
            Unit.RATIO,
            at_least=50,
        ),
        Metric("added", "time that a file of 6 kB adds", Unit.SECONDS, at_most=0.015),
        Metric(
            "added_to_parsing",
            "time that a file of 6 kB adds / ast.parse of the same file",
            Unit.RATIO,
            at_most=30,
        ),
    ),
)


def _case(workspace: FolderWorkspace, paths: list[str]) -> Case:
    files = [SubmittedFile(path, "", (workspace.root / path).stat().st_size) for path in paths]
    phase = Phase("write")
    return Case(
        definition=Definition(name="bench", phases=(phase,)),
        phase=phase,
        submission=Submission(TaskSpec("bench", "Write it."), "Done.", files=tuple(files)),
        verifier=VerifierSpec(),
        tier=1,
    )


def _findings(case: Case, ports: Ports) -> tuple[Finding, ...]:
    return tuple(conclude(case, list(climb(case, ports))).findings)


def _error_lines(case: Case, ports: Ports) -> Lines:
    lines: Lines = {}
    for finding in _findings(case, ports):
        assert finding.reason_code == "syntax_invalid", finding
        lines.setdefault(finding.path, finding.line or 0)
    return lines


def _parser_lines(workspace: FolderWorkspace, paths: list[str]) -> Lines:
    parsers: dict[str, Callable[[bytes], object]] = {
        ".py": ast.parse,
        ".json": json.loads,
        ".yaml": yaml.safe_load,
    }
    lines: Lines = {}
    for path in paths:
        try:
            parsers[Path(path).suffix](workspace.read(path))
        except SyntaxError as error:
            lines[path] = error.lineno or 0
        except json.JSONDecodeError as error:
            lines[path] = error.lineno
        except yaml.MarkedYAMLError as error:
            lines[path] = error.problem_mark.line + 1 if error.problem_mark else 0
    return lines


def _subprocess_seconds(workspace: FolderWorkspace, paths: list[str]) -> float:
    """Return the seconds of one file in an interpreter of its own."""
    program = "import ast, sys; ast.parse(open(sys.argv[1], 'rb').read())"
    began = time.perf_counter()
    for path in paths:
        with suppress(subprocess.CalledProcessError):
            subprocess.run(
                [sys.executable, "-c", program, str(workspace.root / path)],
                stderr=subprocess.DEVNULL,
                check=True,
            )
    return (time.perf_counter() - began) / len(paths)


def _timed(find_lines: Callable[[], Lines]) -> tuple[float, Lines]:
    began = time.perf_counter()
    lines = find_lines()
    return time.perf_counter() - began, lines
