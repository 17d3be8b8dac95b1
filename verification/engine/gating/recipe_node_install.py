"""What a package of Node needs: installed by npm, or by who wrote its lock file."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from verification.engine.gating.components import Component
from verification.engine.gating.manifests import inner_table
from verification.engine.gating.stages import Install
from verification.engine.gating.unforeseen import unless_said

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
_LOCAL = ("file:", "link:", "workspace:", "portal:")


def linked(
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


def installed(
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
