"""Tier 1 over a large workspace, beside the plain loops that one would write without it."""

from __future__ import annotations

import ast
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import yaml

from processes.definition.model import Definition, Phase
from tests.benchmarks import corpus
from verification.adapters.probe import ChildProbe
from verification.engine.climb import Case, Ports, climb, conclude
from verification.engine.evidence import Submission, SubmittedFile, TaskSpec
from verification.engine.finding import Finding
from verification.engine.verifier import VerifierSpec

LOOP_TARGET = 8
SUBPROCESS_TARGET = 50
ADDED_TARGET_MS = 15
SUBPROCESSES = 100
ROUNDS = 5
SINGLES = 200

Places = dict[str, int]
"""Line of the first problem by path."""


@dataclass(frozen=True, slots=True)
class Folder:
    root: Path

    def read(self, path: str) -> bytes:
        return (self.root / path).read_bytes()


def rows() -> list[tuple[str, str, str, bool]]:
    with (
        tempfile.TemporaryDirectory(prefix="loomverify-bench-") as name,
        closing(ChildProbe()) as probe,
    ):
        folder = Folder(Path(name))
        paths = corpus.write(folder.root)
        ports = Ports(folder, probe, time.monotonic)
        ours, found = fastest(lambda: places(case(folder, paths), ports))
        loop, expected = fastest(lambda: looped(folder, paths), rounds=2)
        each = subprocess_seconds(folder, paths[:SUBPROCESSES])
        added = added_seconds(folder, ports, paths[1])
    by_loop, by_subprocess = loop / ours, each * 1000 / ours
    return [
        (
            "tier 1 over 1,000 .py, 200 .json, 200 .yaml: times faster than a loop of parsers",
            f"{by_loop:.1f}",
            f"at least {LOOP_TARGET}",
            by_loop >= LOOP_TARGET,
        ),
        (
            "the same files broken at the same lines",
            f"{sum(found.get(path) == line for path, line in expected.items())} of {len(expected)}",
            "all, and no other",
            found == expected,
        ),
        (
            "times faster than a subprocess for each .py",
            f"{by_subprocess:.0f}",
            f"at least {SUBPROCESS_TARGET}",
            by_subprocess >= SUBPROCESS_TARGET,
        ),
        (
            "a file of 6 kB adds to the policy alone",
            f"{added * 1000:.1f} ms",
            f"under {ADDED_TARGET_MS} ms",
            added * 1000 < ADDED_TARGET_MS,
        ),
    ]


def case(folder: Folder, paths: list[str]) -> Case:
    files = [SubmittedFile(path, "", (folder.root / path).stat().st_size) for path in paths]
    phase = Phase("write")
    return Case(
        definition=Definition(name="bench", phases=(phase,)),
        phase=phase,
        submission=Submission(TaskSpec("bench", "Write it."), "Done.", files=tuple(files)),
        verifier=VerifierSpec(),
        tier=1,
    )


def findings(asked: Case, ports: Ports) -> tuple[Finding, ...]:
    return tuple(conclude(asked, list(climb(asked, ports))).findings)


def places(asked: Case, ports: Ports) -> Places:
    found: Places = {}
    for one in findings(asked, ports):
        assert one.reason_code == "syntax_invalid", one
        found.setdefault(one.path, one.line or 0)
    return found


def looped(folder: Folder, paths: list[str]) -> Places:
    parsers: dict[str, Callable[[bytes], object]] = {
        ".py": ast.parse,
        ".json": json.loads,
        ".yaml": yaml.safe_load,
    }
    found: Places = {}
    for path in paths:
        try:
            parsers[Path(path).suffix](folder.read(path))
        except SyntaxError as error:
            found[path] = error.lineno or 0
        except json.JSONDecodeError as error:
            found[path] = error.lineno
        except yaml.MarkedYAMLError as error:
            found[path] = error.problem_mark.line + 1 if error.problem_mark else 0
    return found


def subprocess_seconds(folder: Folder, paths: list[str]) -> float:
    """Seconds for one file in an interpreter of its own."""
    program = "import ast, sys; ast.parse(open(sys.argv[1], 'rb').read())"
    began = time.perf_counter()
    for path in paths:
        with suppress(subprocess.CalledProcessError):
            subprocess.run(
                [sys.executable, "-c", program, str(folder.root / path)],
                stderr=subprocess.DEVNULL,
                check=True,
            )
    return (time.perf_counter() - began) / len(paths)


def added_seconds(folder: Folder, ports: Ports, path: str) -> float:
    def median(paths: list[str]) -> float:
        asked = case(folder, paths)
        took = []
        for _ in range(SINGLES):
            began = time.perf_counter()
            findings(asked, ports)
            took.append(time.perf_counter() - began)
        return statistics.median(took)

    return median([path]) - median([])


def fastest(act: Callable[[], Places], *, rounds: int = ROUNDS) -> tuple[float, Places]:
    took = []
    for _ in range(rounds):
        began = time.perf_counter()
        found = act()
        took.append(time.perf_counter() - began)
    return min(took), found
