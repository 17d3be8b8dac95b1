"""What a package of Node needs: installed by npm, or by who wrote its lock file."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from verification.engine.gating.components import Component, Read, below
from verification.engine.gating.manifests import inner_table, json_table
from verification.engine.gating.stages import Install, deps_of
from verification.engine.reports.model import WORKSPACE

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
    "spawn git( ENOENT)?$|find the binary git|cannot run (git|ssh)|gyp ERR! "
)
"""The image has another Node than is asked for, or lacks what fetches a repository, or compiles a package."""
MAX_SETTINGS_BYTES = 20_000
_SETTING = re.compile(
    r"\s*((?:legacy|strict)-peer-deps|install-strategy|prefer-dedupe|auto-install-peers|"
    r"strict-peer-dependencies|dedupe-peer-dependents|resolution-mode|node-linker|"
    r"shamefully-hoist|hoist|(?:public-)?hoist-pattern\[\])\s*(?:=\s*([\w.@*!/-]*)\s*)?"
)
"""What changes which packages are taken, and where they lie; all else is not for us to follow."""
_LOCAL = ("file:", "link:", "workspace:", "portal:", "./", "../")
MAX_BESIDE = 20
_PLAIN = re.compile(r"[\w.@+-]+(?:/[\w.@+-]+)*")


def beside(
    component: Component, package: Mapping[str, Any], paths: Sequence[str], read: Read
) -> tuple[str, ...]:
    """Folders of the workspace, outside of the component, of packages that it takes from there."""
    if "workspaces" in package or not _PLAIN.fullmatch(component.folder):
        return ()
    found: list[str] = []
    waiting = [(component.folder, package)]
    while waiting and len(found) < MAX_BESIDE:
        folder, needing = waiting.pop()
        for one in _named(needing, folder):
            is_out = not f"{one}/".startswith(component.path(""))
            if is_out and one not in found and f"{one}/package.json" in paths:
                found.append(one)
                waiting.append((one, json_table(read(f"{one}/package.json"))))
    return tuple(found[:MAX_BESIDE])


def _named(package: Mapping[str, Any], folder: str) -> Iterator[str]:
    """Where the packages lie that it names by a path."""
    for version in (one for name in NEEDS for one in inner_table(package, name).values()):
        said = str(version).removeprefix("file:").removeprefix("link:")
        if said.startswith(("./", "../")):
            path = posixpath.normpath(posixpath.join(folder, said))
            if _PLAIN.fullmatch(path) and not path.startswith(".."):
                yield path


def linked(
    component: Component,
    paths: Sequence[str],
    folder: str,
    package: Mapping[str, Any],
    others: Sequence[str],
) -> dict[str, str]:
    """What was installed: the component's, and of a workspace what stands in its packages."""
    found = {"node_modules": f"{folder}/node_modules"}
    if _holds_others(component, package, paths):
        inner = component.inner_of(paths)
        members = (one.rpartition("/")[0] for one in inner if one.endswith("/package.json"))
        known = (one for one in members if "node_modules" not in one.split("/"))
        for one in islice(known, MAX_PACKAGES):
            found[f"{one}/node_modules"] = f"{folder}/{one}/node_modules"
    up = "../" * (component.folder.count("/") + 1)
    for one in others:
        found[f"{up}{one}/node_modules"] = f"{deps_of(component)}/{one}/node_modules"
    return found


def installed(
    component: Component,
    paths: Sequence[str],
    folder: str,
    package: Mapping[str, Any],
    read: Read,
    others: Sequence[str] = (),
) -> Install:
    """By the manifests alone, so that the package's own scripts have nothing to work on yet.

    `others` are packages that lie beside it: they lie beside it where it is installed, too.
    """
    inputs = tuple(path for path in map(component.path, MANIFESTS) if path in paths)
    has_own = len(inputs) > 1
    other = next((one for one in OTHERS if component.path(one) in paths and not has_own), "")
    copied, told = f"./*.json {other}".rstrip(), " && npm pkg delete scripts"
    if _holds_others(component, package, paths):
        inputs, copied = component.all_of(paths), "-r ."
    else:
        inputs = (*inputs, *([component.path(other)] if other else ()))
        told = f"{_settings(read(component.path('.npmrc')))}{told}"
    laid = "".join(_laid(one, deps_of(component), paths) for one in others)
    by_npm = _BY_NPM.format(verb="ci" if has_own else "install")
    command = _by_other(other, by_npm) if other else by_npm
    return Install(
        f"{laid}mkdir -p {folder} && cp {copied} {folder} && cd {folder}{told} || exit\n{command}",
        (*inputs, *below(others, paths)),
        notes=(UNREAD,),
        excuses=f"{_NOT_BY_NPM}|{_UNFIT}" if other else _UNFIT,
    )


def _laid(folder: str, deps: str, paths: Sequence[str]) -> str:
    """Npm installs nothing for a package that it only links to."""
    target = f"{deps}/{folder}"
    has_lock = any(f"{folder}/{one}" in paths for one in LOCKS)
    by_npm = _BY_NPM.format(verb="ci" if has_lock else "install")
    copied = f"mkdir -p {target} && cp -r {WORKSPACE}/{folder}/. {target}"
    return f"{copied} && (cd {target} && npm pkg delete scripts && {by_npm}) && "


def _settings(content: bytes | None) -> str:
    """A shell's text that writes those lines of an .npmrc that count here; '' for none."""
    if not content or len(content) > MAX_SETTINGS_BYTES:
        return ""
    lines = content.decode(errors="replace").splitlines()
    found = filter(None, map(_SETTING.fullmatch, lines))
    said = shlex.join(f"{match[1]}={match[2] or 'true'}" for match in found)
    return f" && printf '%s\\n' {said} > .npmrc" if said else ""


def _by_other(lock: str, by_npm: str) -> str:
    """By who wrote the lock file; where that is not there, by npm, as far as npm can."""
    is_there, command = OTHERS[lock]
    npm = f"{{ {by_npm} || {by_npm} --legacy-peer-deps; }} && echo {shlex.quote(UNREAD)}"
    return f"{{ if {is_there}; then {command}; else {npm}; fi; }}"


def _holds_others(component: Component, package: Mapping[str, Any], paths: Sequence[str]) -> bool:
    """Whether it needs packages that lie beside it."""
    named = (version for one in NEEDS for version in inner_table(package, one).values())
    is_local = any(str(one).startswith(_LOCAL) for one in named)
    return is_local or "workspaces" in package or component.path("pnpm-workspace.yaml") in paths
