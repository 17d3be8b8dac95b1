"""What a Python project needs, and the project itself, without its code being copied anywhere."""

from __future__ import annotations

import shlex

import pytest

from tests.engine.gating.test_recipes import PIP, part_in
from tests.tables import check_rows
from verification.engine.gating.components import Component, Language
from verification.engine.gating.judging import judged
from verification.engine.gating.python_named import GROUPS
from verification.engine.gating.recipe_python_install import FITS, NOT_ALL, NOT_BUILT
from verification.engine.gating.recipes import Files, part_of
from verification.engine.gating.stages import Ended, Install, Stage

BACKEND = '[build-system]\nrequires = ["setuptools"]\n'
PROJECT = f'{BACKEND}[project]\nname = "Some.Pkg"\ndependencies = ["a"]\n'
DYNAMIC = f'{BACKEND}[project]\nname = "p"\ndynamic = ["version", "dependencies"]\n'
SETUP = "from setuptools import setup\nsetup(install_requires=['a'])\n"
ITSELF = f"-m pip install --no-input --use-pep517 -e '.[{','.join(GROUPS)}]'"
ON_THE_PATH = "printf '%s\\n' /workspace/src > \"$place/workspace.pth\""


def install_in(files: dict[str, str]) -> Install:
    return part_in(Language.PYTHON, files).install


@check_rows(
    ("files", "is_itself", "must"),
    [
        ({"pyproject.toml": PROJECT}, True, False),
        ({"pyproject.toml": DYNAMIC}, True, True),
        ({"pyproject.toml": DYNAMIC, "requirements.txt": "a"}, True, False),
        ({"setup.py": SETUP}, True, True),
        ({"setup.py": SETUP, "requirements.txt": "a"}, True, False),
        ({"setup.py": "from setuptools import setup\n"}, True, False),
        ({"setup.py": "from setuptools import setup\n", "setup.cfg": "install_requires = a"}, True, True),
        ({"setup.py": "print('Set up your game')\n"}, False, False),
        ({"setup.cfg": "[metadata]\n"}, False, False),
        ({"pyproject.toml": '[project]\nname = "p"\n'}, False, False),
        ({"pyproject.toml": f"{BACKEND}[tool.uv]\npackage = false\n"}, False, False),
        ({"pyproject.toml": f"{BACKEND}[tool.poetry]\npackage-mode = false\n"}, False, False),
        ({"requirements.txt": "a"}, False, False),
    ],
)  # fmt: skip
def test_a_project_with_a_build_backend_is_linked_and_must_be_where_only_that_knows_its_needs(
    files: dict[str, str], is_itself: bool, must: bool
) -> None:
    command = install_in(files).command

    assert (ITSELF in command) is is_itself
    assert command.endswith(ITSELF) is must


def test_what_is_named_is_installed_before_the_project_itself_is_tried() -> None:
    command = install_in({"pyproject.toml": PROJECT}).command

    assert command.startswith(f"{PIP} a && {{ code=0; /deps/root.python/bin/python {ITSELF} ")


@pytest.mark.parametrize(
    ("more", "inputs"),
    [
        ({"pyproject.toml": PROJECT}, {"README.md", "pkg/__init__.py", "pkg/_version.py",
                                       "pyproject.toml", "src/Some_Pkg.py"}),
        ({"pyproject.toml": DYNAMIC}, {"*"}),
        ({"setup.py": SETUP}, {"*"}),
        ({"requirements.txt": "a", "pyproject.toml": PROJECT},
         {"README.md", "pkg/__init__.py", "pkg/_version.py", "pyproject.toml", "src/Some_Pkg.py",
          "requirements.txt"}),
        ({"requirements.txt": "-e .", "pyproject.toml": PROJECT}, {"*"}),
    ],
)  # fmt: skip
def test_the_code_is_no_part_of_what_an_install_hangs_on_unless_its_backend_runs_it(
    more: dict[str, str], inputs: set[str]
) -> None:
    files = {
        **more, "README.md": "", "pkg/__init__.py": "", "pkg/_version.py": "", "pkg/code.py": "",
        "src/Some_Pkg.py": "", "main.py": "", "venv/x/__init__.py": "",
    }  # fmt: skip

    assert {*install_in(files).inputs} == ({*files} if inputs == {"*"} else inputs)


