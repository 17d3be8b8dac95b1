"""What a package of Node needs: installed by npm, or by who wrote its lock file."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from verification.engine.gating.components import Component, Read
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
_UNFIT = (
    "code EBADENGINE|ERR_PNPM_UNSUPPORTED_ENGINE|is incompatible with this module|"
    "spawn git( ENOENT)?$|find the binary git|cannot run (git|ssh)"
)
"""The image has another Node than is asked for, or lacks what fetches a repository."""
MAX_SETTINGS_BYTES = 20_000
_SETTING = re.compile(
    r"\s*((?:legacy|strict)-peer-deps|install-strategy|prefer-dedupe|auto-install-peers|"
    r"strict-peer-dependencies|dedupe-peer-dependents|resolution-mode|node-linker|"
    r"shamefully-hoist|hoist|(?:public-)?hoist-pattern\[\])\s*(?:=\s*([\w.@*!/-]*)\s*)?"
)
"""What changes which packages are taken, and where they lie; all else is not for us to follow."""
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
    component: Component, paths: Sequence[str], folder: str, package: Mapping[str, Any], read: Read
) -> Install:
    """By the manifests alone, so that the package's own scripts have nothing to work on yet."""
    inputs = tuple(path for path in map(component.path, MANIFESTS) if path in paths)
    has_own = len(inputs) > 1
    other = next((one for one in OTHERS if component.path(one) in paths and not has_own), "")
    copied, told = f"./*.json {other}".rstrip(), " && npm pkg delete scripts"
    if other:
        inputs = (*inputs, component.path(other))
    if _is_local(package) or component.path("pnpm-workspace.yaml") in paths:
        inputs = component.all_of(paths)
        copied = "-r ."
    elif said := _settings(read(component.path(".npmrc"))):
        told = f" && printf '%s\\n' {shlex.join(said)} > .npmrc{told}"
    by_npm = _BY_NPM.format(verb="ci" if has_own else "install")
    command = _by_other(other, by_npm) if other else by_npm
    return Install(
        f"mkdir -p {folder} && cp {copied} {folder} && cd {folder}{told} || exit\n"
        f"{unless_said(f'{_NOT_BY_NPM}|{_UNFIT}' if other else _UNFIT, command)}\nexit $code",
        inputs,
        notes=(UNREAD,),
    )


def _settings(content: bytes | None) -> list[str]:
    """The lines of an .npmrc that count here."""
    if not content or len(content) > MAX_SETTINGS_BYTES:
        return []
    lines = content.decode(errors="replace").splitlines()
    found = filter(None, map(_SETTING.fullmatch, lines))
    return [f"{match[1]}={match[2] or 'true'}" for match in found]


def _by_other(lock: str, by_npm: str) -> str:
    """By who wrote the lock file; where that is not there, by npm, as far as npm can."""
    is_there, command = OTHERS[lock]
    npm = f"{{ {by_npm} || {by_npm} --legacy-peer-deps; }} && echo {shlex.quote(UNREAD)}"
    return f"{{ if {is_there}; then {command}; else {npm}; fi; }}"


def _is_local(package: Mapping[str, Any]) -> bool:
    """Whether it needs packages that lie beside it."""
    named = (version for one in NEEDS for version in inner_table(package, one).values())
    return "workspaces" in package or any(str(one).startswith(_LOCAL) for one in named)
