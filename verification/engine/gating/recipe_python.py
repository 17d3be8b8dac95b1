"""Python: pip, compileall, mypy where it is configured, pytest, ruff."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from verification.engine.gating.components import Component, Read
from verification.engine.gating.manifests import inner_table, toml_table
from verification.engine.gating.requirements import is_local, requirements_files
from verification.engine.gating.stages import (
    BUILD,
    COVERAGE,
    LINT,
    NO_ENTRY_POINT,
    REPORT,
    TEST,
    TYPES,
    Cover,
    Expected,
    Install,
    Part,
    Stage,
    deps_of,
)
from verification.engine.reports.coverage import CoverageFormat
from verification.engine.reports.problems import ProblemFormat
from verification.engine.reports.testing import TestFormat

TOOLS = "/opt/loomverify"
NOT_BUILT = r"/(?:\.[^/]+|venv|node_modules|site-packages|vendor|templates?|testdata|fixtures)/"
"""Files that are not the work's own, or are there to be broken."""
TRAILER = "loomverify: the test runner came to its end"
MAX_REQUIREMENTS = 300
MAX_REQUIREMENTS_CHARS = 60_000
"""A longer command could not be executed: a kernel takes 128 KiB."""
_REQUIREMENT = re.compile(r"[A-Za-z0-9][^\x00-\x1f\x7f]{0,300}")
_GROUPS = ("test", "tests", "testing", "dev")


def python(component: Component, paths: Sequence[str], read: Read) -> Part:
    project = toml_table(read(component.path("pyproject.toml")))
    requirements = requirements_files(component.path("requirements.txt"), paths, read)
    if is_local(requirements, read):
        requirements = component.all_of(paths)
    stages = (
        Stage(BUILD, f"python3 -I -m compileall -q -x '{NOT_BUILT}' ."),
        _types(component, paths, project),
        Stage(
            LINT,
            f'{TOOLS}/bin/ruff check --no-cache --output-format json -o "{REPORT}" .',
            Expected(ProblemFormat.RUFF),
            is_apart=True,
        ),
        Stage(
            TEST,
            f'python3 -P {TOOLS}/run_pytest.py -p no:cacheprovider --maxfail=0 --junitxml "{REPORT}"',
            Expected(TestFormat.JUNIT),
            trailer=TRAILER,
            cover=Cover("run_pytest.py", f'--lines "{COVERAGE}"', CoverageFormat.COVERAGE_PY),
        ),
        NO_ENTRY_POINT,
    )
    bin_folder = f"{deps_of(component)}/bin"
    return Part(
        component,
        _install(component, requirements, project),
        stages,
        environment={
            "PATH": f"{bin_folder}:/usr/local/bin:/usr/bin:/bin",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
        },
    )


def _install(
    component: Component, requirements: Sequence[str], project: Mapping[str, Any]
) -> Install:
    """What its files name; nothing of the work itself is run or read."""
    folder = deps_of(component)
    prepare = f"python3 -m venv {folder}"
    base = f"{prepare} && {folder}/bin/python -m pip install --no-input"
    if requirements:
        return Install(f"{base} -r requirements.txt", tuple(requirements), prepare)
    named = " ".join(islice(map(shlex.quote, _named(project)), MAX_REQUIREMENTS))
    if not named or len(named) > MAX_REQUIREMENTS_CHARS:
        return Install(prepare=prepare)
    return Install(f"{base} {named}", prepare=prepare)


def _named(project: Mapping[str, Any]) -> Iterator[str]:
    table = inner_table(project, "project")
    yield from _requirements(table.get("dependencies"))
    for owner in (
        inner_table(table, "optional-dependencies"),
        inner_table(project, "dependency-groups"),
    ):
        for group in _GROUPS:
            yield from _requirements(owner.get(group))


def _requirements(value: object) -> Iterator[str]:
    for one in value if isinstance(value, list) else ():
        # An option, a path or a line break would be more than a requirement.
        if isinstance(one, str) and _REQUIREMENT.fullmatch(one):
            yield one


def _types(component: Component, paths: Sequence[str], project: Mapping[str, Any]) -> Stage:
    is_asked = "mypy" in inner_table(project, "tool") or component.path("mypy.ini") in paths
    if not is_asked:
        return Stage(TYPES, skipped="No type checker is configured.")
    own = inner_table(inner_table(project, "tool"), "mypy")
    where = "" if {"files", "packages", "modules"} & {*own} else "."
    return Stage(
        TYPES,
        f'{TOOLS}/bin/mypy --output json --python-executable "$(command -v python3)" '
        f'--cache-dir /dev/null {where} > "{REPORT}"',
        Expected(ProblemFormat.MYPY),
    )
