"""Which lines the tests ran, asked of each language's own runner."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from docker import APIClient

from tests.sandbox.engine import tried
from verification.engine.outcome import Status

pytestmark = pytest.mark.docker

PYTHON = {
    "pytest.ini": "[pytest]\n",
    "calc.py": "def sign(a):\n    if a < 0:\n        return -1\n    return 1\n",
    "unused.py": "x = 1\n",
    "test_calc.py": "from calc import sign\n\n\ndef test_it():\n    assert sign(2) == 1\n",
}
NODE = {
    "package.json": '{"name": "calc", "scripts": {"test": "node --test"}}',
    "calc.js": "exports.sign = (a) => {\n  if (a < 0) {\n    return -1;\n  }\n  return 1;\n};\n",
    "calc.test.js": "const test = require('node:test');\nconst assert = require('node:assert');\n"
    "const { sign } = require('./calc.js');\n"
    "test('sign', () => assert.strictEqual(sign(2), 1));\n",
}
GO = {
    "go.mod": "module example.com/calc\n\ngo 1.21\n",
    "calc.go": "package calc\n\nfunc Sign(a int) int {\n\tif a < 0 {\n\t\treturn -1\n\t}\n"
    "\treturn 1\n}\n",
    "calc_test.go": 'package calc\n\nimport "testing"\n\nfunc TestSign(t *testing.T) {\n'
    "\tif Sign(2) != 1 {\n\t\tt.Fail()\n\t}\n}\n",
}


@pytest.mark.parametrize(
    ("files", "path", "covered", "missed"),
    [(PYTHON, "calc.py", 4, 3), (NODE, "calc.js", 5, 3), (GO, "calc.go", 7, 5)],
    ids=["python", "node", "go"],
)
def test_lines_that_ran_and_lines_that_did_not_are_told_apart(
    engine: APIClient, files: Mapping[str, str], path: str, covered: int, missed: int
) -> None:
    found = tried(engine, files, "test", covers=True)

    assert found.reports["test"].status is Status.PASSED, found.ended["test"]
    coverage = found.judged["test"].coverage
    assert coverage is not None, found.ended["test"]
    assert covered in coverage.files[path].covered
    assert missed in coverage.files[path].missed
    assert found.reports["test"].coverage == coverage.lines


def test_what_no_test_imports_was_not_run(engine: APIClient) -> None:
    files = {**PYTHON, "tools/no_package.py": "x = 1\n", "venv/lib/other.py": "x = 1\n"}

    found = tried(engine, files, "test", covers=True).judged["test"].coverage

    assert found is not None
    assert found.files["unused.py"].missed == {1}
    assert found.files["tools/no_package.py"].missed == {1}
    assert "venv/lib/other.py" not in found.files


def test_a_report_of_node_that_speaks_of_no_file_is_one_of_nothing_loaded(
    engine: APIClient,
) -> None:
    files = {**NODE, "calc.test.js": "require('node:test')('nothing', () => {});\n"}

    found = tried(engine, files, "test", covers=True).judged["test"].coverage

    assert found is not None
    assert found.files == {}


def test_nothing_is_measured_where_nobody_asks(engine: APIClient) -> None:
    found = tried(engine, PYTHON, "test")

    assert found.reports["test"].coverage is None
    assert "--lines" not in found.reports["test"].command