@pytest.mark.parametrize(
    ("files", "is_found"),
    [
        ({"pyproject.toml": PROJECT, "src/p/__init__.py": ""}, True),
        ({"pyproject.toml": '[project]\nname = "p"\n', "src/p.py": ""}, True),
        ({"setup.py": "", "src/p/a.py": ""}, True),
        ({"pyproject.toml": PROJECT, "src/__init__.py": "", "src/p.py": ""}, False),
        ({"pyproject.toml": PROJECT, "src/a.js": ""}, False),
        ({"requirements.txt": "a", "src/p.py": ""}, False),
    ],
)
def test_code_below_src_is_found_whatever_the_backend_makes_of_it(
    files: dict[str, str], is_found: bool
) -> None:
    install = install_in(files)

    assert (ON_THE_PATH in install.command) is is_found
    assert (ON_THE_PATH in install.prepare) is is_found


def test_a_component_is_found_in_its_own_folder_whatever_that_is_called() -> None:
    files = {"pyproject.toml": PROJECT, "src/p.py": ""}

    command = part_in(Language.PYTHON, files, "a b; c").install.command

    assert "printf '%s\\n' '/workspace/a b; c/src' > " in command


@check_rows(
    ("said", "named"),
    [
        ('a = "*"', "a"),
        ('a = "^1.2.3"', "a>=1.2.3,<2"),
        ('a = "^0.2.3"', "a>=0.2.3,<0.3"),
        ('a = "^0.0.3"', "a>=0.0.3,<0.0.4"),
        ('a = "^0.0"', "a>=0.0,<0.1"),
        ('a = "^0"', "a>=0,<1"),
        ('a = "^2.0b1"', "a>=2.0b1,<3"),
        ('a = "~1.2.3"', "a>=1.2.3,<1.3"),
        ('a = "~1.2"', "a>=1.2,<1.3"),
        ('a = "~1"', "a>=1,<2"),
        ('a = "~=1.4"', "a~=1.4"),
        ('a = "1.2.3"', "a==1.2.3"),
        ('a = "=1.2.3"', "a==1.2.3"),
        ('a = "1.2.*"', "a==1.2.*"),
        ('a = ">=1.2, <2, !=1.5"', "a>=1.2,<2,!=1.5"),
        ('a = "^1 || ^2"', "a"),
        ('a = ">=1 <2"', "a"),
        ('a = "1; rm -rf /"', "a"),
        ('a = {version = "^1", extras = ["x", "y"]}', "a[x,y]>=1,<2"),
        ('a = {version = "^1", extras = ["x]; y"]}', "a>=1,<2"),
        ('a = {version = "1", python = "<3.11"}', "a==1 ; python_full_version < '3.11'"),
        ('a = {version = "1", python = "^3.8", markers = "os_name == \'posix\'"}',
         "a==1 ; python_full_version >= '3.8' and python_full_version < '4' and (os_name == 'posix')"),
        ('a = [{version = "1"}, {version = "2"}]', "a"),
        ('a = {version = "1", optional = true}', ""),
        ('a = {git = "https://a.example"}', ""),
        ('a = {path = "../a"}', ""),
        ("a = 7", ""),
        ('"-r x" = "1"', ""),
        ("a = {markers = \"x\\ny\"}", ""),
    ],
)  # fmt: skip
def test_poetrys_table_is_read_as_pip_would_say_it(said: str, named: str) -> None:
    for table in ("dependencies", "dev-dependencies", "group.test.dependencies"):
        command = install_in({"pyproject.toml": f"[tool.poetry.{table}]\n{said}\n"}).command

        assert command == (f"{PIP} {shlex.quote(named)}" if named else "")


