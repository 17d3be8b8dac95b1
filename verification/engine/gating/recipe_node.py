"""Node: npm, the package's own scripts, and its test runner asked for a report it can give."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from verification.engine.gating.components import Component, Read
from verification.engine.gating.manifests import MAX_MANIFEST_BYTES, inner_table, json_table
from verification.engine.gating.recipe_node_install import LOCKS, NEEDS, beside, installed, linked
from verification.engine.gating.recipe_node_scripts import around, frame
from verification.engine.gating.recipe_node_tests import tested
from verification.engine.gating.stages import (
    BUILD,
    JUDGES,
    LINT,
    NO_ENTRY_POINT,
    NO_LINTER,
    NO_TYPE_CHECKER,
    PROGRAMS,
    REPORT,
    TYPES,
    Expected,
    Install,
    Part,
    Stage,
    Stream,
    deps_of,
)
from verification.engine.reports.problems import ProblemFormat

MAX_LOCK_BYTES = 10_000_000
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


def node(component: Component, paths: Sequence[str], read: Read) -> Part:
    package = json_table(read(component.path("package.json")))
    known = {
        **inner_table(package, "dependencies"),
        **inner_table(package, "devDependencies"),
    }
    needs = any(inner_table(package, one) for one in NEEDS) or "workspaces" in package
    others = beside(component, package, paths, read)
    folder = deps_of(component) + (f"/{component.folder}" if others else "")
    judges = _judges(known, _locked(component, read))
    around_others = frame(package)
    stages = (
        _script(package, BUILD),
        _types(component, paths, read, judges),
        _lint(component, paths, package, judges),
        tested(package),
        NO_ENTRY_POINT,
    )
    return Part(
        component,
        installed(component, paths, folder, package, read, others) if needs else Install(),
        tuple(replace(one, frame=around_others) for one in stages),
        environment={
            "PATH": f"{PROGRAMS}:{folder}/node_modules/.bin",
            "CI": "1",
            "npm_config_update_notifier": "false",
        },
        linked=linked(component, paths, folder, package, others) if needs else {},
        judges=tuple(f"{name}@{version}" for name, version in judges.items() if version),
    )


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


def _script(package: Mapping[str, Any], name: str) -> Stage:
    if not isinstance(inner_table(package, "scripts").get(name), str):
        return Stage(name, skipped=f"The package has no script {name}.")
    return Stage(name, around(f"npm run --silent {name}", package))


def _types(
    component: Component, paths: Sequence[str], read: Read, judges: Mapping[str, str]
) -> Stage:
    if component.path("tsconfig.json") not in paths or "typescript" not in judges:
        return NO_TYPE_CHECKER
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


def _lint(
    component: Component,
    paths: Sequence[str],
    package: Mapping[str, Any],
    judges: Mapping[str, str],
) -> Stage:
    is_configured = "eslintConfig" in package or any(_configures(component, one) for one in paths)
    if "eslint" not in judges or not is_configured:
        return NO_LINTER
    if not judges["eslint"]:
        return Stage(LINT, unreadable=_ODD.format(name="eslint"))
    # In their old form ESLint 9 reads settings only where it is told to, as `next lint` tells it.
    old = "" if any(_is_flat(component, one) for one in paths) else "ESLINT_USE_FLAT_CONFIG=false "
    command = f'{old}{_JUDGED} eslint --format json --output-file "{REPORT}" .'
    return Stage(LINT, command, Expected(ProblemFormat.ESLINT))


def _is_flat(component: Component, path: str) -> bool:
    """Settings in the new form, in its folder or in one above it."""
    folder, _, name = path.rpartition("/")
    is_above = not folder or f"{component.folder}/".startswith(f"{folder}/")
    return name.startswith("eslint.config.") and is_above


def _configures(component: Component, path: str) -> bool:
    """Whether ESLint may find its settings there: below the component, or in a folder above it."""
    folder, _, name = path.rpartition("/")
    is_near = path.startswith(component.path("")) or f"{component.folder}/".startswith(f"{folder}/")
    return name.startswith((".eslintrc", "eslint.config.")) and (is_near or not folder)
