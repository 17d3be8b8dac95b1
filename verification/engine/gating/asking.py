"""Tools that the table does not run, named by somebody: asked for the report a machine can read."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from verification.engine.gating.components import Language
from verification.engine.gating.recipe_python_types import MYPY
from verification.engine.gating.runners import REST
from verification.engine.gating.stages import (
    LINT,
    REPORT,
    TEST,
    TOOLS,
    TRAILER,
    TYPES,
    Expected,
    Stage,
    Stream,
)
from verification.engine.reports.problems import ProblemFormat
from verification.engine.reports.testing import TestFormat

ARGUMENTS = "ARGUMENTS"


@dataclass(frozen=True, slots=True)
class _Tool:
    """`called` so, it is run as `told`, with its arguments where that says so.

    Every argument must be `fine`: none moves the report, or says another thing than problems or
    tests. `trailer` is the line that its runner ends with.
    """

    called: re.Pattern[str]
    told: str
    expected: Expected
    fine: re.Pattern[str]
    trailer: str = ""


def _tool(called: str, told: str, expected: Expected, fine: str, trailer: str = "") -> _Tool:
    return _Tool(
        re.compile(f"(?P<called>{called}){REST}"), told, expected, re.compile(fine, re.S), trailer
    )


_NAMES = r"(?![-@]).+"
_NAME = re.compile(_NAMES, re.DOTALL)
_BY_PYTHON = r"(?:python3?\s+-m\s+)?"
_UNITTEST = f"python3 -P {TOOLS}/run_unittest.py"
_FLAKE8 = (
    rf"--(?:max-[\w-]+|(?:extend-)?(?:select|ignore|exclude)|per-file-ignores|config|jobs|exit-zero|"
    rf"filename|isolated)(?:=.*)?|-j\d*|{_NAMES}"
)
_BANDIT = (
    rf"-(?:r|q|l+|i+)|--(?:recursive|quiet|exit-zero|severity-level|confidence-level|exclude|skip|"
    rf"tests|configfile|ini)(?:=.*)?|-[cxst]|{_NAMES}"
)
_MYPY = (
    rf"--(?:strict|config-file|ignore-missing-imports|package|module|explicit-package-bases|"
    rf"namespace-packages|no-incremental|disallow-[\w-]+|check-untyped-defs|warn-[\w-]+|no-error-summary|"
    rf"show-error-codes|python-version|follow-imports)(?:=.*)?|-[pm]|{_NAMES}"
)
_GOLANGCI = (
    rf"--(?:config|timeout|build-tags|enable|disable|enable-all|disable-all|fast|tests|concurrency|"
    rf"allow-parallel-runners|default|modules-download-mode)(?:=.*)?|-[cEDj]|{_NAMES}"
)
# Version 1 writes what it is asked for among its output, later ones into a file.
_ASK_GOLANGCI = (
    'case "$(golangci-lint --version)" in *" version 1."*|*" version v1."*) '
    f'golangci-lint run --out-format json {ARGUMENTS} > "{REPORT}" ;; '
    f'*) golangci-lint run --output.json.path "{REPORT}" {ARGUMENTS} ;; esac'
)
_TAP = Expected(TestFormat.TAP, Stream.OUT)
_TOOLS: Mapping[tuple[Language, str], Sequence[_Tool]] = {
    (Language.PYTHON, LINT): (
        _tool(
            f"{_BY_PYTHON}flake8",
            f'CALLED --format default --output-file "{REPORT}" {ARGUMENTS}',
            Expected(ProblemFormat.FLAKE8),
            _FLAKE8,
        ),
        _tool(
            f"{_BY_PYTHON}bandit",
            f'CALLED --format json --output "{REPORT}" {ARGUMENTS}',
            Expected(ProblemFormat.BANDIT),
            _BANDIT,
        ),
    ),
    (Language.PYTHON, TYPES): (
        _tool(
            f"{_BY_PYTHON}mypy",
            f'{MYPY} {ARGUMENTS} > "{REPORT}"',
            Expected(ProblemFormat.MYPY),
            _MYPY,
        ),
    ),
    (Language.PYTHON, TEST): (
        _tool(
            r"python3?\s+-m\s+unittest",
            f"{_UNITTEST} -m unittest {ARGUMENTS}",
            Expected(TestFormat.JUNIT),
            rf"-[vqbf]+|-[sptk]|--(?:verbose|quiet|buffer|failfast|start-directory|pattern|"
            rf"top-level-directory)(?:=.*)?|{_NAMES}",
            TRAILER,
        ),
        _tool(
            r"(?:python3?\s+)?(?:\./)?manage\.py\s+test",
            f"{_UNITTEST} manage.py test {ARGUMENTS}",
            Expected(TestFormat.JUNIT),
            rf"-[vktp]|-v\s?\d|--(?:verbosity|noinput|no-input|failfast|keepdb|settings|tag|exclude-tag|"
            rf"pattern|parallel|shuffle|reverse|force-color|no-color|traceback)(?:=.*)?|{_NAMES}",
            TRAILER,
        ),
    ),
    (Language.GO, LINT): (
        _tool(r"golangci-lint\s+run", _ASK_GOLANGCI, Expected(ProblemFormat.GOLANGCI), _GOLANGCI),
    ),
}
_BATS = _tool(
    r"bats",
    f"CALLED --tap {ARGUMENTS}",
    _TAP,
    rf"-[rfj]|--(?:recursive|filter|jobs|no-tempdir-cleanup|abort)(?:=.*)?|{_NAMES}",
)


def asked(stage: Stage, language: Language, command: str) -> Stage | None:
    """Somebody's one command, told to report; None where no tool is known by it."""
    tools = _TOOLS.get((language, stage.gate), ())
    for tool in (*tools, _BATS) if stage.gate == TEST else tools:
        match = tool.called.fullmatch(command.strip())
        if match:
            return _told(stage, tool, match)
    return None


def _told(stage: Stage, tool: _Tool, match: re.Match[str]) -> Stage | None:
    """Behind a `--` stand names alone: without it they are what they were."""
    try:
        said = shlex.split(match["rest"])
    except ValueError:
        return None
    options = list(takewhile(lambda one: one != "--", said))
    names = said[len(options) + 1 :]
    if not all(map(tool.fine.fullmatch, options)) or not all(map(_NAME.fullmatch, names)):
        return None
    command = tool.told.replace("CALLED", " ".join(match["called"].split()), 1)
    return Stage(
        stage.gate,
        command.replace(ARGUMENTS, shlex.join([*options, *names])).strip(),
        tool.expected,
        seconds=stage.seconds,
        is_given=True,
        trailer=tool.trailer,
    )