@pytest.mark.parametrize(
    "tool", ["[tool.uv]\ndev-dependencies = ", "[tool.pdm.dev-dependencies]\ntest = "]
)
def test_other_tables_that_name_what_tests_need_are_read(tool: str) -> None:
    assert install_in({"pyproject.toml": f'{tool}["a"]\n'}).command == f"{PIP} a"


def test_a_project_that_names_itself_is_not_looked_for_in_an_index() -> None:
    project = (
        '[project]\nname = "Some.Pkg"\n[project.optional-dependencies]\n'
        'test = ["b"]\ndev = ["some-pkg[test]", "some-pkg-other"]\n'
    )

    assert install_in({"pyproject.toml": project}).command == f"{PIP} b some-pkg-other"


@pytest.mark.parametrize(
    ("written", "detail"),
    [(f"x\n{NOT_BUILT}\n", NOT_BUILT), (f"x {NOT_BUILT}\nmine\n", ""), ("", "")],
)
def test_an_install_says_that_the_project_itself_could_not_be_built(
    written: str, detail: str
) -> None:
    part = part_in(Language.PYTHON, {"pyproject.toml": PROJECT})
    stage = Stage("install", part.install.command)

    report = judged(part, stage, Ended(exit_code=0, err=written.encode())).report

    assert report.detail == detail


@pytest.mark.parametrize(
    ("files", "asked"),
    [
        ({"pyproject.toml": '[project]\nrequires-python = ">=3.12"\n'}, ">=3.12"),
        ({"pyproject.toml": '[tool.poetry.dependencies]\npython = "^3.9"\n'}, ">=3.9,<4"),
        ({"setup.py": "", "setup.cfg": "[options]\npython_requires = >=3.11, <4\n"}, ">=3.11, <4"),
        ({"pyproject.toml": '[project]\nrequires-python = "$(id)"\n'}, ""),
        ({"pyproject.toml": "[project]\nrequires-python = 3\n"}, ""),
        ({"requirements.txt": ""}, ""),
    ],
)
def test_the_python_that_a_project_is_for_is_looked_for_first(
    files: dict[str, str], asked: str
) -> None:
    command = install_in(files).command

    assert command.startswith(f"{FITS} {shlex.quote(asked)} && ") is bool(asked)
    assert (FITS in command) is bool(asked)


@pytest.mark.parametrize(
    ("files", "main", "more"),
    [
        ({"requirements.txt": "a", "requirements-dev.txt": "b"},
         "requirements.txt", ["requirements-dev.txt"]),
        ({"requirements.txt": "a", "test_requirements.txt": "b", "tests/requirements.txt": "c"},
         "requirements.txt", ["test_requirements.txt", "tests/requirements.txt"]),
        ({"pytest.ini": "", "requirements/base.txt": "a", "requirements/test.txt": "-r base.txt"},
         "requirements/base.txt", ["requirements/test.txt"]),
        ({"pytest.ini": "", "requirements-dev.txt": "b"}, "", ["requirements-dev.txt"]),
        ({"requirements.txt": "a", "requirements/docs.txt": "b", "x/requirements-dev.txt": "b"},
         "requirements.txt", []),
    ],
)  # fmt: skip
def test_what_tests_need_is_installed_after_what_the_work_needs(
    files: dict[str, str], main: str, more: list[str]
) -> None:
    install = install_in(files)

    said = [f"{PIP.split(' && ')[1]} -r {one}" for one in (main, *more) if one]
    assert [install.command.count(one) for one in said] == [1] * len(said)
    assert install.command.count(" -r ") == len(said)
    assert set(install.inputs) == {one for one in (main, *more) if one}


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({"pyproject.toml": "[tool.hatch.envs.test]\nextra-dependencies = ['a']\n"}, "a"),
        ({"pyproject.toml": "[tool.hatch.envs.default]\ndependencies = ['a', 'b']\n"}, "a b"),
        ({"pytest.ini": "", "Pipfile": "[packages]\na = '*'\n[dev-packages]\nb = '==1'\n"},
         "a b==1"),
        ({"pytest.ini": "", "setup.cfg": "[options]\ninstall_requires =\n    a>=1  # why\n    b\n"
          "[options.extras_require]\ntest = c\ndocs = no\n"}, "'a>=1' b c"),
        ({"pytest.ini": "", "tox.ini": "[testenv]\ndeps =\n  a>=1  # why\n  -r more.txt\n  old: c\n"
          "  d=={env:D}\n  .[test]\n  b\n[testenv:docs]\ndeps = no\n"}, "'a>=1' b"),
        ({"pyproject.toml": "[dependency-groups]\ndev = [{include-group = 'dev'}, 'a', 'a']\n"}, "a"),
    ],
)  # fmt: skip
def test_each_place_where_needs_are_named_is_read(files: dict[str, str], named: str) -> None:
    assert install_in(files).command == f"{PIP} {named}"


