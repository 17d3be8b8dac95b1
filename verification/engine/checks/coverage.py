"""Whether a command that succeeded did all that an earlier one was to do."""

from __future__ import annotations

import re
from dataclasses import dataclass

from verification.engine.checks.commands import Command


@dataclass(frozen=True, slots=True)
class Runner:
    """A program that works on targets, such as a test runner.

    `takes_all`: without a target it works on all there are. `valued` options have a value,
    `harmless` ones change no result, `narrowing` ones leave targets out.
    """

    takes_all: bool = True
    valued: frozenset[str] = frozenset()
    harmless: frozenset[str] = frozenset()
    narrowing: frozenset[str] = frozenset()


def _runner(valued: str = "", harmless: str = "", narrowing: str = "") -> Runner:
    usual = "-q -qq --quiet -v -vv -vvv --verbose --color --no-color --colors -s --silent"
    words = (valued.split(), f"{usual} {harmless}".split(), narrowing.split())
    return Runner(True, *map(frozenset, words))


_PYTEST = _runner(
    valued="-k -m -n -p -c -o -W --tb --maxfail --deselect --ignore --ignore-glob --durations"
    " --junitxml --junit-xml --rootdir --timeout --color --log-level --log-cli-level --dist"
    " --reruns --cov-report --cov-config --import-mode --override-ini --verbosity --capture"
    " --basetemp --confcutdir --show-capture -r",
    harmless="-x --exitfirst -l --showlocals -n --dist --tb --maxfail --durations --no-header -r --cov"
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
_LINT = _runner(
    valued="--config -c --output-format --format -f",
    harmless="--output-format --format -f --no-cache",
)
RUNNERS: dict[str, Runner] = {
    "pytest": _PYTEST,
    "unittest": _runner(valued="-k -s -p -t", harmless="-f --failfast -b --buffer", narrowing="-k"),
    "jest": _JEST,
    "vitest": _JEST,
    "vitest run": _JEST,
    "mocha": _runner(valued="-g --grep -f --fgrep -R --reporter", harmless="-R --reporter -b --bail",
                     narrowing="-g --grep -f --fgrep"),
    **dict.fromkeys(("npm test", "yarn test", "pnpm test", "bun test"), _JEST),
    "go test": Runner(
        False, frozenset({"-run", "-count", "-timeout", "-p"}),
        frozenset({"-v", "-count", "-failfast", "-timeout", "-p", "-json"}),
        frozenset({"-run", "-short"}),
    ),
    "cargo test": _runner(valued="-p --package -j --jobs", harmless="-j --jobs --no-fail-fast",
                          narrowing="-p --package --lib --bins --doc"),
    "rspec": _runner(valued="-e --example -f --format", harmless="-f --format --fail-fast",
                     narrowing="-e --example --only-failures --next-failure"),
    "phpunit": _runner(valued="--filter --group", harmless="--testdox", narrowing="--filter --group"),
    "tox": _runner(valued="-e", narrowing="-e"),
    "nox": _runner(valued="-s", narrowing="-s"),
    **dict.fromkeys(("ruff check", "mypy", "pyright", "eslint", "flake8", "tsc"), _LINT),
    "make": Runner(False, frozenset({"-j"}), frozenset({"-j", "-s", "-k"})),
}  # fmt: skip
_PLACE = re.compile(r"(?::\d+)+$")
_ALL = frozenset({".", "./", "./...", "discover"})


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
    lost = wanted.options - done.options
    if done.options - wanted.options or any(_name(one) not in runner.narrowing for one in lost):
        return False
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
        if not argument.startswith("-"):
            targets.append(() if argument in _ALL else _parts(argument))
            continue
        option, has_value, value = argument.partition("=")
        if argument in runner.harmless or argument == "--":
            arguments = arguments[:-1] if argument in runner.valued else arguments
        elif not has_value and option in runner.valued:
            options.add(f"{option}={arguments.pop() if arguments else ''}")
        elif option[:2] in runner.valued and not option.startswith("--"):
            if option[:2] not in runner.harmless:
                options.add(f"{option[:2]}={argument[2:].removeprefix('=')}")
        elif option not in runner.harmless and not _are_harmless_letters(option, runner):
            options.add(f"{option}={value}")
    return _Job(tuple(targets), frozenset(options))


def _are_harmless_letters(option: str, runner: Runner) -> bool:
    """Return whether an option is several short ones, such as `-xvs`."""
    return option[1:].isalpha() and all(f"-{letter}" in runner.harmless for letter in option[1:])


def _name(option: str) -> str:
    return option.partition("=")[0]


def _parts(target: str) -> tuple[str, ...]:
    """`tests/a.py::test_b` as its steps, so that what lies below begins with what is above."""
    path = _PLACE.sub("", target).removesuffix("/...")
    return tuple(part for part in re.split(r"/|::", path) if part not in ("", "."))
