"""What good work may count on, as on any machine of those who wrote it."""

from __future__ import annotations

import json

import pytest
from docker import APIClient

from tests.sandbox.engine import tried
from verification.engine.outcome import Status
from verification.engine.reports.model import TestCounts

pytestmark = pytest.mark.docker

PYTHON = """
import getpass, pathlib, shutil, socket, subprocess
from multiprocessing import shared_memory

def test_whoever_runs_it_has_a_name(tmp_path):
    assert getpass.getuser() == tmp_path.owner()

def test_a_program_of_the_work_can_be_executed():
    assert subprocess.check_output(["bin/tool"]) == b"here\\n"

def test_a_file_can_be_packed(tmp_path):
    (tmp_path / "in").mkdir()
    shutil.copy2("test_usual.py", tmp_path / "in")
    shutil.make_archive(str(tmp_path / "out"), "zip", str(tmp_path / "in"))

def test_the_machine_is_found_by_its_name():
    assert socket.gethostbyname(socket.gethostname()) == "127.0.0.1"

def test_memory_can_be_shared():
    shared = shared_memory.SharedMemory(create=True, size=40_000_000)
    shared.buf[:] = b"x" * 40_000_000
    shared.close()
    shared.unlink()

def test_each_usual_place_can_be_written_to():
    for folder in ("/tmp", "/var/tmp", "/dev/shm", "."):
        pathlib.Path(folder, "kept.txt").write_text("here")
"""

NODE = """
import {test} from 'node:test';
import fs from 'node:fs';
import isNumber from 'is-number';

test('tools write beside the packages', () => {
  fs.mkdirSync('node_modules/.cache/tool', {recursive: true});
  if (!isNumber(7)) throw new Error('no number');
});
"""


def test_python_finds_what_it_finds_everywhere(engine: APIClient) -> None:
    work = {"requirements.txt": "", "bin/tool": "#!/bin/sh\necho here\n", "test_usual.py": PYTHON}

    found = tried(engine, work, "test")

    assert found.reports["test"].tests == TestCounts(passed=6), found.ended["test"].out.decode()


def test_tools_of_node_write_beside_the_packages(engine: APIClient) -> None:
    package = {"type": "module", "dependencies": {"is-number": "7.0.0"}}
    package["scripts"] = {"test": "node --test"}

    found = tried(
        engine, {"package.json": json.dumps(package), "a.test.js": NODE}, "install", "test"
    )

    assert found.reports["install"].status is Status.PASSED
    assert found.reports["test"].tests == TestCounts(passed=1), found.ended["test"].out.decode()


def test_pytest_remembers_and_tries_again_as_its_work_asks(engine: APIClient) -> None:
    work = {
        "requirements.txt": "pytest-xdist==3.8.0\npytest-rerunfailures==16.1\n",
        "pytest.ini": "[pytest]\naddopts = -n2 --reruns 1 --ff --strict-config\n",
        "test_a.py": "def test_kept(cache):\n    cache.set('a/b', 1)\n",
        "test_b.py": "import pathlib\n\ndef test_second():\n    tried = pathlib.Path('/tmp/tried')\n"
        "    assert tried.exists() or tried.touch()\n",
    }

    report = tried(engine, work, "install", "test").reports["test"]

    assert (report.contradiction, report.tests) == ("", TestCounts(passed=2)), report


def test_mypy_has_the_plugins_that_the_work_installs_and_blames_nobody_without(
    engine: APIClient,
) -> None:
    model = "from pydantic import BaseModel\n\nclass One(BaseModel):\n    size: int = 1\n\n"
    work = {
        "requirements.txt": "pydantic==2.12.5\n",
        "setup.cfg": "[mypy]\nplugins = pydantic.mypy\n[pydantic-mypy]\ninit_typed = true\n",
    }

    good = tried(engine, {**work, "a.py": f"{model}One(size=2)\n"}, "install", "types")
    bad = tried(engine, {**work, "a.py": f"{model}One(size='2')\n"}, "install", "types")
    lost = tried(engine, {**work, "requirements.txt": "", "a.py": "a = 1\n"}, "install", "types")

    assert good.reports["types"].status is Status.PASSED, good.ended["types"]
    assert [one.line for one in bad.reports["types"].problems] == [6]
    assert lost.reports["types"].status is Status.ERROR
    assert "Error importing plugin" in lost.reports["types"].detail


