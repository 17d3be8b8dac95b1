from __future__ import annotations

from collections.abc import Mapping

import pytest

from verification.engine.checks.python_version import MAX_FILE_BYTES, PythonVersions
from verification.engine.fakes import MemoryWorkspace


def covers(files: Mapping[str, str], path: str = "src/a.py", since: str = "3.12") -> bool:
    workspace = MemoryWorkspace(files)
    return PythonVersions(workspace.files, workspace).cover(path, since)


@pytest.mark.parametrize(
    "files",
    [
        {"pyproject.toml": '[project]\nname = "a"\nrequires-python = ">=3.12"\n'},
        {"pyproject.toml": "[project]\nrequires-python = '>= 3.13, < 4'\n"},
        {"pyproject.toml": '[tool.poetry.dependencies]\npython = "^3.12"\n'},
        {"pyproject.toml": 'requires-python = "~=3.12.1"\n'},
        {"pyproject.toml": 'requires-python = "==3.14.*"\n'},
        {"setup.cfg": "[options]\npython_requires = >=3.12\n"},
        {"setup.py": "setup(python_requires='>=3.12')\n"},
        {"src/pyproject.toml": 'requires-python = ">=3.12"\n', "setup.cfg": "[x]\n"},
    ],
)
def test_a_project_that_needs_the_version_covers_its_syntax(files: dict[str, str]) -> None:
    assert covers(files)


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"pyproject.toml": 'requires-python = ">=3.11"\n'},
        {"pyproject.toml": 'requires-python = "<3.13"\n'},
        {"pyproject.toml": 'requires-python = ">3.11"\n'},
        {"pyproject.toml": 'python = "^3.12 || ^3.10"\n'},
        {"pyproject.toml": 'target-version = "py312"\n'},
        {"pyproject.toml": ""},
        {"other/pyproject.toml": 'requires-python = ">=3.12"\n'},
        {
            "src/pyproject.toml": 'requires-python = ">=3.11"\n',
            "pyproject.toml": 'requires-python = ">=3.12"\n',
        },
        {"pyproject.toml": 'requires-python = ">=3.12"\n' + " " * MAX_FILE_BYTES},
    ],
)
def test_a_project_that_may_run_on_an_older_version_does_not(files: dict[str, str]) -> None:
    assert not covers(files)


def test_what_every_version_reads_needs_no_cover() -> None:
    assert not covers({"pyproject.toml": 'requires-python = ">=3.12"\n'}, since="")
