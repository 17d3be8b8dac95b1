"""Where mypy is configured, and what it is to check."""

from __future__ import annotations

import pytest

from tests.engine.gating.test_recipes import part_in
from tests.tables import check_rows
from verification.engine.gating.components import Language
from verification.engine.gating.manifests import MAX_LINE_BYTES
from verification.engine.gating.recipe_python_types import MAX_CHECKS
from verification.engine.gating.stages import TYPES, Stage

MARKER = {"requirements.txt": ""}


def types_in(files: dict[str, str]) -> Stage:
    stages = part_in(Language.PYTHON, MARKER | files).stages
    return next(one for one in stages if one.gate == TYPES)


@check_rows(
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
    ("paths", "checks"),
    [
        (["conftest.py", "tests/__init__.py", "tests/conftest.py"], []),
        (["p/__init__.py", "p/sub/x.py", "p/other/x.py"], []),
        (["a/util.py", "venv/util.py"], []),
        (["a/x.py", "a/x.pyi"], []),
        (["a/conftest.py", "b/conftest.py"], [r". --exclude '^b/[^/]+$'", "b"]),
        (["conftest.py", "a/b/conftest.py", "a/conftest.py"],
         [r". --exclude '^a/[^/]+$' --exclude '^a/b/[^/]+$'", r"a --exclude '^a/b/[^/]+$'", "a/b"]),
        (["p/__init__.py", "b/p/__init__.py", "b/p/c/x.py", "b/t/y.py"],
         [r". --exclude '^b/(?:[^/]+$|(?:p)/)'", r"b --exclude '^b/t/[^/]+$'"]),
        (["a b/x.py", "c/x.py", "c/y-z/x.py"],
         [r". --exclude '^c/[^/]+$' --exclude '^c/y\-z/[^/]+$'", r"c --exclude '^c/y\-z/[^/]+$'",
          "c/y-z"]),
    ],
)  # fmt: skip
def test_files_with_the_name_of_one_module_are_checked_apart(
    paths: list[str], checks: list[str]
) -> None:
    command = types_in({"mypy.ini": ""} | dict.fromkeys(paths, "")).command

    assert [one[6:] for one in command.splitlines() if one.startswith("check ")] == checks
    assert bool(checks) or " . >" in command


def test_where_too_many_have_the_name_of_one_module_it_is_told_that_some_were_left_out() -> None:
    many = {f"a{number:02}/x.py": "" for number in range(MAX_CHECKS + 1)}

    every, some = (
        types_in({"mypy.ini": "", **many}),
        types_in({"mypy.ini": "", **dict([*many.items()][1:])}),
    )

    assert "left out" in every.note
    assert some.note == ""
    assert every.command.count("\ncheck ") == some.command.count("\ncheck ") == MAX_CHECKS