def test_mypy_checks_each_of_the_modules_that_share_a_name(engine: APIClient) -> None:
    own = "from util import {0}\n\ndef run() -> int:\n    return {0}()\n"
    work = {
        "mypy.ini": "[mypy]\nstrict = true\nexclude = ^broken/\n",
        "requirements.txt": "",
        "a/run.py": own.format("one"),
        "a/util.py": "def one() -> int:\n    return 1\n",
        "b/run.py": own.format("two"),
        "b/util.py": "def two() -> int:\n    return 2\n",
        "broken/util.py": "1 + ''\n",
        "tests/test_it.py": "import more\n\ndef test_more() -> None:\n    assert more.MORE\n",
        "b/more.py": "from util import two\n\nMORE = two()\n",
    }
    named = {**work, "mypy.ini": "[mypy]\nfiles = a, b\n"}

    good = tried(engine, work, "types")
    bad = tried(engine, {**work, "b/util.py": "def two() -> int:\n    return ''\n"}, "types")
    unfit = tried(engine, named, "types")

    assert good.reports["types"].status is Status.PASSED, good.ended["types"]
    assert [(one.path, one.line) for one in bad.reports["types"].problems] == [("b/util.py", 2)]
    assert unfit.reports["types"].status is Status.ERROR
    assert "Duplicate module" in unfit.reports["types"].detail


@pytest.mark.parametrize(
    "script",
    [
        "node --test --test-reporter=spec",
        "node --test-reporter spec --test",
        "node --test --test-reporter=spec --test-reporter-destination=stdout",
    ],
)
def test_a_reporter_that_the_script_of_node_names_leaves_room_for_ours(
    engine: APIClient, script: str
) -> None:
    package = json.dumps({"scripts": {"test": script}})
    work = {"package.json": package, "a.test.js": "require('node:test')('a', () => {});\n"}

    report = tried(engine, work, "test").reports["test"]

    assert report.tests == TestCounts(passed=1), report


def test_eslint_that_nobody_configured_is_not_asked(engine: APIClient) -> None:
    work = {"package.json": json.dumps({"devDependencies": {"eslint": "9.17.0"}}), "a.js": "1;\n"}

    report = tried(engine, work, "install", "lint").reports["lint"]

    assert (report.status, report.detail) == (Status.SKIPPED, "No linter is configured.")


def test_eslint_9_reads_settings_in_their_old_form(engine: APIClient) -> None:
    work = {
        "package.json": json.dumps({"devDependencies": {"eslint": "9.17.0"}}),
        ".eslintrc.json": '{"root": true, "rules": {"no-debugger": "error"}}',
        "a.js": "debugger;\n",
    }

    report = tried(engine, work, "install", "lint").reports["lint"]

    assert [(one.path, one.line, one.rule) for one in report.problems] == [
        ("a.js", 1, "no-debugger")
    ]


MAKES = "require('fs').writeFileSync('made.js', 'module.exports = 1');\n"
NEEDS_MADE = "require('./made.js');\nrequire('node:test')('made', () => {});\n"


@pytest.mark.parametrize(
    ("name", "plan"),
    [
        ("pretest", ""),
        ("prepare", ""),
        ("postinstall", ""),
        ("prepare", "Test commands: `node --test a.test.js`"),
    ],
)
def test_what_npm_runs_before_the_tests_makes_what_they_need(
    engine: APIClient, name: str, plan: str
) -> None:
    scripts = {"test": "node --test a.test.js", name: "node make.js"}
    work = {
        "package.json": json.dumps({"scripts": scripts, "dependencies": {"is-number": "7.0.0"}}),
        "make.js": MAKES,
        "a.test.js": NEEDS_MADE,
    }

    report = tried(engine, work, "install", "test", plan=plan).reports["test"]

    assert (report.status, report.tests) == (Status.PASSED, TestCounts(passed=1)), report


def test_tests_that_fail_behind_a_failed_prepare_are_undecided(engine: APIClient) -> None:
    scripts = {"test": "node --test a.test.js", "prepare": "exit 1"}
    work = {"package.json": json.dumps({"scripts": scripts}), "a.test.js": NEEDS_MADE}

    assert tried(engine, work, "test").reports["test"].status is Status.ERROR


