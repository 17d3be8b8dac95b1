"""Node: npm, the package's own scripts, and its test runner asked for a report it can give."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from verification.engine.gating.components import Component, Read
from verification.engine.gating.manifests import MAX_MANIFEST_BYTES, inner_table, json_table
from verification.engine.gating.stages import (
    BUILD,
    COVERAGE,
    JUDGES,
    LINT,
    NO_ENTRY_POINT,
    PROGRAMS,
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
from verification.engine.gating.unforeseen import unless_said
from verification.engine.reports.coverage import CoverageFormat
from verification.engine.reports.problems import ProblemFormat
from verification.engine.reports.testing import TestFormat

MAX_SCRIPT_CHARS = 2_000
MAX_LOCK_BYTES = 10_000_000
MAX_PACKAGES = 200
"""Of a workspace: of so many it is known what was installed for them alone."""
LOCKS = ("npm-shrinkwrap.json", "package-lock.json")
MANIFESTS = ("package.json", *LOCKS)
NEEDS = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
# Each with what tells that the image has who reads it, and with how that installs.
OTHERS = {
    "yarn.lock": (
        'case "$(yarn --version) $(head -n 3 yarn.lock)" in 1.*"yarn lockfile v1"*) ;; *) false ;; esac',
        "yarn install --frozen-lockfile --non-interactive",
    ),
    "pnpm-lock.yaml": (
        'case "$(pnpm --version) $(head -n 1 pnpm-lock.yaml)" in '
        '8.*"\'6."*|9.*"\'9."*|1[0-9].*"\'9."*) ;; *) false ;; esac',
        "pnpm install --frozen-lockfile",
    ),
}
UNREAD = "Nothing in the image reads the package's lock file: npm chose the versions."
_BY_NPM = "npm {verb} --no-audit --no-fund"
_NOT_BY_NPM = "code (ERESOLVE|EUNSUPPORTEDPROTOCOL)"
"""What npm does not do, and whoever wrote the lock file may well."""
# The work's scripts may have put anything on its own path, a `node` among them.
_JUDGED = f"PATH={JUDGES}:/usr/local/bin:/usr/bin:/bin"
_VERSION = r"(?:[~^<>=]{0,2}[\dxX*][\w.*+-]*|\|\||-)"
_PUBLISHED = re.compile(rf"[a-z][\w.-]*|{_VERSION}(?: {{1,3}}{_VERSION}){{0,9}}", re.ASCII)
"""A version, a range or a tag of npm's registry: no address, path or other package."""
_ODD = "The package takes {name} from elsewhere than npm's registry: nobody knows how it judges."
_NO_FILES = re.compile(rb'"files"\s*:\s*\[\s*\]')
_REFERENCES = re.compile(rb'"references"\s*:\s*\[([^\]]*)\]')
_REFERENCE = re.compile(rb'"path"\s*:\s*"([^"\\\n]+)"')
MAX_PROJECTS = 20
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
    (re.compile(rf"(?:\w+=\S* )*(?:npx )?{runner}(?: [^\n]*)?"), arguments, form, cover)
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
_NODE_TEST = re.compile(r"(?:\w+=\S* )*node (?:\S+ )*--test(?: [^\n]*)?")
_FLAG = re.compile(r"--test(?= |$)")
_TAP = f'--test --test-reporter=tap --test-reporter-destination="{REPORT}"'
_LINES = Cover(
    _TAP,
    f'--experimental-test-coverage --test-reporter=lcov --test-reporter-destination="{COVERAGE}"',
    CoverageFormat.LCOV,
)
_ON_OUTPUT: Sequence[tuple[re.Pattern[str], str]] = tuple(
    (re.compile(rf"(?:\w+=\S* )*(?:npx )?{runner}(?: [^\n]*)?"), arguments)
    for runner, arguments in (("tape", ""), ("ava", " --tap"))
)
"""They print what they report."""
_LOCAL = ("file:", "link:", "workspace:", "portal:")


def node(component: Component, paths: Sequence[str], read: Read) -> Part:
    package = json_table(read(component.path("package.json")))
    scripts = inner_table(package, "scripts")
    known = {
        **inner_table(package, "dependencies"),
        **inner_table(package, "devDependencies"),
    }
    needs = any(inner_table(package, one) for one in NEEDS) or "workspaces" in package
    folder = deps_of(component)
    judges = _judges(known, _locked(component, read))
    stages = (
        _script(scripts, BUILD),
        _types(component, paths, read, judges),
        _lint(judges),
        _test(scripts),
        NO_ENTRY_POINT,
    )
    return Part(
        component,
        _install(component, paths, folder, package) if needs else Install(),
        stages,
        environment={
            "PATH": f"{PROGRAMS}:{folder}/node_modules/.bin",
            "CI": "1",
            "npm_config_update_notifier": "false",
        },
        linked=_linked(component, paths, folder, package) if needs else {},
        judges=tuple(f"{name}@{version}" for name, version in judges.items() if version),
    )


def _linked(
    component: Component, paths: Sequence[str], folder: str, package: Mapping[str, Any]
) -> dict[str, str]:
    """What was installed: the component's, and of a workspace what stands in its packages."""
    found = {"node_modules": f"{folder}/node_modules"}
    if _is_local(package) or component.path("pnpm-workspace.yaml") in paths:
        inner = (path.removeprefix(component.path("")) for path in component.all_of(paths))
        members = (one.rpartition("/")[0] for one in inner if one.endswith("/package.json"))
        known = (one for one in members if "node_modules" not in one.split("/"))
        for one in islice(known, MAX_PACKAGES):
            found[f"{one}/node_modules"] = f"{folder}/{one}/node_modules"
    return found


