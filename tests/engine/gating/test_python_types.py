"""Where mypy is configured, and what it is to check."""

from __future__ import annotations

import pytest

from tests.engine.gating.test_recipes import part_in
from verification.engine.gating.components import Language
from verification.engine.gating.manifests import MAX_LINE_BYTES
from verification.engine.gating.stages import TYPES, Stage

MARKER = {"requirements.txt": ""}


def types_in(files: dict[str, str]) -> Stage:
    stages = part_in(Language.PYTHON, MARKER | files).stages
    return next(one for one in stages if one.gate == TYPES)


@pytest.mark.parametrize(
    ("files", "is_asked", "is_everything"),
    [
        ({}, False, False),
        ({"mypy.ini": ""}, True, True),
        ({".mypy.ini": "[mypy]\nstrict = true\n"}, True, True),
        ({"mypy.ini": "[mypy]\nfiles = src\n"}, True, False),
        ({".mypy.ini": "[mypy]\npackages = a\n"}, True, False),
        ({"setup.cfg": "[mypy]\nstrict = true\n"}, True, True),
        ({"setup.cfg": "[mypy]\nfiles = %(x)s\n"}, True, False),
        ({"setup.cfg": "[metadata]\nname = a\n"}, False, False),
        ({"setup.cfg": "[mypy"}, False, False),
        ({"setup.cfg": f"[mypy]\na = {'x' * MAX_LINE_BYTES}\n"}, False, False),
        ({"pyproject.toml": "[tool.mypy]\nmodules = ['a']\n"}, True, False),
        ({"pyproject.toml": "[tool.mypy]\n", "setup.cfg": "[mypy]\nfiles = a\n"}, True, True),
    ],
)
def test_mypy_is_asked_where_any_of_its_files_says_so(
    files: dict[str, str], is_asked: bool, is_everything: bool
) -> None:
    stage = types_in(files)

    assert bool(stage.command) is is_asked
    assert (" . >" in stage.command) is is_everything


@pytest.mark.parametrize(
    ("paths", "left_out"),
    [
        (["a/conftest.py", "b/conftest.py"], [r"^b/conftest\.py$"]),
        (["conftest.py", "a/b/conftest.py", "a/conftest.py"],
         [r"^a/conftest\.py$", r"^a/b/conftest\.py$"]),
        (["conftest.py", "tests/__init__.py", "tests/conftest.py"], []),
        (["a/util.py", "venv/util.py"], []),
        (["p/__init__.py", "b/p/__init__.py"], [r"^b/p/__init__\.py$"]),
    ],
)  # fmt: skip
def test_of_files_with_the_name_of_one_module_one_is_checked(
    paths: list[str], left_out: list[str]
) -> None:
    command = types_in({"mypy.ini": ""} | dict.fromkeys(paths, "")).command

    given = "".join(f" --exclude '{one}'" for one in left_out)
    assert f" .{given} >" in command