def test_a_script_behind_the_tests_that_fails_is_not_passed_over(engine: APIClient) -> None:
    scripts = {"test": "node --test", "posttest": "exit 1"}
    work = {
        "package.json": json.dumps({"scripts": scripts}),
        "a.test.js": "require('node:test')('a', () => {});\n",
    }

    report = tried(engine, work, "test").reports["test"]

    assert (report.status, bool(report.contradiction)) == (Status.FAILED, True), report


def test_a_package_that_asks_for_a_newer_node_is_not_blamed_where_it_fails(
    engine: APIClient,
) -> None:
    scripts = {"test": "node --test"}
    told = {}
    for asked in (">=99", ">=18"):
        package = {"scripts": scripts, "engines": {"node": asked}}
        work = {"package.json": json.dumps(package), "a.test.js": "import 'node:newer';\n"}
        report = tried(engine, work, "test").reports["test"]
        told[asked] = report.status, "EBADENGINE" in report.detail

    assert told == {">=99": (Status.ERROR, True), ">=18": (Status.FAILED, False)}


def test_python_is_installed_as_locked_with_what_its_tests_name(engine: APIClient) -> None:
    lock = '[[package]]\nname = "six"\nversion = "1.16.0"\n'
    work = {
        "pyproject.toml": '[project]\nname = "w"\ndependencies = ["six"]\nrequires-python = ">=3.8"\n',
        "poetry.lock": lock,
        "requirements-dev.txt": "iniconfig==2.0.0\nsix\n",
        "requirements-test.txt": "no-such-package-of-anybody==7\n",
        "test_it.py": "import iniconfig, six\n\ndef test_it():\n    assert six.__version__ == '1.16.0'\n",
    }

    found = tried(engine, work, "install", "test")

    assert found.reports["test"].tests == TestCounts(passed=1), found.ended["test"].out.decode()


def test_work_for_another_python_could_not_be_tried(engine: APIClient) -> None:
    project = '[project]\nname = "w"\nrequires-python = ">=3.99"\n'

    found = tried(engine, {"pyproject.toml": project, "test_it.py": "def test(): 0\n"}, "install")

    assert found.reports["install"].status is Status.ERROR
    assert "The work is for Python >=3.99; its image has 3." in found.reports["install"].detail


@pytest.mark.parametrize(
    ("needs", "said"),
    [
        ({"requirements.txt": "six @ git+https://git.example/six\n"}, "'git'"),
        ({"requirements.txt": "", "requirements-dev.txt": "a @ git+https://git.example/a\n"},
         "'git'"),
        ({"requirements.txt": "--no-binary regex\nregex==2024.11.6\n"}, "gcc"),
    ],
)  # fmt: skip
def test_an_image_that_lacks_what_an_install_needs_blames_nobody(
    engine: APIClient, needs: dict[str, str], said: str
) -> None:
    report = tried(engine, {**needs, "test_it.py": ""}, "install").reports["install"]

    assert report.status is Status.ERROR, report
    assert "its image has not what the work needs" in report.detail.splitlines()[0]
    assert said in report.detail.splitlines()[0]


def test_a_project_of_django_is_tried_by_its_own_runner(engine: APIClient) -> None:
    settings = "SECRET_KEY = 'x'\nINSTALLED_APPS = ['app']\nDATABASES = {'default': {"
    settings += "'ENGINE': 'django.db.backends.sqlite3', 'NAME': ':memory:'}}\n"
    manage = "import os, sys\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'settings')\n"
    manage += "from django.core.management import execute_from_command_line as run\nrun(sys.argv)\n"
    tests = "from django.test import TestCase\n\nclass Tests(TestCase):\n"
    work = {
        "requirements.txt": "django==5.2.8\n", "settings.py": settings, "manage.py": manage, "app/__init__.py": "",
    }  # fmt: skip

    good = tried(
        engine, {**work, "app/tests.py": f"{tests}    def test_it(self): pass\n"}, "install", "test"
    )
    bad = tried(
        engine,
        {**work, "app/tests.py": f"{tests}    def test_it(self): self.fail('no')\n"},
        "install",
        "test",
    )

    assert good.reports["test"].tests == TestCounts(passed=1), good.ended["test"].err.decode()
    assert bad.reports["test"].tests == TestCounts(failed=1)
    assert bad.reports["test"].status is Status.FAILED


