"""Run the tests: `python -m tests [--tier quick|extended] [--engine] [--record] [PYTEST ARGUMENTS]`.

Without arguments it runs what `make test` runs. Arguments that narrow it run tests of both tiers.
`--engine`, or paths of the pure tests alone, run without Django, PostgreSQL and the plugins that
start them. A few files run in one process, everything else in one for each processor.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

PURE = (Path("tests/engine"), Path("tests/processes/definition"))
PURE_PLUGINS = ("xdist.plugin", "pytest_timeout", "_hypothesis_pytestplugin", "tests.plugin")
PURE_OPTIONS = "-rfE --strict-markers --strict-config --import-mode=importlib"
FILES_FOR_ONE_PROCESS = 3
# The tests of a file share what they start: an installation, a browser.
BY_FILE = ("--dist", "loadscope", "--no-loadscope-reorder")


def main(arguments: list[str]) -> int:
    if "--engine" in arguments:
        arguments.remove("--engine")
        arguments += [] if _paths(arguments) else [*map(str, PURE), "--tier", "quick"]
    if not [argument for argument in arguments if argument != "--record"]:
        arguments += ["--tier", "quick", "--behaviours"]
    if "extended" in arguments:
        arguments += ["--hypothesis-seed", "1"]
    paths = _paths(arguments)
    options = [*_processes(paths), *BY_FILE, *arguments]
    if paths and all(_is_pure(path) for path in paths):
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        plugins = [option for name in PURE_PLUGINS for option in ("-p", name)]
        options = ["-o", f"addopts={PURE_OPTIONS}", *plugins, *options]
    return pytest.main(options)


def _paths(arguments: list[str]) -> list[Path]:
    paths = (Path(argument.partition("::")[0]) for argument in arguments)
    return [path for path in paths if path.exists()]


def _processes(paths: list[Path]) -> tuple[str, str]:
    few = paths and len(paths) <= FILES_FOR_ONE_PROCESS and all(path.is_file() for path in paths)
    return ("-n", "0" if few else "auto")


def _is_pure(path: Path) -> bool:
    return any(path.resolve().is_relative_to(pure.resolve()) for pure in PURE)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
