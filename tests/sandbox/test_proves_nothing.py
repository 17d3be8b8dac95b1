"""What ends a run early, or takes a runner's name, proves nothing, whatever was reported."""

from __future__ import annotations

import pytest
from docker import APIClient

from tests.sandbox.engine import tried
from verification.engine.gating.components import Component, Language
from verification.engine.gating.findings import findings_of
from verification.engine.gating.unspoken import spoken
from verification.engine.outcome import Status
from verification.engine.reports.model import TestCounts

pytestmark = pytest.mark.docker

PASSES = "def test_a():\n    pass\n"
FAILS = "def test_z():\n    assert False\n"
STOPS = """import pytest

@pytest.fixture
def database():
    pytest.exit("no database", returncode=0)

def test_b(database):
    pass
"""
HOOK = (
    "import pytest\n\ndef pytest_runtest_{when}({given}):\n    pytest.exit('over', returncode=0)\n"
)
PYTHON = {"requirements.txt": "", "test_a.py": PASSES, "test_z.py": FAILS}
UNITTEST = """import unittest

class Tests(unittest.TestCase):
    def test_a(self):
        self._outcome.result.stop()

    def test_z(self):
        self.fail("never run")
"""
MINITEST = (
    "require 'minitest/autorun'\nclass T{0} < Minitest::Test\n  def test_{0}; {1}; end\nend\n"
)


@pytest.mark.parametrize(
    ("work", "plan"),
    [
        ({**PYTHON, "test_b.py": STOPS}, ""),
        ({**PYTHON, "conftest.py": HOOK.format(when="logfinish", given="nodeid")}, ""),
        ({**PYTHON, "conftest.py": HOOK.format(when="logstart", given="nodeid")}, ""),
        (
            {**PYTHON, "conftest.py": "def pytest_runtest_protocol(item):\n    return True\n"},
            "",
        ),
        (
            {"requirements.txt": "", "test_one.py": UNITTEST},
            "Test commands:\n```\npython -m unittest\n```",
        ),
        (
            {
                "Gemfile": "",
                "test/test_a.rb": MINITEST.format("a", "assert true"),
                "test/test_b.rb": "exit 0\n",
                "test/test_c.rb": MINITEST.format("c", "assert false"),
            },
            "",
        ),
    ],
    ids=["fixture", "logfinish", "logstart", "protocol", "unittest", "minitest"],
)
def test_a_run_that_was_ended_early_is_in_doubt(
    engine: APIClient, work: dict[str, str], plan: str
) -> None:
    report = tried(engine, work, "test", plan=plan).reports["test"]

    assert report.contradiction == "ended well before its runner came to its end", report


def test_workers_of_pytest_that_are_stopped_early_are_in_doubt(engine: APIClient) -> None:
    work = {
        **PYTHON,
        "requirements.txt": "pytest-xdist==3.8.0\n",
        "pytest.ini": "[pytest]\naddopts = -n2\n",
        "conftest.py": HOOK.format(when="logstart", given="nodeid"),
    }

    report = tried(engine, work, "install", "test").reports["test"]

    assert report.contradiction == "ended well before its runner came to its end", report


def test_an_exit_code_that_the_work_chooses_excuses_no_failed_test(engine: APIClient) -> None:
    chosen = "def pytest_sessionfinish(session):\n    session.exitstatus = 127\n"

    report = tried(engine, {**PYTHON, "conftest.py": chosen}, "test").reports["test"]

    assert (report.status, report.exit_code) == (Status.FAILED, 1)
    assert [one.name for one in report.failures] == ["test_z"]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        (0, "gate_contradiction"),
        (5, "tests_failed"),  # pytest says by a report that there are none
        (124, "gate_timed_out"),
        (126, "gate_error"),
        (127, "gate_error"),
        (137, "gate_out_of_memory"),
    ],
)
def test_a_test_that_ends_its_process_passes_with_no_exit_code(
    engine: APIClient, code: int, found: str
) -> None:
    work = {**PYTHON, "test_y.py": f"import os\n\n\ndef test_y():\n    os._exit({code})\n"}

    report = tried(engine, work, "test").reports["test"]

    assert [one.reason_code for one in findings_of(report)] == [found], report


