from __future__ import annotations

from collections.abc import Mapping

import pytest

from verification.engine.gates import GateReport
from verification.engine.gating.components import Component, Language
from verification.engine.gating.findings import findings_of
from verification.engine.gating.judging import Judged
from verification.engine.gating.unspoken import MAX_FILE_BYTES, MAX_FOLLOWED, spoken
from verification.engine.outcome import Status
from verification.engine.reports.testing import TestFormat, read_tests

TESTS = b"const { test } = require('node:test');\ntest('adds', () => process.exit(0));\n"
SCRIPT = b"require('node:assert').equal(1 + 1, 2);\n"
FILES = {"pkg/adds.test.js": TESTS, "pkg/checked.js": SCRIPT, "pkg/good.test.js": TESTS}
FOLDER = "/workspace/pkg"
EXPORTS = b"export { default } from 'node:test';\n"


def told_of(
    *points: str, status: Status = Status.PASSED, files: Mapping[str, bytes] = FILES
) -> Judged:
    lines = ["TAP version 13", *points, f"1..{sum('ok ' in one for one in points)}"]
    tests = read_tests(TestFormat.TAP, "\n".join(lines).encode(), "pkg")
    code = 0 if status is Status.PASSED else 1
    told = Judged(GateReport("test", status, "pkg", exit_code=code, tests=tests.counts), tests)
    return spoken(told, Component("pkg", Language.NODE), files.get)


@pytest.mark.parametrize("path", [f"{FOLDER}/adds.test.js", "adds.test.js"])
def test_a_file_that_ended_before_its_tests_did_leaves_open_whether_they_pass(path: str) -> None:
    found = told_of("ok 1 - subtracts", f"ok 2 - {path}")

    [finding] = findings_of(found.report)
    assert finding.reason_code == "gate_contradiction"
    assert "pkg/adds.test.js" in finding.message


@pytest.mark.parametrize(
    ("said", "files"),
    [
        ("import test from './helper.js';", {"pkg/helper.js": EXPORTS}),
        ("import test from './helper.js';", {"pkg/helper.ts": EXPORTS}),
        ("const test = require('./helper');", {"pkg/helper.cjs": EXPORTS}),
        ("const test = require('./helper')", {"pkg/helper/index.js": EXPORTS}),
        ("const test = require('.')", {"pkg/index.js": EXPORTS}),
        ("const test = require('..')", {"index.mjs": EXPORTS}),
        ("const { test } = await import(`../shared/it.mjs`);", {"shared/it.mjs": EXPORTS}),
        ("import './a.js';", {"pkg/a.js": b"export * from './b.js'", "pkg/b.js": EXPORTS}),
        ("import { test } from '#it';", {"pkg/it.js": EXPORTS}),
        ("import './a.js';", {"pkg/a.js": b"/" * MAX_FILE_BYTES + b"/\n" + EXPORTS}),
        ("import './0.js';", {f"pkg/{at}.js": b"import './%d.js';" % (at + 1)
                              for at in range(MAX_FOLLOWED + 9)}),
    ],
)  # fmt: skip
def test_what_a_test_file_has_of_others_is_followed(said: str, files: dict[str, bytes]) -> None:
    found = told_of(f"ok 1 - {FOLDER}/a.test.js", files={"pkg/a.test.js": said.encode(), **files})

    assert "pkg/a.test.js" in found.report.contradiction


def test_a_script_whose_files_import_no_tests_in_a_circle_is_believed() -> None:
    files = {
        "pkg/a.test.js": b"require('./b'); require('./gone.js'); require('./data.json');",
        "pkg/b.js": b"require('./a.test.js'); require('assert');",
        "pkg/data.json": b'"node:test"',
    }

    assert told_of(f"ok 1 - {FOLDER}/a.test.js", files=files).report.contradiction == ""


@pytest.mark.parametrize(
    "point",
    [
        f"ok 1 - {FOLDER}/checked.js",
        "ok 1 - adds",
        "ok 1 - ../../etc/adds.test.js",
        f"ok 1 - {FOLDER}/gone.test.js",
        f"    ok 1 - adds\n    1..1\nok 1 - {FOLDER}/good.test.js",
    ],
)
def test_whatever_has_no_tests_or_told_of_them_is_believed(point: str) -> None:
    assert told_of(point).report.contradiction == ""


def test_what_failed_is_told_as_it_failed() -> None:
    found = told_of("not ok 1 - x", f"ok 2 - {FOLDER}/adds.test.js", status=Status.FAILED)

    assert found.report.contradiction == ""
