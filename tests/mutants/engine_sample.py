"""A fixed sample of 500 mutants of the engine, each tried by the engine's own tests.

    python -m tests.mutants.engine_sample build/engine-sample.jsonl

`engine_sample.txt` lists the mutants by mutmut's names. A mutant is tried by the tests of
`tests/engine` that cover the mutated function, up to the first that fails. Each outcome is one
line of the results file; a mutant that has a line there is not tried again. Needs neither
PostgreSQL nor Django.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import gc
import hashlib
import json
import multiprocessing
import os
import pickle
import resource
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

import coverage
import hypothesis
import libcst as cst
import pytest
from mutmut.mutation.file_mutation import Mutation, create_mutations, group_by_top_level_node
from mutmut.mutation.trampoline_templates import mangle_function_name

from tests.mutants.generated import is_prose, meaning_of
from tests.mutants.mutant import ENGINE, Mutant
from tests.mutants.running import ChangedModule

ROOT = ENGINE.parents[1]
TESTS = ROOT / "tests" / "engine"
SAMPLE = Path(__file__).with_name("engine_sample.txt")
SAMPLE_SIZE = 500
PROGRAM = ("verification", "processes", "tests.engine")
"""Imported anew for each mutant."""
FIRST_FILES = 6
"""Test files of the first round: where one of them fails, the others are not even imported."""
MIN_SECONDS = 20
"""How long each test may take at least; slow tests may take ten times as long as usual."""
START_SECONDS = 200
MAX_MEMORY_BYTES = 6 * 1024**3
PYTEST_OPTIONS = (
    *("-c", os.devnull, f"--rootdir={ROOT}", "--noconftest", "--import-mode=importlib"),
    *("-q", "-x", "-p", "no:cacheprovider", "-p", "no:faulthandler"),
)


class Outcome(StrEnum):
    KILLED = "killed"
    TIMED_OUT = "timed out"
    CRASHED = "crashed"
    SURVIVED = "survived"
    NOT_COVERED = "not covered"


@dataclass(frozen=True, slots=True)
class Result:
    """`by` is the test that failed, or the test file that could not be imported."""

    mutant: str
    outcome: Outcome
    by: str
    seconds: float


@dataclass(frozen=True, slots=True)
class CoverageMap:
    """The test functions that cover each function of the engine, both without parameters.

    `seconds` is the time of the slowest item of a test function, `digest` that of the engine and
    its tests.
    """

    digest: str
    tests: Mapping[str, Sequence[str]]
    seconds: Mapping[str, float]

    def files_of(self, tests: Iterable[str]) -> list[str]:
        """Return the files of these tests; those that cover the fewest functions come first."""
        width = Counter(file_of(test) for covering in self.tests.values() for test in covering)
        return sorted({file_of(test) for test in tests}, key=lambda file: width[file])


def file_of(test: str) -> str:
    return test.partition("::")[0]


# ------------------------------------------------------------------ mutants


@dataclass(frozen=True, slots=True)
class Place:
    """One mutation; `function` is `path:name` or `path:Class.name`."""

    function: str
    mutation: Mutation


@lru_cache(maxsize=2)
def places_of(path: Path) -> tuple[cst.Module, Mapping[str, Place]]:
    """Return the mutations of a file by mutmut's names."""
    module, mutations, *_ = create_mutations(str(path), path.read_text(encoding="utf-8"))
    groups = group_by_top_level_node(mutations)
    file = path.relative_to(ROOT)
    dotted = ".".join(file.with_suffix("").parts).removesuffix(".__init__")
    places = {}
    for owner, function in functions_of(module):
        mangled = mangle_function_name(name=function.name.value, class_name=owner or None)
        qualified = f"{owner}.{function.name.value}" if owner else function.name.value
        for number, mutation in enumerate(groups.get(function, ()), start=1):
            places[f"{dotted}.{mangled}__mutmut_{number}"] = Place(f"{file}:{qualified}", mutation)
    return module, places


def functions_of(module: cst.Module) -> Iterator[tuple[str, cst.FunctionDef]]:
    """Yield functions and methods, each with the name of its class or ''."""
    for statement in module.body:
        if isinstance(statement, cst.FunctionDef):
            yield "", statement
        elif isinstance(statement, cst.ClassDef) and isinstance(statement.body, cst.IndentedBlock):
            for method in statement.body.body:
                if isinstance(method, cst.FunctionDef):
                    yield statement.name.value, method


def mutant_of(name: str) -> tuple[Mutant, str]:
    """Return the mutant of this name and the function it changes.

    Raises:
        KeyError: The engine has no such mutant any more.
    """
    path = path_of(name)
    module, places = places_of(path)
    place = places[name]
    changed = module.deep_replace(place.mutation.original_node, place.mutation.mutated_node)
    assert isinstance(changed, cst.Module)
    return Mutant("engine", path, changed.code, name), place.function


