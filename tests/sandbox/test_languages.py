"""Work in each language that is tried for real: what is right passes, what is wrong is named."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest
from docker import APIClient

from tests.engine.gating.plan_texts import ARCHITECTS_PLAN
from tests.sandbox.engine import tried
from verification.engine.gating.findings import findings_of
from verification.engine.gating.recipe_python_install import NOT_ALL
from verification.engine.outcome import Status
from verification.engine.reports.model import TestCounts

pytestmark = pytest.mark.docker

PYTHON = {
    "pyproject.toml": '[project]\nname = "x"\nversion = "1"\n[tool.mypy]\n',
    "calc.py": "def add(a: int, b: int) -> int:\n    return a + b\n",
    "tests/test_calc.py": "from calc import add\n\n\ndef test_add() -> None:\n    assert add(1, 2) == 3\n",
}
NODE = {
    "package.json": '{"name": "x", "type": "module", "scripts": {"test": "node --test", "build": "node build.js"}}',
    "build.js": "import { add } from './calc.js';\nif (add(1, 1) !== 2) process.exit(3);\n",
    "calc.js": "export const add = (a, b) => a + b;\n",
    "calc.test.js": "import test from 'node:test';\nimport assert from 'node:assert';\nimport { add } from './calc.js';\n"
    "test('adds', () => assert.equal(add(1, 2), 3));\ntest('adds more', () => assert.equal(add(2, 2), 4));\n",
}
GO = {
    "go.mod": "module example.com/x\n\ngo 1.21\n",
    "calc.go": "package calc\n\nfunc Add(a, b int) int { return a + b }\n",
    "calc_test.go": 'package calc\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal("wrong")\n\t}\n}\n',
}


LOCAL = {
    "scripts": {"test": "npm test --workspaces"},
    "workspaces": ["ours"],
    "devDependencies": {"eslint": "9.13.0", "typescript": "5.4.5"},
}
FORGED = {
    "package.json": json.dumps(LOCAL),
    "tsconfig.json": '{"compilerOptions": {"strict": true}, "include": ["*.ts"]}',
    "eslint.config.js": 'module.exports = [{files: ["*.js"], rules: {"no-debugger": "error"}}];\n',
    "calc.ts": "export const add = (a: number): string => a;\n",
    "wait.js": "debugger;\n",
    "ours/package.json": json.dumps(
        {
            "name": "ours",
            "version": "1.0.0",
            "bin": dict.fromkeys(("tsc", "eslint", "node"), "ok"),
        }
    ),
    "ours/ok": "#!/bin/sh\nexit 0\n",
}


def test_python_that_is_right_passes_every_gate(engine: APIClient) -> None:
    found = tried(engine, PYTHON)

    statuses = {gate: str(report.status) for gate, report in found.reports.items()}
    assert statuses == {
        "install": "skipped",
        "build": "passed",
        "types": "passed",
        "test": "passed",
        "lint": "passed",
        "security": "passed",
        "run": "skipped",
    }
    assert found.reports["test"].tests == TestCounts(passed=1)


def test_python_that_is_wrong_is_told_gate_by_gate_at_its_place(engine: APIClient) -> None:
    wrong = {
        **PYTHON,
        "calc.py": "import os\n\n\ndef add(a: int, b: int) -> int:\n    return str(a - b)\n",
        "danger.py": "import subprocess\n\n\ndef call(line: str) -> None:\n    subprocess.call(line, shell=True)\n",
    }

    found = tried(engine, wrong).reports

    [failure] = found["test"].failures
    assert (failure.name, failure.path, failure.line) == ("test_add", "tests/test_calc.py", 5)
    assert [(one.path, one.line) for one in found["types"].problems] == [("calc.py", 5)]
    assert ("calc.py", 1, "F401") in [(p.path, p.line, p.rule) for p in found["lint"].problems]
    assert {"S602"} <= {one.rule for one in found["security"].problems}
    assert found["build"].status is Status.PASSED


def test_python_that_does_not_compile_fails_its_build_and_is_not_tried(engine: APIClient) -> None:
    found = tried(engine, {**PYTHON, "calc.py": "def add(:\n"}, "build", "test").reports

    assert found["build"].status is Status.FAILED
    assert "calc.py" in found["build"].detail
    assert (found["test"].status, found["test"].tests) == (Status.SKIPPED, None)


def test_dependencies_are_installed_once_and_tests_find_them(engine: APIClient) -> None:
    needing = {
        "requirements.txt": "-r requirements/base.txt\n",
        "requirements/base.txt": "six==1.17.0\n",
        "test_it.py": "import six\n\n\ndef test_it():\n    assert '/deps/' in six.__file__\n",
    }

    first = tried(engine, needing, "install", "test")
    again = tried(engine, needing, "install", "test")

    assert [one.reports["test"].status for one in (first, again)] == [Status.PASSED] * 2
    assert "install" not in again.ended
    assert again.reports["install"].detail == "It was installed before."


def test_work_below_one_folder_is_tried_by_the_command_blocks_of_its_plan(
    engine: APIClient,
) -> None:
    files = {
        "my-app/requirements.txt": "# nothing\n",
        "my-app/calc.py": "def add(a, b):\n    return a + b\n",
        "my-app/test_calc.py": "from calc import add\n\n\ndef test_it():\n    assert add(1, 2) == 3\n",
    }

    found = tried(engine, files, "install", "test", plan=ARCHITECTS_PLAN)

    test = found.reports["test"]
    assert (test.status, test.tests) == (Status.PASSED, TestCounts(passed=1)), found.ended["test"]
    assert "-x --tb=short" in test.command


def test_what_could_not_be_installed_is_told_again_where_it_is_not_installed_again(
    engine: APIClient,
) -> None:
    needing = {
        "requirements.txt": f"six==1.17.0  # {uuid4()}\n",
        "requirements-dev.txt": "such-a-package-is-nowhere==1\n",
        "test_it.py": "import six\n\n\ndef test_it():\n    assert six\n",
    }

    first, again = (tried(engine, needing, "install", "test") for _ in range(2))

    assert first.reports["install"].detail == NOT_ALL
    assert again.reports["install"].detail == f"It was installed before. {NOT_ALL}"


def test_node_is_built_and_its_tests_are_counted(engine: APIClient) -> None:
    found = tried(engine, NODE, "build", "test").reports

    assert found["build"].status is Status.PASSED
    assert (found["test"].status, found["test"].tests) == (Status.PASSED, TestCounts(passed=2))


def test_node_that_is_wrong_is_told_test_by_test(engine: APIClient) -> None:
    wrong = {**NODE, "calc.js": "export const add = (a, b) => a + b - (a === 2 ? 1 : 0);\n"}

    found = tried(engine, wrong, "build", "test").reports

    assert found["test"].tests == TestCounts(passed=1, failed=1)
    assert [one.name for one in found["test"].failures] == ["adds more"]


def test_tests_find_what_was_built_in_whichever_container_they_are_run(engine: APIClient) -> None:
    package = {"scripts": {"build": "node build.js", "test": "node --test"}}
    built = {
        "package.json": json.dumps(package),
        "build.js": "require('fs').writeFileSync('made.js', '');\n",
        "made.test.js": "require('node:test')('made', () => { require('./made.js'); });\n",
    }
    limits = "Types commands:\n\n    sleep 60\n\nLimits:\n\n```yaml\ntypes: 1\n```\n"

    first = tried(engine, built, "build", "types", "test", plan=limits).reports
    again = tried(engine, built, "build", "test", known={"build": first["build"]}).reports

    assert first["types"].status is Status.TIMED_OUT
    assert first["build"].status is first["test"].status is Status.PASSED
    assert again["test"].status is Status.PASSED


def test_a_package_without_tests_has_none(engine: APIClient) -> None:
    none = {
        "package.json": '{"name": "x", "scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'
    }

    assert tried(engine, none, "test").reports["test"].ran_no_test


def test_go_is_built_and_its_tests_are_counted(engine: APIClient) -> None:
    found = tried(engine, GO, "build", "lint", "test").reports

    assert {gate: str(one.status) for gate, one in found.items()} == {
        "build": "passed",
        "lint": "passed",
        "test": "passed",
    }
    assert found["test"].tests == TestCounts(passed=1)


def test_each_module_of_a_workspace_is_tried_and_finds_the_others(engine: APIClient) -> None:
    code = 'package svc\n\nimport "example.com/x"\n\nvar Two = calc.Add(1, 1)\n'
    modules = {
        **GO,
        "go.work": "go 1.21\n\nuse (\n\t.\n\t./svc\n\t./bad\n)\n",
        "svc/go.mod": "module example.com/svc\n\ngo 1.21\n\nrequire example.com/x v0.0.0\n",
        "svc/svc.go": code,
        "alone/go.mod": "module example.com/alone\n\ngo 1.21\n",
        "alone/calc.go": GO["calc.go"],
        "alone/calc_test.go": GO["calc_test.go"],
        "bad/go.mod": "module example.com/bad\n\ngo 1.21\n",
        "bad/bad.go": "package bad\n\nvar One int = true\n",
        "bad/bad_test.go": GO["calc_test.go"].replace("calc", "bad"),
    }

    found = tried(engine, modules, "build", "test").told

    assert found == {
        ".": {"build": "passed", "test": "passed"},
        "alone": {"build": "passed", "test": "passed"},
        "svc": {"build": "passed", "test": "passed"},
        "bad": {"build": "failed", "test": "skipped"},
    }


def test_packages_that_no_script_of_their_workspace_runs_are_tried_as_it_installs_them(
    engine: APIClient,
) -> None:
    test = "require('node:test')('all', () => require('node:assert').equal(require('b'), {}));\n"
    above = {"workspaces": ["packages/*"], "scripts": {"test": "node --test top.test.js"}}
    files = {
        "package.json": json.dumps(above),
        "top.test.js": test.format(1).replace("require('b')", "1"),
        "packages/b/package.json": '{"name": "b", "version": "1.0.0"}',
        "packages/b/index.js": "module.exports = 1;\n",
    }
    for name, wanted in (("right", 1), ("wrong", 2)):
        package = {"name": name, "dependencies": {"b": "*"}, "scripts": {"test": "node --test"}}
        files[f"packages/{name}/package.json"] = json.dumps(package)
        files[f"packages/{name}/it.test.js"] = test.format(wanted)

    found = tried(engine, files, "install", "test").told

    assert {folder: told["test"] for folder, told in found.items()} == {
        ".": "passed",
        "packages/right": "passed",
        "packages/wrong": "failed",
    }


def test_go_that_is_newer_than_the_image_is_nobodys_fault(engine: APIClient) -> None:
    newer = {**GO, "go.mod": "module example.com/x\n\ngo 1.99\n"}

    found = tried(engine, newer, "build", "test", "lint").reports

    told = [[one.reason_code for one in findings_of(found[gate])] for gate in ("build", "lint")]
    assert told == [["gate_error"], []]
    assert found["test"].detail == "The build did not pass."


def test_go_that_does_not_build_names_the_line(engine: APIClient) -> None:
    found = tried(
        engine, {**GO, "calc.go": "package calc\n\nfunc Add(a, b int) int { return c }\n"}, "build"
    )

    [problem] = found.reports["build"].problems
    assert (problem.path, problem.line) == ("calc.go", 3)


def test_a_project_is_linked_where_it_lies_and_its_code_is_never_an_installed_copy(
    engine: APIClient,
) -> None:
    code = "from importlib.metadata import version\n\nADDS = version('linked') == '{}'\n"
    files = {
        "pyproject.toml": '[build-system]\nrequires = ["setuptools"]\n'
        '[project]\nname = "linked"\nversion = "7"\n[tool.mypy]\n',
        "src/linked/__init__.py": "",
        "src/linked/calc.py": code.format(7),
        "tests/test_calc.py": "from linked.calc import ADDS\n\n\ndef test_it() -> None:\n    assert ADDS\n",
    }
    wrong = {**files, "src/linked/calc.py": code.format(8)}

    found, again = (tried(engine, one, "install", "types", "test") for one in (files, wrong))

    statuses = [[one.reports[gate].status for gate in ("types", "test")] for one in (found, again)]
    assert statuses == [[Status.PASSED] * 2, [Status.PASSED, Status.FAILED]]
    assert "install" not in again.ended


def test_what_the_work_installs_under_the_name_of_a_judge_judges_nothing(engine: APIClient) -> None:
    found = tried(engine, FORGED, "install", "types", "lint").reports

    assert found["install"].status is Status.PASSED
    assert [(one.path, one.line, one.rule) for one in found["types"].problems] == [
        ("calc.ts", 1, "TS2322")
    ]
    assert [(one.path, one.line, one.rule) for one in found["lint"].problems] == [
        ("wait.js", 1, "no-debugger")
    ]


def test_a_judge_that_nobody_published_is_left_to_the_install_to_tell(engine: APIClient) -> None:
    unknown = {"devDependencies": {"typescript": "0.0.1-never"}}
    files = {"package.json": json.dumps(unknown), "tsconfig.json": "{}", "a.ts": "let a = 1;\n"}

    found = tried(engine, files, "install", "types").reports

    assert [found["install"].status, found["types"].status] == [Status.FAILED, Status.SKIPPED]
