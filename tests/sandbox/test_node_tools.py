"""Node's runners and installers, had from npm's registry and tried for real."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from uuid import uuid4

import pytest
from docker import APIClient

from tests.sandbox.engine import MEGABYTE, SETTINGS, tried
from verification.engine.gating.recipe_node_install import UNREAD
from verification.engine.outcome import Status
from verification.engine.reports.model import TestCounts

pytestmark = pytest.mark.docker

ROOMY = replace(SETTINGS, bounds=replace(SETTINGS.bounds, memory_bytes=1_000 * MEGABYTE))
CALC = {"calc.js": "exports.add = (a, b) => a + b;\n"}
EXPECTS = (
    "const {{ add }} = {0};\n\ntest('adds', () => {{\n  expect(add(1, 2)).toBe(3);\n}});\n"
    "test('adds more', () => {{\n  expect(add(2, 2)).toBe(4);\n}});\n"
)
ASSERTS = (
    "const {0} = require('{0}');\nconst {{ add }} = require('./calc.js');\n\n"
    "{1}('adds', {2} => {3}.{4}(add(1, 2), 3){5});\n"
    "{1}('adds more', {2} => {3}.{4}(add(2, 2), 4){5});\n"
)
VITE = "import { defineConfig } from 'vite';\nexport default defineConfig({ test: { globals: true } });\n"
RUNNERS = {
    "jest": ("29.7.0", "jest", {"calc.test.js": EXPECTS.format("require('./calc.js')")}, 7),
    # Its settings are compiled, and what they become is kept beside what was installed.
    "vitest": ("2.1.8", "vitest", {"calc.test.js": EXPECTS.format("await import('./calc.js')"),
                                   "vite.config.ts": VITE}, 7),
    "mocha": ("10.8.2", "mocha it.js",
              {"it.js": ASSERTS.format("assert", "it", "()", "assert", "equal", "")}, 5),
    "tape": ("5.9.0", "tape it.js",
             {"it.js": ASSERTS.format("tape", "tape", "(t)", "(t.plan(1), t)", "equal", "")}, 5),
    "ava": ("5.3.1", "ava it.js", {"it.js": ASSERTS.format("ava", "ava", "(t)", "t", "is", "")}, 5),
}  # fmt: skip


def package(script: str, needs: Mapping[str, str]) -> str:
    said = {"name": "x", "version": "1.0.0", "license": "MIT", "scripts": {"test": script}}
    return json.dumps({**said, "devDependencies": needs})


def new_name() -> str:
    """Of a package that was not installed before."""
    return f"x-{uuid4().hex}"


@pytest.mark.parametrize("runner", RUNNERS)
def test_each_runner_counts_its_tests_and_tells_a_failed_one_at_its_place(
    engine: APIClient, runner: str
) -> None:
    version, script, files, line = RUNNERS[runner]
    right = {"package.json": package(script, {runner: version}), **CALC, **files}
    wrong = {**right, "calc.js": "exports.add = (a, b) => a + b - (a === 2 ? 1 : 0);\n"}

    found, failed = (
        tried(engine, one, "install", "test", settings=ROOMY).reports["test"]
        for one in (right, wrong)
    )

    assert (found.status, found.contradiction) == (Status.PASSED, ""), found
    assert (found.tests, failed.tests) == (TestCounts(passed=2), TestCounts(passed=1, failed=1))
    assert [(one.path, one.line) for one in failed.failures] == [(next(iter(files)), line)], failed


@pytest.mark.parametrize("script", ["jest --watchAll", "jest --watch", "vitest", "mocha -w it.js"])
def test_a_runner_that_would_watch_ends(engine: APIClient, script: str) -> None:
    version, _, files, _ = RUNNERS[script.split()[0]]
    needs = {script.split()[0]: version}

    found = tried(
        engine,
        {"package.json": package(script, needs), **CALC, **files},
        "install",
        "test",
        seconds=30,
        settings=ROOMY,
    )

    assert found.reports["test"].tests == TestCounts(passed=2), found.ended["test"]


def test_lines_that_ran_are_told_by_jest(engine: APIClient) -> None:
    version, script, files, _ = RUNNERS["jest"]
    signs = "exports.add = (a, b) => {\n  if (a < 0) {\n    return 0;\n  }\n  return a + b;\n};\n"
    work = {"package.json": package(script, {"jest": version}), **files, "calc.js": signs}

    coverage = (
        tried(engine, work, "install", "test", covers=True, settings=ROOMY).judged["test"].coverage
    )

    assert coverage
    assert (5 in coverage.files["calc.js"].covered, 3 in coverage.files["calc.js"].missed) == (
        True,
        True,
    )


LOCKED = "const test = require('node:test');\nconst assert = require('node:assert');\n" + (
    "test('locked', () => assert.equal(require('ms/package.json').version, '{}'));\n"
)
YARN = """\
# yarn lockfile v1


