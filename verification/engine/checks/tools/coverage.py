"""Whether a command that succeeded did all that an earlier one was to do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from verification.engine.checks.tools.commands import Command, split_words


@dataclass(frozen=True, slots=True)
class Runner:
    """A program that works on targets, such as a test runner.

    `takes_all`: without a target it works on all there are, as with one of `all_targets`.
    `is_exact`: a folder is that folder alone, unless `/...` follows it.
    """

    valued: frozenset[str] = frozenset()
    """Options that have a value."""
    harmless: frozenset[str] = frozenset()
    """Options that change no result."""
    narrowing: frozenset[str] = frozenset()
    """Options that leave targets out."""
    widening: frozenset[str] = frozenset()
    """Options that leave out nothing, and may do more."""
    takes_all: bool = True
    all_targets: frozenset[str] = frozenset({".", "./"})
    is_exact: bool = False


def _runner(
    valued: str = "", harmless: str = "", narrowing: str = "", widening: str = "", **fields: Any
) -> Runner:
    usual = "-q -qq --quiet -v -vv -vvv --verbose --color --no-color --colors -s --silent"
    with_value = split_words(valued)
    harmless_words = (split_words(usual) - with_value) | split_words(harmless)
    return Runner(
        with_value, harmless_words, split_words(narrowing), split_words(widening), **fields
    )


_PYTEST = _runner(
    valued="-k -m -n -p -c -o -W --tb --maxfail --deselect --ignore --ignore-glob --durations"
    " --junitxml --junit-xml --rootdir --timeout --color --log-level --log-cli-level --dist"
    " --reruns --cov-report --cov-config --import-mode --override-ini --verbosity --capture"
    " --basetemp --confcutdir --show-capture -r --cov",
    harmless="-x --exitfirst -l --showlocals -n --dist --tb --maxfail --durations --color"
    " --no-header -r --cov"
    " --verbosity --capture --cache-clear --full-trace --junitxml --junit-xml --log-level"
    " --log-cli-level --cov-report --show-capture --ff --failed-first --nf --no-summary -p",
    narrowing="-k -m --lf --last-failed --sw --stepwise --deselect --ignore --ignore-glob",
)
_JEST = _runner(
    valued="-t --testNamePattern -c --config --maxWorkers -w --reporter --reporters --shard",
    harmless="-i --runInBand --ci --maxWorkers -w --reporter --reporters --run --bail --no-watch"
    " --watch=false --watchAll=false --no-coverage --no-cache",
    narrowing="-t --testNamePattern -o --onlyChanged --changed --shard --onlyFailures -f",
)
_SCRIPT = _runner(
    valued="-t --testNamePattern -w --workspace",
    harmless="-i --runInBand --ci --run --bail --watch=false --watchAll=false --no-coverage",
    narrowing="-t --testNamePattern -w --workspace -o --onlyChanged",
)
_LINT = _runner(
    valued="--config -c --output-format --format -f",
    harmless="--output-format --format -f --no-cache",
    widening="--fix",
)
RUNNERS: dict[str, Runner] = {
    "pytest": _PYTEST,
    "unittest": _runner(
        valued="-k -s -p -t",
        harmless="-f --failfast -b --buffer",
        narrowing="-k -s -p",
        all_targets=frozenset({"discover"}),
    ),
    "jest": _JEST,
    "vitest": _JEST,
    "vitest run": _JEST,
    "mocha": _runner(
        valued="-g --grep -f --fgrep -R --reporter",
        harmless="-R --reporter -b --bail",
        narrowing="-g --grep -f --fgrep",
    ),
    **dict.fromkeys(("npm test", "yarn test", "pnpm test", "bun test"), _SCRIPT),
    "go test": _runner(
        valued="-run -count -timeout -p",
        harmless="-count -failfast -timeout -p -json",
        narrowing="-run -short",
        takes_all=False,
        all_targets=frozenset({"./...", "..."}),
        is_exact=True,
    ),
    "cargo test": _runner(
        valued="-p --package -j --jobs",
        harmless="-j --jobs --no-fail-fast --nocapture",
        narrowing="-p --package --lib --bins --doc",
        widening="--workspace --all",
    ),
    "rspec": _runner(
        valued="-e --example -f --format",
        harmless="-f --format --fail-fast",
        narrowing="-e --example --only-failures --next-failure",
    ),
    "phpunit": _runner(
        valued="--filter --group", harmless="--testdox", narrowing="--filter --group"
    ),
    "tox": _runner(valued="-e", narrowing="-e"),
    "nox": _runner(valued="-s", narrowing="-s"),
    **dict.fromkeys(("ruff check", "mypy", "pyright", "eslint", "flake8", "tsc"), _LINT),
    "make": _runner(valued="-j", harmless="-j -k", takes_all=False, all_targets=frozenset()),
}
_PLACE = re.compile(r"(?::\d+)+$")
_SETTING = re.compile(r"\w+=")
_HERE = "$"
"""Stands below a folder that is meant without what lies in it."""


@dataclass(frozen=True, slots=True)
class _Job:
    targets: tuple[tuple[str, ...], ...]
    options: frozenset[str]


def covers(later: Command, failed: Command) -> bool:
    """Return whether the success of `later` says that `failed` would succeed too."""
    if later.program != failed.program:
        return False
    runner = RUNNERS.get(later.program)
    if runner is None:
        return later.arguments == failed.arguments and _are_alike(later.folder, failed.folder)
    if not _reaches(later.folder, failed.folder):
        return False
    if later.arguments == failed.arguments and _are_alike(later.folder, failed.folder):
        return True
    done, wanted = _job(later, runner), _job(failed, runner)
    lost = {_name(option) for option in wanted.options - done.options} - runner.narrowing
    extra = {_name(option) for option in done.options - wanted.options} - runner.widening
    if extra or lost:
        return False
    if done.targets == wanted.targets and _are_alike(later.folder, failed.folder):
        return True
    below = _parts(failed.folder)[len(_parts(later.folder)) :] if later.folder else ()
    if () in done.targets or (not done.targets and runner.takes_all):
        return True
    return bool(wanted.targets) and all(
        any((*below, *target)[: len(part)] == part for part in done.targets)
        for target in wanted.targets
    )


def _are_alike(folder: str, other: str) -> bool:
    """Return whether two folders may be the same: a shell may have been in one of them before."""
    parts, others = _parts(folder), _parts(other)
    shorter = min(len(parts), len(others))
    return not shorter or parts[-shorter:] == others[-shorter:]


def _reaches(folder: str, other: str) -> bool:
    """Return whether the work in `folder` may include what lies in `other`."""
    if folder and not other:
        return folder.startswith("/")  # any other folder is probably a part of the workspace
    parts = _parts(folder)
    return _are_alike(folder, other) or _parts(other)[: len(parts)] == parts


def _job(command: Command, runner: Runner) -> _Job:
    targets: list[tuple[str, ...]] = []
    options: set[str] = set()
    arguments = list(reversed(command.arguments))
    while arguments:
        argument = arguments.pop()
        option, has_value, value = argument.partition("=")
        if _SETTING.match(argument):
            options.add(argument)
        elif not argument.startswith("-"):
            targets.append(_target(argument, runner))
        elif not has_value and option in runner.valued:
            has_next = bool(arguments) and not arguments[-1].startswith("-")
            value = arguments.pop() if has_next else ""
            if option not in runner.harmless:
                options.add(f"{option}={value}")
        elif option[:2] in runner.valued and not option.startswith("--"):
            if option[:2] not in runner.harmless:
                options.add(f"{option[:2]}={argument[2:].removeprefix('=')}")
        elif not (
            argument == "--"
            or {option, argument} & runner.harmless
            or _are_harmless_letters(option, runner)
        ):
            options.add(f"{option}={value}")
    return _Job(tuple(targets), frozenset(options))


def _target(argument: str, runner: Runner) -> tuple[str, ...]:
    if argument in runner.all_targets:
        return ()
    parts = _parts(argument)
    return parts if not runner.is_exact or argument.endswith("...") else (*parts, _HERE)


def _are_harmless_letters(option: str, runner: Runner) -> bool:
    """Return whether an option is several short ones, such as `-xvs`."""
    return option[1:].isalpha() and all(f"-{letter}" in runner.harmless for letter in option[1:])


def _name(option: str) -> str:
    return option.partition("=")[0]


def _parts(target: str) -> tuple[str, ...]:
    """`tests/a.py::test_b` as its steps, so that what lies below begins with what is above."""
    path = _PLACE.sub("", target).removesuffix("/...")
    return tuple(part for part in re.split(r"/|::", path) if part not in ("", "."))