def test_beside_requirements_what_the_project_names_is_tried_besides() -> None:
    project = "[dependency-groups]\ndev = ['a']\n"

    install = install_in({"pyproject.toml": project, "requirements.txt": "b"})

    assert install.command.startswith(f"{PIP} -r requirements.txt && {{ code=0; ")
    assert NOT_ALL in install.command


SHARED = {
    "libs/shared/pyproject.toml": '[project]\nname = "Shared"\n[tool.uv.sources]\nother = {path = "../other"}\n',
    "libs/shared/shared.py": "",
    "libs/other/pyproject.toml": '[project]\nname = "other"\n',
    "libs/unused/pyproject.toml": "",
}
BESIDE = {"libs/shared/pyproject.toml", "libs/shared/shared.py"}
SOURCES = '[project]\nname = "app"\ndependencies = ["shared>=1", "a"]\n[tool.uv.sources]\n'


@pytest.mark.parametrize(
    ("manifest", "linked", "beside"),
    [
        ({"requirements.txt": "-e ../libs/shared\n"}, "-r requirements.txt", BESIDE),
        ({"requirements.txt": "shared @ file:../libs/shared\n"}, "-r requirements.txt", BESIDE),
        ({"pyproject.toml": f'{SOURCES}shared = {{path = "../libs/shared"}}\n'},
         " a -e ../libs/shared -e ../libs/other", {*BESIDE, "libs/other/pyproject.toml"}),
        ({"pyproject.toml": f"{SOURCES}shared = {{workspace = true}}\n"},
         " a -e ../libs/shared -e ../libs/other", {*BESIDE, "libs/other/pyproject.toml"}),
        ({"pyproject.toml": f'{SOURCES}shared = {{path = "/etc"}}\n'}, " 'shared>=1' a", set()),
        ({"pyproject.toml": f'{SOURCES}shared = {{path = "../../../etc"}}\n'}, " 'shared>=1' a", set()),
        ({"pyproject.toml": f'{SOURCES}shared = {{git = "x"}}\nb = 7\n'}, " 'shared>=1' a", set()),
    ],
)  # fmt: skip
def test_packages_that_lie_beside_the_component_are_there_for_its_install(
    manifest: dict[str, str], linked: str, beside: set[str]
) -> None:
    files = {f"app/{name}": text.encode() for name, text in manifest.items()}
    files |= {path: text.encode() for path, text in SHARED.items()}
    component = Component("app", Language.PYTHON, tuple(manifest))

    install = part_of(component, Files(list(files), files.get)).install

    assert install.command.endswith(linked)
    assert {one for one in install.inputs if one.startswith("libs/")} == beside


def test_a_version_that_a_repository_would_give_is_given() -> None:
    backend = '[build-system]\nrequires = ["setuptools", "setuptools_scm[toml]>=8"]\n'

    assert "SETUPTOOLS_SCM_PRETEND_VERSION=0 " in install_in({"pyproject.toml": backend}).command
    assert "PRETEND" not in install_in({"pyproject.toml": BACKEND}).command