ms@^2.1.0:
  version "2.1.2"
  resolved "https://registry.yarnpkg.com/ms/-/ms-2.1.2.tgz#d09d1f357b443f493382a8eb3ccd183872ae6009"
"""
PNPM = """\
lockfileVersion: '9.0'

settings:
  autoInstallPeers: true
  excludeLinksFromLockfile: false

importers:

  .:
    devDependencies:
      ms:
        specifier: ^2.1.0
        version: 2.1.2

packages:

  ms@2.1.2:
    resolution: {integrity: sha512-sGkPx+VjMtmA6MX27oA4FBFELFCZZ4S4XqeGOXCv68tT+jb3vk/RyaKWP0PTKyWtmLSM0b+adUTEvbs1PEaH2w==}

snapshots:

  ms@2.1.2: {}
"""


@pytest.mark.parametrize(("lock", "content"), [("yarn.lock", YARN), ("pnpm-lock.yaml", PNPM)])
def test_what_yarn_and_pnpm_locked_is_installed_once_in_that_version(
    engine: APIClient, lock: str, content: str
) -> None:
    needs = {**json.loads(package("node --test", {"ms": "^2.1.0"})), "name": new_name()}
    files = {"package.json": json.dumps(needs), lock: content, "it.test.js": LOCKED.format("2.1.2")}

    first, again = (tried(engine, files, "install", "test") for _ in range(2))

    for found in (first, again):
        assert found.reports["test"].tests == TestCounts(passed=1), found.ended["test"]
    assert (first.reports["install"].detail, "install" in again.ended) == ("", False)


def test_a_lock_file_that_does_not_fit_its_package_fails_the_install(engine: APIClient) -> None:
    files = {"package.json": package("node --test", {"ms": "2.0.0"}), "pnpm-lock.yaml": PNPM}

    report = tried(engine, files, "install").reports["install"]

    assert (report.status, report.is_lost) == (Status.FAILED, False)
    assert "ERR_PNPM_OUTDATED_LOCKFILE" in report.detail


def test_a_lock_file_of_a_newer_yarn_is_not_read_and_that_is_told(engine: APIClient) -> None:
    newer = "__metadata:\n  version: 8\n  cacheKey: 10c0\n"
    needs = {**json.loads(package("node --test", {"ms": "2.1.1"})), "name": new_name()}
    files = {
        "package.json": json.dumps(needs),
        "yarn.lock": newer,
        "it.test.js": LOCKED.format("2.1.1"),
    }

    found = tried(engine, files, "install", "test").reports

    assert (found["install"].status, found["install"].detail) == (Status.PASSED, UNREAD)
    assert found["test"].tests == TestCounts(passed=1)


WORKSPACE = """\
lockfileVersion: '9.0'

settings:
  autoInstallPeers: true
  excludeLinksFromLockfile: false

importers:

  .: {}

  packages/a:
    dependencies:
      '@x/b':
        specifier: workspace:*
        version: link:../b

  packages/b: {}
