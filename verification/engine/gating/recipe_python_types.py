"""mypy, where a Python project configures it."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verification.engine.gating.components import IGNORED, Component, Read
from verification.engine.gating.manifests import ini_table, inner_table
from verification.engine.gating.stages import NO_TYPE_CHECKER, REPORT, TOOLS, TYPES, Expected, Stage
from verification.engine.reports.problems import ProblemFormat

MYPY = (
    f"python3 -P {TOOLS}/run_mypy.py --output json "
    '--python-executable "$(command -v python3)" --cache-dir /dev/null'
)
MAX_ROOTS, MAX_CHECKS = 100, 10
_LEFT_OUT = "Modules of one name were too many to check each: some were left out."
# A check of what another one has looked at already says nothing of it; one may have nothing to do.
_CHECK = f"""check() {{
now=0; {MYPY} --follow-imports silent "$@" >> "{REPORT}" 2> "{REPORT}.said" || now=$?
cat "{REPORT}.said" >&2
if [ $now = 2 ] && grep -qF 'There are no .py[i] files' "{REPORT}.said"; then now=0; fi
[ $now -le $code ] || code=$now
}}
code=0; : > "{REPORT}"
"""
_PACKAGE = ("__init__.py", "__init__.pyi")
_NAMES_FILES = frozenset({"files", "packages", "modules"})


def types_of(
    component: Component, paths: Sequence[str], read: Read, project: Mapping[str, Any]
) -> Stage:
    own = _settings(component, paths, read, project)
    if own is None:
        return NO_TYPE_CHECKER
    if _NAMES_FILES & {*own}:
        return _stage(f'{MYPY} > "{REPORT}"')
    return _everything(component, paths)


def _settings(
    component: Component, paths: Sequence[str], read: Read, project: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """In the order in which mypy looks for them; None where there are none."""
    for name in ("mypy.ini", ".mypy.ini"):
        if component.path(name) in paths:
            return ini_table(read(component.path(name))).get("mypy", {})
    tools = inner_table(project, "tool")
    if "mypy" in tools:
        return inner_table(tools, "mypy")
    return ini_table(read(component.path("setup.cfg"))).get("mypy")


def _everything(component: Component, paths: Sequence[str]) -> Stage:
    """Mypy checks none where two files have the name of one module: those are checked apart."""
    roots = _roots(component, paths)
    checks = _checks(roots)
    if len(checks) < 2:
        return _stage(f'{MYPY} . > "{REPORT}"')
    where = ":".join(one.folder or "." for one in roots)
    lines = [f"check {_sources(one, roots)}" for one in checks[:MAX_CHECKS]]
    command = f"{_CHECK}export MYPYPATH={shlex.quote(where)}\n" + "\n".join([*lines, "exit $code"])
    return _stage(command, _LEFT_OUT if len(checks) > MAX_CHECKS else "")


def _stage(command: str, note: str = "") -> Stage:
    return Stage(TYPES, command, Expected(ProblemFormat.MYPY), note=note)


@dataclass(frozen=True, slots=True)
class _Root:
    """A folder that mypy takes modules from; `names` are theirs, `packages` those of folders."""

    folder: str
    names: frozenset[str]
    packages: frozenset[str]

    @property
    def pattern(self) -> str:
        """Of its files, and of none of a root below it."""
        packages = "|".join(map(re.escape, sorted(self.packages)))
        inner = f"(?:[^/]+$|(?:{packages})/)" if packages else "[^/]+$"
        return f"^{re.escape(self.folder)}/{inner}"


def _roots(component: Component, paths: Sequence[str]) -> Sequence[_Root]:
    """The upper ones first."""
    start = len(component.path(""))
    inner = [one[start:] for one in component.all_of(paths) if one.endswith((".py", ".pyi"))]
    own = [one for one in inner if IGNORED.isdisjoint(one.split("/"))]
    packages = {posixpath.dirname(one) for one in own if one.endswith(_PACKAGE)} - {""}
    found: dict[str, set[str]] = {}
    for path in own:
        root = _root(path, packages)
        found.setdefault(root, set()).add(path.removeprefix(f"{root}/").partition("/")[0])
    order = sorted(found, key=lambda one: (one.count("/") + bool(one), one))
    return [_root_of(one, found[one]) for one in order[:MAX_ROOTS] if ":" not in one]


def _root_of(folder: str, names: Collection[str]) -> _Root:
    modules = {one.rpartition(".")[0] for one in names if one.endswith((".py", ".pyi"))}
    packages = frozenset(one for one in names if not one.endswith((".py", ".pyi")))
    return _Root(folder, packages | modules, packages)


def _root(path: str, packages: Collection[str]) -> str:
    """Above the uppermost package, as long as all between could be named in an import."""
    folder = root = posixpath.dirname(path)
    while folder:
        above, name = posixpath.split(folder)
        if folder in packages:
            root = above
        elif not name.isidentifier():
            break
        folder = above
    return root


def _checks(roots: Sequence[_Root]) -> Sequence[Sequence[_Root]]:
    """Roots that can be checked together."""
    found: list[list[_Root]] = []
    for root in roots:
        fits = (one for one in found if all(root.names.isdisjoint(other.names) for other in one))
        together = next(fits, None)
        if together is None:
            found.append([root])
        else:
            together.append(root)
    return found


def _sources(check: Sequence[_Root], roots: Sequence[_Root]) -> str:
    """What is checked together, without what other checks look at."""
    folders = ["."] if check[0] is roots[0] else [one.folder for one in check]
    starts = ("",) if folders == ["."] else tuple(f"{one}/" for one in folders)
    left_out = (one for one in roots if one not in check and one.folder.startswith(starts))
    given = (f"--exclude {shlex.quote(one.pattern)}" for one in left_out)
    return " ".join((*map(shlex.quote, folders), *given))
