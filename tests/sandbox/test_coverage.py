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

PHP = {
    "composer.json": "{}",
    "src/Calc.php": "<?php\nfinal class Calc\n{\n    public static function sign($a)\n    {\n"
    "        if ($a < 0) {\n            return -1;\n        }\n        return 1;\n    }\n}\n",
    "lib/Unused.php": "<?php\nfinal class Unused\n{\n    public function one()\n    {\n"
    "        return 1;\n    }\n}\n",
    "tests/CalcTest.php": "<?php\nrequire_once __DIR__ . '/../src/Calc.php';\n"
    "final class CalcTest extends PHPUnit\\Framework\\TestCase\n{\n"
    "    public function testIt(): void\n    {\n        $this->assertSame(1, Calc::sign(2));\n    }\n}\n",
}
BY_NAME = "exports.sign = (a) => {\n  if (a < 0) {\n    return -1;\n  }\n  return 1;\n};\n"
VITEST = {
    "package.json": '{"name": "calc", "type": "module", "scripts": {"test": "vitest"},'
    ' "devDependencies": {"vitest": "3.2.4", "@vitest/coverage-v8": "3.2.4"}}',
    "calc.js": BY_NAME.replace("exports.", "export const "),
    "calc.test.js": "import { expect, test } from 'vitest';\nimport { sign } from './calc.js';\n"
    "test('sign', () => expect(sign(2)).toBe(1));\n",
}
MOCHA = {
    "package.json": '{"name": "calc", "scripts": {"test": "mocha"},'
    ' "devDependencies": {"mocha": "10.8.2", "c8": "10.1.3"}}',
    "calc.js": BY_NAME,
    "test/calc.js": "const { sign } = require('../calc.js');\n"
    "it('signs', () => require('assert').strictEqual(sign(2), 1));\n",
}


@pytest.mark.parametrize(
    ("files", "path", "covered", "missed"),
    [
        (PYTHON, "calc.py", 4, 3),
        (NODE, "calc.js", 5, 3),
        (VITEST, "calc.js", 5, 3),
        (MOCHA, "calc.js", 5, 3),
        (GO, "calc.go", 7, 5),
        (PHP, "src/Calc.php", 9, 7),
    ],
    ids=["python", "node", "vitest", "mocha", "go", "php"],
)
def test_lines_that_ran_and_lines_that_did_not_are_told_apart(
    engine: APIClient, files: Mapping[str, str], path: str, covered: int, missed: int
) -> None:
    found = tried(engine, files, "install", "test", covers=True)

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


def test_what_no_test_of_php_loads_was_not_run(engine: APIClient) -> None:
    found = tried(engine, PHP, "test", covers=True).judged["test"].coverage

    assert found is not None
    assert found.files["lib/Unused.php"].missed == {6}


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
