"""Node's test runners, as scripts call them: told to report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from verification.engine.gating.manifests import inner_table
from verification.engine.gating.recipe_node_scripts import KEPT, around
from verification.engine.gating.stages import COVERAGE, REPORT, TEST, Cover, Expected, Stage, Stream
from verification.engine.reports.coverage import CoverageFormat
from verification.engine.reports.testing import TestFormat

MAX_SCRIPT_CHARS = 2_000
_NO_TEST = re.compile(r"no test specified", re.IGNORECASE)
_SIMPLE = re.compile(r"[^;&|<>`$\n\\()]+")
"""One command, which takes further arguments at its end."""
_FIRST = r"(?:cross-env )?(?:\w+=\S* )*"
"""What names variables for one command: a shell, or the package that does it on every system."""
_WATCH = re.compile(r" (?:--watch(?:All)?(?:[= ](?:true|false))?|--watch-path=\S+)(?= |$)")
_WATCH_SHORT = re.compile(r"\b((?:mocha|ava)(?: [^\n]*)?) -w(?= |$)")
_JEST = f'--bail=0 --json --outputFile "{REPORT}"'
_JEST_LINES = Cover(
    _JEST,
    f'--coverage --coverageReporters lcovonly --coverageDirectory "{COVERAGE}"',
    CoverageFormat.LCOV,
    inner="lcov.info",
)
_VITEST = f'--run --bail=0 --reporter json --outputFile "{REPORT}"'
# Of whichever the work has; without one nothing is counted.
_VITEST_LINES = Cover(
    _VITEST,
    "$cover",
    CoverageFormat.LCOV,
    inner="lcov.info",
    first=f"""cover=
for one in v8 istanbul; do if [ -d "node_modules/@vitest/coverage-$one" ]; then
  cover="--coverage.enabled --coverage.provider=$one --coverage.reporter=lcovonly"
  cover="$cover --coverage.reportsDirectory={COVERAGE}"; break
fi; done""",
)
_MOCHA_LINES = Cover(
    "",
    "",
    CoverageFormat.LCOV,
    inner="lcov.info",
    first=f"""if [ -x node_modules/.bin/c8 ]; then
  export NODE_V8_COVERAGE="{REPORT}.v8"
  trap 'unset NODE_V8_COVERAGE; node_modules/.bin/c8 report --temp-directory "{REPORT}.v8" \
--reporter lcovonly --reports-dir "{COVERAGE}" || true' EXIT
fi""",
)
_RUNNERS: Sequence[tuple[re.Pattern[str], str, TestFormat, Cover | None]] = tuple(
    (re.compile(rf"{_FIRST}(?:npx )?{runner}(?: [^\n]*)?"), arguments, form, cover)
    for runner, arguments, form, cover in (
        ("vitest", _VITEST, TestFormat.JEST, _VITEST_LINES),
        ("jest", _JEST, TestFormat.JEST, _JEST_LINES),
        (
            "mocha",
            f'--no-bail --no-dry-run --reporter json --reporter-option output="{REPORT}"',
            TestFormat.MOCHA,
            _MOCHA_LINES,
        ),
    )
)
_NPX = re.compile(rf"\A({_FIRST})npx (?:--no-install )?(?=\w)")
# Node's own runner is nobody's package: none of the work's stands before it.
_NODE_TEST = re.compile(r"(?:\w+=\S* )*node (?:\S+ )*--test(?: [^\n]*)?")
REPORTER = "/opt/loomverify/node_tap.mjs"
_OWN_REPORTER = re.compile(r" --test-reporter[= ]\S+")
_FLAG = re.compile(r"--test(?= |$)")
_TAP = f'--test --test-reporter={REPORTER} --test-reporter-destination="{REPORT}"'
_LINES = Cover(
    _TAP,
    f'--experimental-test-coverage --test-reporter=lcov --test-reporter-destination="{COVERAGE}"',
    CoverageFormat.LCOV,
)
_ON_OUTPUT: Sequence[tuple[re.Pattern[str], str]] = tuple(
    (re.compile(rf"{_FIRST}(?:npx )?{runner}(?: [^\n]*)?"), arguments)
    for runner, arguments in (("tape", ""), ("ava", " --tap"))
)
"""They print what they report."""


def tested(package: Mapping[str, Any]) -> Stage:
    script = inner_table(package, "scripts").get(TEST)
    if not isinstance(script, str) or not script.strip() or _NO_TEST.search(script):
        return Stage(TEST, skipped="The package names no tests.")
    found = reporting(" ".join(script.split()))
    if found is None:
        return Stage(TEST, around("npm test --silent", package), is_given=True)
    command, expected, cover = found
    is_read = expected.stream is Stream.OUT
    return Stage(TEST, around(command, package, TEST, is_read=is_read), expected, cover=cover)


def reporting(script: str) -> tuple[str, Expected, Cover | None] | None:
    """A script, told to report; None where that is more than one command, or an unknown runner."""
    if len(script) > MAX_SCRIPT_CHARS or not _SIMPLE.fullmatch(script):
        return None
    # Each stands beside what was installed; nothing else could be fetched.
    script = _NPX.sub(r"\1", script)
    script = _WATCH_SHORT.sub(r"\1", _WATCH.sub("", script))  # who watches never ends
    if _NODE_TEST.fullmatch(script):
        if len(_OWN_REPORTER.findall(script)) == 1 and "-destination" not in script:
            script = _OWN_REPORTER.sub("", script)  # of two, each would need a destination
        return _FLAG.sub(lambda _: _TAP, script, count=1), Expected(TestFormat.TAP), _LINES
    for runner, arguments, form, cover in _RUNNERS:
        if runner.fullmatch(script):
            return f"{script} {arguments}", Expected(form), cover
    for runner, arguments in _ON_OUTPUT:
        if runner.fullmatch(script):
            return f"{script}{arguments}", Expected(TestFormat.TAP, Stream.OUT), None
    return None


def with_more(command: str, arguments: str) -> str:
    """A script that reports, with more arguments of somebody's; '' where it does not."""
    lines = command.split("\n")
    for at, line in enumerate(lines):
        called = line.removesuffix(KEPT)
        told = _with_more(called, arguments.strip())
        if told:
            lines[at] = line.replace(called, told, 1)
            return "\n".join(lines)
    return ""


def _with_more(command: str, arguments: str) -> str:
    for _, added, _, _ in _RUNNERS:
        if command.endswith(f" {added}"):
            return f"{command.removesuffix(added)}{arguments} {added}"
    is_known = _TAP in command or any(runner.fullmatch(command) for runner, _ in _ON_OUTPUT)
    return f"{command} {arguments}" if is_known else ""