def path_of(name: str) -> Path:
    path = ROOT.joinpath(*name.split(".")[:-1])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def choose_sample() -> list[str]:
    """Choose the mutants whose names have the smallest digests.

    Prose is left out, and so are changes without a meaning.
    """
    names = [
        name
        for path in sorted(ENGINE.rglob("*.py"))
        for name, place in places_of(path)[1].items()
        if not is_prose(place.mutation.original_node)
    ]
    sample: list[str] = []
    for name in sorted(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest()):
        mutant, _ = mutant_of(name)
        if meaning_of(mutant.source) != meaning_of(mutant.path.read_text(encoding="utf-8")):
            sample.append(name)
        if len(sample) == SAMPLE_SIZE:
            break
    return sorted(sample)


# ------------------------------------------------------------------ tests and what they cover


class ContextPerTest:
    """Pytest plugin: coverage notes the test function that covers a line."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self.measured = measured
        self.seconds: dict[str, float] = defaultdict(float)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        test, began = without_parameters(item.nodeid), time.perf_counter()
        self.measured.switch_context(test)
        try:
            return (yield)
        finally:
            self.measured.switch_context("")
            self.seconds[test] = max(self.seconds[test], time.perf_counter() - began)


class FirstFailure:
    """Pytest plugin: keeps the first test that fails, or file that cannot be imported."""

    def __init__(self) -> None:
        self.failed = ""

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._keep(report)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._keep(report)

    def _keep(self, report: pytest.CollectReport | pytest.TestReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid


class SelectedTests:
    """Pytest plugin: runs these test functions alone, each within its time."""

    def __init__(self, tests: Iterable[str], seconds: Mapping[str, float]) -> None:
        self.tests = set(tests)
        self.seconds = seconds

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if without_parameters(item.nodeid) in self.tests]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        usual = self.seconds.get(without_parameters(nodeid), 0.0)
        signal.alarm(round(MIN_SECONDS + 10 * usual))


def without_parameters(nodeid: str) -> str:
    return nodeid.partition("[")[0]


def test_files() -> list[str]:
    """Return the test files of the pure engine.

    Tests of adapters start other processes, which never have the mutant.
    """
    return [
        str(path.relative_to(ROOT))
        for path in sorted(TESTS.rglob("test_*.py"))
        if "verification.adapters" not in path.read_text(encoding="utf-8")
    ]


def run_pytest(files: Sequence[str], *plugins: object, options: Sequence[str] = ()) -> int:
    # Shrinking an example takes minutes and changes no outcome.
    hypothesis.settings.register_profile(
        "mutants",
        database=None,
        deadline=None,
        derandomize=True,
        max_examples=50,
        phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
        suppress_health_check=[hypothesis.HealthCheck.too_slow],
    )
    hypothesis.settings.load_profile("mutants")
    return int(pytest.main([*PYTEST_OPTIONS, *options, *files], plugins=list(plugins)))


def coverage_map(cache: Path) -> CoverageMap:
    """Return the map of the cache, or a new one where the engine or its tests have changed."""
    digest = digest_of_program()
    if cache.exists():
        cached = CoverageMap(**json.loads(cache.read_text(encoding="utf-8")))
        if cached.digest == digest:
            return cached
    say("running every test once, to see which functions it covers")
    measured = in_child(lambda: measure_coverage(digest))
    if not isinstance(measured, CoverageMap):
        raise SystemExit(f"The tests fail with the engine as it is: {measured}")
    cache.write_text(json.dumps(asdict(measured)), encoding="utf-8")
    return measured


def digest_of_program() -> str:
    digest = hashlib.sha256()
    for folder in (ENGINE, ROOT / "processes" / "definition", TESTS):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def measure_coverage(digest: str) -> CoverageMap | str:
    """Run every test; return the first that fails instead of the map."""
    measured = coverage.Coverage(data_file=None, config_file=False, source=[str(ENGINE)])
    contexts, failure = ContextPerTest(measured), FirstFailure()
    forget_program()
    measured.start()
    run_pytest(test_files(), contexts, failure)
    measured.stop()
    if failure.failed:
        return failure.failed
    data = measured.get_data()
    tests = {}
    for path in sorted(ENGINE.rglob("*.py")):
        by_line = data.contexts_by_lineno(str(path))
        for name, lines in bodies_of(path):
            covering = {test for line in lines for test in by_line.get(line, ()) if test}
            tests[f"{path.relative_to(ROOT)}:{name}"] = sorted(covering)
    return CoverageMap(digest, tests, dict(contexts.seconds))


def bodies_of(path: Path) -> Iterator[tuple[str, range]]:
    """Yield functions and methods with the lines of their bodies."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    owners = [("", tree.body), *((f"{owner.name}.", owner.body) for owner in classes)]
    for prefix, body in owners:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield prefix + node.name, range(node.body[0].lineno, (node.end_lineno or 0) + 1)