"""


@pytest.mark.parametrize(
    ("build", "test", "version", "more"),
    [
        ("npm run build -w packages/b", "npm test --workspaces --if-present", "1.0.0", {}),
        ("pnpm -r build", "pnpm -r test", "workspace:*",
         {"pnpm-lock.yaml": WORKSPACE, "pnpm-workspace.yaml": "packages: [packages/*]\n"}),
        ("yarn workspace @x/b build", "yarn workspaces run test", "1.0.0",
         {"yarn.lock": "# yarn lockfile v1\n"}),
    ],
    ids=["npm", "pnpm", "yarn"],
)  # fmt: skip
def test_packages_of_a_workspace_find_what_was_built_in_others(
    engine: APIClient, build: str, test: str, version: str, more: Mapping[str, str]
) -> None:
    above = {
        "private": True,
        "workspaces": ["packages/*"],
        "scripts": {"build": build, "test": test},
    }
    a = {"name": "a", "version": "1.0.0", "dependencies": {"@x/b": version}}
    b = {"name": "@x/b", "version": "1.0.0", "main": "made.js"}
    make = "node -e \"require('fs').writeFileSync('made.js', 'module.exports = 1')\""
    files = {
        "package.json": json.dumps(above),
        "packages/a/package.json": json.dumps({**a, "scripts": {"test": "node --test"}}),
        "packages/a/it.test.js": "require('node:test')('b', () => { require('@x/b'); });\n",
        "packages/b/package.json": json.dumps({**b, "scripts": {"build": make, "test": "node ."}}),
        **more,
    }

    found = tried(engine, files, "install", "build", "test").told

    assert found["."] == dict.fromkeys(("install", "build", "test"), "passed"), found


def test_peers_that_do_not_fit_are_installed_where_the_settings_of_npm_say_so(
    engine: APIClient,
) -> None:
    needs = {"react": "19.0.0", "react-dom": "18.2.0"}
    work = {"package.json": package("node --test", needs), "a.test.js": "require('node:test')"}

    found = [
        tried(engine, {**work, **more}, "install").reports["install"].status
        for more in ({}, {".npmrc": "legacy-peer-deps=true\nfund=false\n"})
    ]

    assert found == [Status.FAILED, Status.PASSED]


def test_an_image_without_git_blames_nobody_who_needs_a_repository(engine: APIClient) -> None:
    work = {"package.json": package("node --test", {"x": "github:a-user/a-repository"})}

    report = tried(engine, work, "install").reports["install"]

    assert report.status is Status.ERROR, report


def test_a_package_that_lies_beside_the_component_is_found_with_what_it_needs(
    engine: APIClient,
) -> None:
    shared = {"name": "shared", "version": "1.0.0", "dependencies": {"is-number": "7.0.0"}}
    work = {
        "app/package.json": package("node --test", {"shared": "file:../shared"}),
        "app/a.test.js": "require('node:test')('a', () => { require('shared'); });\n",
        "shared/package.json": json.dumps(shared),
        "shared/index.js": "module.exports = require('is-number');\n",
    }

    found = tried(engine, work, "install", "test").told["app"]

    assert found == {"install": "passed", "test": "passed"}


def test_nodes_own_tests_are_told_with_their_files(engine: APIClient) -> None:
    test = (
        "const test = require('node:test');\ntest('adds', () => { if (%s) throw Error('no'); });\n"
    )
    work = {
        "web/package.json": json.dumps({"scripts": {"test": "node --test"}}),
        "web/a.test.js": test % "false",
        "web/b.test.js": test % "true",
    }

    cases = tried(engine, work, "test").judged["test"].tests.cases  # type: ignore[union-attr]

    assert [(one.name, one.file, one.status.is_bad) for one in cases] == [
        ("adds", "web/b.test.js", True),
        ("adds", "web/a.test.js", False),
    ]
