"""Python: pip, compileall, mypy where it is configured, pytest, ruff."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace

from verification.engine.gating.components import Component, Language, Read
from verification.engine.gating.manifests import toml_table
from verification.engine.gating.python_django import is_tried_by_django
from verification.engine.gating.recipe_python_install import install_of
from verification.engine.gating.recipe_python_types import types_of
from verification.engine.gating.stages import (
    BUILD,
    COVERAGE,
    LINT,
    NO_ENTRY_POINT,
    REPORT,
    TEST,
    TOOLS,
    TRAILER,
    Cover,
    Expected,
    Part,
    Stage,
    deps_of,
)
from verification.engine.reports.coverage import CoverageFormat
from verification.engine.reports.problems import ProblemFormat
from verification.engine.reports.testing import TestFormat

NOT_BUILT = r"/(?:\.[^/]+|venv|node_modules|site-packages|vendor|templates?|testdata|fixtures|[^/]*[{][{][^/]*)/"
"""Files that are not the work's own, or are there to be broken."""
MEMBERS = "Its members are tried on their own."
_BY_PYTEST = Stage(
    TEST,
    f"python3 -P {TOOLS}/run_pytest.py -o cache_dir=/tmp/loomverify.pytest --maxfail=0 "
    f'--junitxml "{REPORT}"',
    Expected(TestFormat.JUNIT),
    trailer=TRAILER,
    cover=Cover("run_pytest.py", f'--lines "{COVERAGE}"', CoverageFormat.COVERAGE_PY),
)
_BY_DJANGO = Stage(
    TEST,
    f"python3 -P {TOOLS}/run_unittest.py manage.py test --noinput",
    Expected(TestFormat.JUNIT),
    trailer=TRAILER,
)


def python(component: Component, paths: Sequence[str], read: Read) -> Part:
    project = toml_table(read(component.path("pyproject.toml")))
    stages = (
        Stage(BUILD, f"python3 -I -m compileall -q -x '{NOT_BUILT}' ."),
        types_of(component, paths, read, project),
        Stage(
            LINT,
            f'{TOOLS}/bin/ruff check --no-cache --output-format json -o "{REPORT}" .',
            Expected(ProblemFormat.RUFF),
            is_apart=True,
        ),
        _BY_DJANGO if is_tried_by_django(component, paths, read) else _BY_PYTEST,
        NO_ENTRY_POINT,
    )
    bin_folder = f"{deps_of(component)}/bin"
    return Part(
        component,
        install_of(component, paths, read, project),
        stages,
        environment={
            "PATH": f"{bin_folder}:/usr/local/bin:/usr/bin:/bin",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
        },
    )


def without_inner(part: Part, components: Sequence[Component], paths: Sequence[str]) -> Part:
    """Tests of components below are tried there, with what those need."""
    component = part.component
    start = component.path("")
    inner = sorted(
        one.folder.removeprefix(start)
        for one in components
        if one.language is component.language and one.folder.startswith(start) and one != component
    )
    if component.language is not Language.PYTHON or not inner:
        return part
    below = tuple(f"{start}{one}/" for one in inner)
    own = (one for one in component.all_of(paths) if not one.startswith(below))
    if not any(one.endswith(".py") for one in own):
        test = Stage(TEST, skipped=MEMBERS)
    else:
        ignored = " ".join(f"--ignore {shlex.quote(one)}" for one in inner)
        test = replace(_BY_PYTEST, command=f"{_BY_PYTEST.command} {ignored}")
    return replace(part, stages=tuple(test if one == _BY_PYTEST else one for one in part.stages))