# ------------------------------------------------------------------ trying a mutant


def try_mutant(name: str, covering: CoverageMap) -> Result:
    began = time.monotonic()
    try:
        mutant, function = mutant_of(name)
    except KeyError:
        raise SystemExit(
            f"The engine has no mutant {name} any more: choose a new sample."
        ) from None
    outcome, failed = Outcome.NOT_COVERED, ""
    if tests := covering.tests.get(function):
        outcome, failed = in_child(lambda: run_tests(mutant, tests, covering))
    return Result(name, outcome, failed, round(time.monotonic() - began, 2))


def run_tests(mutant: Mutant, tests: Sequence[str], covering: CoverageMap) -> tuple[Outcome, str]:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(START_SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    forget_program()
    sys.meta_path.insert(0, ChangedModule(mutant))
    failure = FirstFailure()
    files = covering.files_of(tests)
    for part in filter(None, (files[:FIRST_FILES], files[FIRST_FILES:])):
        run_pytest(part, SelectedTests(tests, covering.seconds), failure)
        if failure.failed:
            return Outcome.KILLED, failure.failed
    return Outcome.SURVIVED, ""


def forget_program() -> None:
    for name in [name for name in sys.modules if name.startswith(PROGRAM)]:
        del sys.modules[name]


def in_child(work: Callable[[], Any]) -> Any:
    """Do the work in a process of its own, which prints nothing.

    Returns:
        What the work returns; an outcome and '' where a signal ends the process.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            returned = work()
            signal.alarm(0)
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(pickle.dumps(returned))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        content = pipe.read()
    _, status = os.waitpid(child, 0)
    if content:
        return pickle.loads(content)  # noqa: S301 - written by our own child
    return (Outcome.TIMED_OUT if status == signal.SIGALRM else Outcome.CRASHED), ""


# ------------------------------------------------------------------ command


def main(argv: Sequence[str] | None = None) -> int:
    options = parse_options(argv)
    if options.choose:
        SAMPLE.write_text("".join(f"{name}\n" for name in choose_sample()), encoding="utf-8")
        return 0
    options.results.parent.mkdir(parents=True, exist_ok=True)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.chdir(ROOT)
    # What the program imports of others is imported here, once for all children.
    with contextlib.redirect_stdout(Path(os.devnull).open("w")):
        run_pytest(test_files(), options=["--collect-only"])
    covering = coverage_map(options.results.with_suffix(".map.json"))
    results = read_results(options.results)
    names = SAMPLE.read_text(encoding="utf-8").split()
    left = [name for name in names if name not in results]
    say(f"{len(left)} of {len(names)} mutants to try")
    gc.freeze()
    context = multiprocessing.get_context("fork")
    with (
        options.results.open("a", encoding="utf-8") as file,
        context.Pool(options.jobs, initializer=set_covering, initargs=(covering,)) as pool,
    ):
        for result in pool.imap_unordered(try_with_covering, left):
            results[result.mutant] = result
            file.write(f"{json.dumps(asdict(result))}\n")
            file.flush()
    report([results[name] for name in names])
    return 0


def parse_options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.mutants.engine_sample", description=__doc__)
    parser.add_argument("results", type=Path, nargs="?", default=Path("build/engine-sample.jsonl"))
    parser.add_argument("--jobs", type=int, default=1, help="mutants that are tried at once (1)")
    parser.add_argument("--choose", action="store_true", help="write the list of mutants anew")
    return parser.parse_args(argv)


_covering: CoverageMap


def set_covering(covering: CoverageMap) -> None:
    """Keep the map in a worker: it is too large to be sent with each mutant."""
    global _covering
    _covering = covering


def try_with_covering(name: str) -> Result:
    return try_mutant(name, _covering)


def read_results(path: Path) -> dict[str, Result]:
    if not path.exists():
        return {}
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {line["mutant"]: Result(**line) for line in lines}


def report(results: Sequence[Result]) -> None:
    counts = Counter(result.outcome for result in results)
    for result in results:
        if result.outcome in (Outcome.SURVIVED, Outcome.NOT_COVERED):
            say(f"{result.outcome:<12} {result.mutant}")
    say(", ".join(f"{counts[outcome]} {outcome}" for outcome in Outcome))


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