def _judges(known: Mapping[str, Any], locked: Mapping[str, str]) -> dict[str, str]:
    """What judges the work, and its version; '' where that is none of npm's registry.

    Jiti reads ESLint's settings that are written in TypeScript.
    """
    named = {one: str(known[one]) for one in ("eslint", "jiti", "typescript") if one in known}
    versions = {name: locked.get(name, said) or "latest" for name, said in named.items()}
    return {
        name: version if all(map(_PUBLISHED.fullmatch, (version, named[name] or "*"))) else ""
        for name, version in versions.items()
    }


def _locked(component: Component, read: Read) -> dict[str, str]:
    """The versions that npm's lock file gives to what the component may name itself."""
    for path in map(component.path, LOCKS):
        lock = json_table(read(path), MAX_LOCK_BYTES)
        packages = inner_table(lock, "packages") or inner_table(lock, "dependencies")
        if packages:
            return {
                name.removeprefix("node_modules/"): str(one["version"])
                for name, one in packages.items()
                if isinstance(one, dict) and "version" in one
            }
    return {}


def _install(
    component: Component, paths: Sequence[str], folder: str, package: Mapping[str, Any]
) -> Install:
    """By the manifests alone, so that the package's own scripts have nothing to work on yet."""
    inputs = tuple(path for path in map(component.path, MANIFESTS) if path in paths)
    has_own = len(inputs) > 1
    other = next((one for one in OTHERS if component.path(one) in paths and not has_own), "")
    copied, told = f"./*.json {other}".rstrip(), "npm pkg delete scripts && "
    if other:
        inputs = (*inputs, component.path(other))
    if _is_local(package) or component.path("pnpm-workspace.yaml") in paths:
        inputs = component.all_of(paths)
        copied, told = "-r .", ""
    by_npm = _BY_NPM.format(verb="ci" if has_own else "install")
    return Install(
        f"mkdir -p {folder} && cp {copied} {folder} && cd {folder} && {told}"
        f"{_by_other(other, by_npm) if other else by_npm}",
        inputs,
        notes=(UNREAD,),
    )


def _by_other(lock: str, by_npm: str) -> str:
    """By who wrote the lock file; where that is not there, by npm, as far as npm can."""
    is_there, command = OTHERS[lock]
    npm = f"{{ {by_npm} || {by_npm} --legacy-peer-deps; }} && echo {shlex.quote(UNREAD)}"
    tried = f"if {is_there}; then {command}; else {npm}; fi"
    return f"{unless_said(_NOT_BY_NPM, f'{{ {tried}; }}')}\nexit $code"


def _is_local(package: Mapping[str, Any]) -> bool:
    """Whether it needs packages that lie beside it."""
    named = (version for one in NEEDS for version in inner_table(package, one).values())
    return "workspaces" in package or any(str(one).startswith(_LOCAL) for one in named)


def _script(scripts: Mapping[str, Any], name: str) -> Stage:
    if not isinstance(scripts.get(name), str):
        return Stage(name, skipped=f"The package has no script {name}.")
    return Stage(name, f"npm run --silent {name}")


def _types(
    component: Component, paths: Sequence[str], read: Read, judges: Mapping[str, str]
) -> Stage:
    if component.path("tsconfig.json") not in paths or "typescript" not in judges:
        return Stage(TYPES, skipped="No type checker is configured.")
    if not judges["typescript"]:
        return Stage(TYPES, unreadable=_ODD.format(name="typescript"))
    expected = Expected(ProblemFormat.TSC, Stream.OUT)
    check = f"{_JUDGED} tsc --noEmit --pretty false"
    projects = _projects(read(component.path("tsconfig.json")) or b"")
    if not projects:
        return Stage(TYPES, check, expected)
    each = "\n".join(f"{check} -p {shlex.quote(one)} || code=$?" for one in projects)
    return Stage(TYPES, f"code=0\n{each}\nexit $code", expected)


def _projects(settings: bytes) -> list[str]:
    """What a solution without files of its own refers to: of it alone, nothing would be checked."""
    if len(settings) > MAX_MANIFEST_BYTES or not _NO_FILES.search(settings):
        return []
    found = _REFERENCES.search(settings)
    named = _REFERENCE.findall(found[1]) if found else []
    return [one.decode(errors="replace") for one in named[:MAX_PROJECTS]]


def _lint(judges: Mapping[str, str]) -> Stage:
    if "eslint" not in judges:
        return Stage(LINT, skipped="No linter is configured.")
    if not judges["eslint"]:
        return Stage(LINT, unreadable=_ODD.format(name="eslint"))
    command = f'{_JUDGED} eslint --format json --output-file "{REPORT}" .'
    return Stage(LINT, command, Expected(ProblemFormat.ESLINT))


def _test(scripts: Mapping[str, Any]) -> Stage:
    script = scripts.get(TEST)
    if not isinstance(script, str) or not script.strip() or _NO_TEST.search(script):
        return Stage(TEST, skipped="The package names no tests.")
    found = reporting(" ".join(script.split()))
    if found is None:
        return Stage(TEST, "npm test --silent", is_given=True)
    command, expected, cover = found
    return Stage(TEST, command, expected, cover=cover)


def reporting(script: str) -> tuple[str, Expected, Cover | None] | None:
    """A script, told to report; None where that is more than one command, or an unknown runner."""
    if len(script) > MAX_SCRIPT_CHARS or not _SIMPLE.fullmatch(script):
        return None
    if _NODE_TEST.fullmatch(script):
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
    for _, added, _, _ in _RUNNERS:
        if command.endswith(f" {added}"):
            return f"{command.removesuffix(added)}{arguments.strip()} {added}"
    is_known = _TAP in command or any(runner.fullmatch(command) for runner, _ in _ON_OUTPUT)
    return f"{command} {arguments.strip()}" if is_known else ""
