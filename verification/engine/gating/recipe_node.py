"""Node: npm, the package's own scripts, and its test runner asked for a report it can give."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from verification.engine.gating.components import Component, Read
from verification.engine.gating.manifests import inner_table, json_table
from verification.engine.gating.stages import (
    BUILD,
    COVERAGE,
    LINT,
    NO_ENTRY_POINT,
    REPORT,
    TEST,
    TYPES,
    Cover,
    Expected,
    Install,
    Part,
    Stage,
    Stream,
    deps_of,
)
from verification.engine.reports.coverage import CoverageFormat
from verification.engine.reports.problems import ProblemFormat
from verification.engine.reports.testing import TestFormat

MAX_SCRIPT_CHARS = 2_000
MANIFESTS = ("package.json", "package-lock.json", "npm-shrinkwrap.json")
_NO_TEST = re.compile(r"no test specified", re.IGNORECASE)
_SIMPLE = re.compile(r"[^;&|<>`$\n\\()]+")
"""One command, which takes further arguments at its end."""
_JEST = f'--bail=0 --json --outputFile "{REPORT}"'
_JEST_LINES = Cover(
    _JEST,
    f'--coverage --coverageReporters lcovonly --coverageDirectory "{COVERAGE}"',
    CoverageFormat.LCOV,
    inner="lcov.info",
)
_RUNNERS: Sequence[tuple[re.Pattern[str], str, TestFormat, Cover | None]] = tuple(
    (re.compile(rf"(?:\w+=\S* )*(?:npx )?{runner}(?: [^\n]*)?"), arguments, form, cover)
    for runner, arguments, form, cover in (
        (
            "vitest",
            f'--run --bail=0 --reporter json --outputFile "{REPORT}"',
            TestFormat.JEST,
            None,
        ),
        ("jest", _JEST, TestFormat.JEST, _JEST_LINES),
        (
            "mocha",
            f'--no-bail --reporter json --reporter-option output="{REPORT}"',
            TestFormat.MOCHA,
            None,
        ),
    )
)
_NODE_TEST = re.compile(r"(?:\w+=\S* )*node (?:\S+ )*--test(?: [^\n]*)?")
_FLAG = re.compile(r"--test(?= |$)")
_TAP = f'--test --test-reporter=tap --test-reporter-destination="{REPORT}"'
_LINES = Cover(
    _TAP,
    f'--experimental-test-coverage --test-reporter=lcov --test-reporter-destination="{COVERAGE}"',
    CoverageFormat.LCOV,
)
_LOCAL = ("file:", "link:", "workspace:", "portal:")


def node(component: Component, paths: Sequence[str], read: Read) -> Part:
    package = json_table(read(component.path("package.json")))
    scripts = inner_table(package, "scripts")
    known = {*inner_table(package, "dependencies"), *inner_table(package, "devDependencies")}
    needs = bool(known) or "workspaces" in package
    folder = deps_of(component)
    stages = (
        _script(scripts, BUILD),
        _types(component, paths, known),
        _lint(known),
        _test(scripts),
        NO_ENTRY_POINT,
    )
    return Part(
        component,
        _install(component, paths, folder, package) if needs else Install(),
        stages,
        environment={
            "PATH": f"{folder}/node_modules/.bin:/opt/loomverify/bin:/usr/local/bin:/usr/bin:/bin",
            "CI": "1",
            "npm_config_update_notifier": "false",
        },
        linked={"node_modules": f"{folder}/node_modules"} if needs else {},
    )


def _install(
    component: Component, paths: Sequence[str], folder: str, package: Mapping[str, Any]
) -> Install:
    """By the manifests alone, so that the package's own scripts have nothing to work on yet."""
    inputs = tuple(path for path in map(component.path, MANIFESTS) if path in paths)
    verb = "ci" if len(inputs) > 1 else "install"
    copied, told = "./*.json", "npm pkg delete scripts && "
    if _is_local(package):
        inputs = component.all_of(paths)
        copied, told = "-r .", ""
    return Install(
        f"mkdir -p {folder} && cp {copied} {folder} && cd {folder} && {told}"
        f"npm {verb} --no-audit --no-fund",
        inputs,
    )


def _is_local(package: Mapping[str, Any]) -> bool:
    """Whether it needs packages that lie beside it."""
    named = [
        *inner_table(package, "dependencies").values(),
        *inner_table(package, "devDependencies").values(),
    ]
    return "workspaces" in package or any(str(one).startswith(_LOCAL) for one in named)


def _script(scripts: Mapping[str, Any], name: str) -> Stage:
    if not isinstance(scripts.get(name), str):
        return Stage(name, skipped=f"The package has no script {name}.")
    return Stage(name, f"npm run --silent {name}")


def _types(component: Component, paths: Sequence[str], known: set[str]) -> Stage:
    if component.path("tsconfig.json") not in paths or "typescript" not in known:
        return Stage(TYPES, skipped="No type checker is configured.")
    expected = Expected(ProblemFormat.TSC, Stream.OUT)
    return Stage(TYPES, "tsc --noEmit --pretty false", expected)


def _lint(known: set[str]) -> Stage:
    if "eslint" not in known:
        return Stage(LINT, skipped="No linter is configured.")
    command = f'eslint --format json --output-file "{REPORT}" .'
    return Stage(LINT, command, Expected(ProblemFormat.ESLINT))


def _test(scripts: Mapping[str, Any]) -> Stage:
    script = scripts.get(TEST)
    if not isinstance(script, str) or not script.strip() or _NO_TEST.search(script):
        return Stage(TEST, skipped="The package names no tests.")
    found = _reporting(" ".join(script.split()))
    if found is None:
        return Stage(TEST, "npm test --silent", is_given=True)
    command, form, cover = found
    return Stage(TEST, command, Expected(form), cover=cover)


def _reporting(script: str) -> tuple[str, TestFormat, Cover | None] | None:
    """The script itself, told to report; None where that would be more than one command."""
    if len(script) > MAX_SCRIPT_CHARS or not _SIMPLE.fullmatch(script):
        return None
    if _NODE_TEST.fullmatch(script):
        return _FLAG.sub(lambda _: _TAP, script, count=1), TestFormat.TAP, _LINES
    for runner, arguments, form, cover in _RUNNERS:
        if runner.fullmatch(script):
            return f"{script} {arguments}", form, cover
    return None