@pytest.mark.parametrize(
    "commands",
    [
        "python -m pytest -q\npytest test_it.py",
        "export PYTHONPATH=.\npytest",
        "PYTHONPATH=. pytest",
        "PYTHONPATH=. python -m pytest && echo well",
    ],
)
def test_commands_of_a_plan_find_pytest_where_the_work_installs_none(
    engine: APIClient, commands: str
) -> None:
    plan = f"Test commands:\n```\n{commands}\n```\n"
    work = {"requirements.txt": "", "test_it.py": "def test_it(): pass\n"}

    good = tried(engine, work, "test", plan=plan).reports["test"]
    bad = tried(engine, {**work, "test_it.py": "def test_it(): assert 0\n"}, "test", plan=plan)

    assert good.status is Status.PASSED, good
    assert bad.reports["test"].status is Status.FAILED
    assert b"1 failed" in bad.ended["test"].out


INSTALLED = {
    "pyproject.toml": '[project]\nname = "w"\nversion = "1"\ndependencies = ["six"]\n'
    '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
    '[tool.setuptools]\npy-modules = ["w"]\n',
    "w.py": "import six\n",
    "test_w.py": "import w\n\n\ndef test_w(): assert w.six\n",
}
NEEDING = {
    "package.json": json.dumps(
        {"dependencies": {"is-number": "7.0.0"}, "scripts": {"test": "node --test"}}
    ),
    "it.test.js": "const {test} = require('node:test');\n"
    "test('it', () => require('node:assert')(require('is-number')(1)));\n",
}


@pytest.mark.parametrize(
    ("work", "commands", "broken"),
    [
        (INSTALLED, "pip install -e . && pytest -q", {"test_w.py": "def test_w(): assert 0\n"}),
        (
            INSTALLED,
            "set -euo pipefail\nsource .venv/bin/activate\nuv sync --frozen\nuv run pytest",
            {"test_w.py": "def test_w(): assert 0\n"},
        ),
        (
            {**INSTALLED, "test_w.py": "import iniconfig\n\n\ndef test_w(): pass\n"},
            "pip install iniconfig pytest 2> /dev/null\npoetry run python -m pytest",
            {"test_w.py": "import iniconfig\n\n\ndef test_w(): assert 0\n"},
        ),
        (
            {
                **INSTALLED,
                "Makefile": ".PHONY: test\n.venv:\n\tpython3 -m venv .venv\n\t.venv/bin/pip install -e .\n"
                "test: .venv\n\t@echo 'all of them'\n\tMODE=ci .venv/bin/pytest $(ARGS)\n",
                "test_w.py": "import os, w\n\n\ndef test_w(): assert os.environ['MODE'] == 'ci'\n",
            },
            "make test ARGS=-x",
            {"test_w.py": "def test_w(): assert 0\n"},
        ),
        (
            NEEDING,
            "npm ci\nnpm test",
            {"it.test.js": "require('node:test')(() => { throw 1; });\n"},
        ),
    ],
)
def test_what_a_plan_installs_before_its_tests_was_installed_by_the_install(
    engine: APIClient, work: dict[str, str], commands: str, broken: dict[str, str]
) -> None:
    plan = f"Test commands:\n```bash\n{commands}\n```\n"

    good = tried(engine, work, "test", plan=plan).reports["test"]
    bad = tried(engine, {**work, **broken}, "test", plan=plan).reports["test"]

    assert (good.status, good.tests) == (Status.PASSED, TestCounts(passed=1)), good
    assert (bad.status, bad.tests) == (Status.FAILED, TestCounts(failed=1)), bad


RAKE = {"Gemfile": "", "Rakefile": "task default: :all\ntask(:all) { puts '3 of 3 passed' }\n"}
COMPOSER = {
    "composer.json": json.dumps(
        {"repositories": [{"packagist.org": False}], "scripts": {"test": "php run.php"}}
    ),
    "run.php": "<?php echo '3 of 3 passed';\n",
}


@pytest.mark.parametrize("work", [RAKE, COMPOSER], ids=["rake", "composer"])
def test_tests_of_no_known_runner_are_run_as_the_work_runs_them(
    engine: APIClient, work: dict[str, str]
) -> None:
    report = tried(engine, work, "install", "test").reports["test"]

    assert (report.status, report.tests) == (Status.PASSED, TestCounts(passed=3)), report