def test_a_package_of_go_that_ends_its_tests_is_in_doubt(engine: APIClient) -> None:
    one = 'package {0}\n\nimport "testing"\n\nfunc TestIt(t *testing.T) {{{1}}}\n'
    ends = '\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(0) }\n'
    work = {
        "go.mod": "module x\n\ngo 1.21\n",
        "a/a_test.go": one.format("a", ""),
        "b/b_test.go": one.format("b", " t.Fatal(1) "),
        "b/main_test.go": "package b" + ends,
    }

    report = tried(engine, work, "test").reports["test"]

    assert "x/b ended well before any of its tests was reported" in report.contradiction


MAKEFILE = """all: out.txt dir/x
out.txt: in.txt
	{out}
dir/x: in.txt | dir
	cp in.txt dir/x
dir:
	mkdir dir
test: all told.txt
	cat told.txt
told.txt: in.txt
	{told}
"""
MADE = {"in.txt": "a", "out.txt": "3 passed", "told.txt": "3 passed"}


@pytest.mark.parametrize("plan", ["", "Build commands: `make`\n\nTest commands: `make test`\n"])
@pytest.mark.parametrize(
    ("out", "told", "statuses"),
    [
        ("cp in.txt out.txt", "echo 3 passed > told.txt", (Status.PASSED, Status.PASSED)),
        ("false", "echo 3 passed > told.txt", (Status.ERROR, Status.SKIPPED)),
        ("cp in.txt out.txt", "false", (Status.PASSED, Status.ERROR)),
        ("rm out.txt; false", "false", (Status.FAILED, Status.SKIPPED)),
    ],
    ids=["good", "build", "test", "gone"],
)
def test_what_make_could_have_made_is_made_anew(
    engine: APIClient, plan: str, out: str, told: str, statuses: tuple[Status, ...]
) -> None:
    work = {**MADE, "Makefile": MAKEFILE.format(out=out, told=told)}

    found = tried(engine, work, "build", "test", plan=plan)

    assert tuple(found.reports[gate].status for gate in ("build", "test")) == statuses


def test_a_file_that_ends_before_tests_it_has_by_another_file_is_in_doubt(
    engine: APIClient,
) -> None:
    work = {
        "package.json": '{"type": "module", "scripts": {"test": "node --test"}}',
        "helper.js": "export { default } from 'node:test';\n",
        "a.test.js": "import test from './helper.js';\ntest('a', () => process.exit(0));\n"
        "test('b', () => { throw new Error('no'); });\n",
    }

    told = tried(engine, work, "test").judged["test"]

    read = {path: content.encode() for path, content in work.items()}.get
    found = spoken(told, Component("", Language.NODE), read)
    assert "of the tests in a.test.js none was told" in found.report.contradiction


def test_a_package_of_the_work_that_is_called_node_runs_no_tests(engine: APIClient) -> None:
    work = {
        "package.json": '{"workspaces": ["ours"], "scripts": {"test": "node --test"}}',
        "ours/package.json": '{"name": "ours", "version": "1.0.0", "bin": {"node": "node.sh"}}',
        "ours/node.sh": "#!/bin/sh\nprintf 'TAP version 13\\nok 1 - x\\n1..1\\n' > $LV_REPORT\n",
        "a.test.js": "require('node:test')('fails', () => { throw new Error('no') })\n",
    }

    report = tried(engine, work, "install", "test").reports["test"]

    assert report.tests == TestCounts(failed=1)


def test_nobody_stands_between_cargo_and_a_test(engine: APIClient) -> None:
    said = r"test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n"
    work = {
        "Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/lib.rs": "#[test]\nfn fails() {\n    panic!()\n}\n",
        ".cargo/config.toml": "[target.x86_64-unknown-linux-gnu]\n"
        f"""runner = ["sh", "-c", "printf '{said}'"]\n"""
        '[build]\nrustc-wrapper = "/bin/true"\n',
    }

    report = tried(engine, work, "test").reports["test"]

    assert report.tests == TestCounts(failed=1)


def test_a_solution_of_typescript_is_checked_by_its_projects(engine: APIClient) -> None:
    work = {
        "package.json": '{"devDependencies": {"typescript": "5.6.3"}}',
        "tsconfig.json": '{\n  // a solution\n  "files": [],\n'
        '  "references": [{ "path": "./tsconfig.app.json" }],\n}\n',
        "tsconfig.app.json": '{"compilerOptions": {"composite": true}, "include": ["src"]}',
        "src/a.ts": "export const x: number = 'a';\n",
    }

    report = tried(engine, work, "install", "types").reports["types"]

    assert [(one.path, one.line, one.rule) for one in report.problems] == [
        ("src/a.ts", 1, "TS2322")
    ]
