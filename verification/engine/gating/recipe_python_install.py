"""What a Python project needs, and the project itself, as its own files name them. Hostile input."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from verification.engine.gating.components import IGNORED, Component, Read, below
from verification.engine.gating.manifests import MAX_MANIFEST_BYTES, inner_table
from verification.engine.gating.python_beside import beside
from verification.engine.gating.python_locked import locked
from verification.engine.gating.python_named import GROUPS, asked_python, named
from verification.engine.gating.requirements import (
    is_local,
    local_folders,
    main_requirements,
    requirements_files,
    test_requirements,
)
from verification.engine.gating.stages import REPORT, TOOLS, Install, deps_of, workdir

MAX_REQUIREMENTS = 300
MAX_REQUIREMENTS_CHARS = 60_000
"""A longer command could not be executed: a kernel takes 128 KiB."""
MAX_OUTLINE = 2_000
FITS = f"{TOOLS}/python/bin/python {TOOLS}/fits.py"
NOT_BUILT = "The project itself could not be built: its folder is on the path, its metadata is not."
NOT_ALL = "Not all that the tests name as needed could be installed."
NOT_LOCKED = "What the lock file names could not be installed: other versions were."
CONSTRAINTS = "/tmp/constraints.txt"  # noqa: S108 - a container's own
_ITSELF = f".[{','.join(GROUPS)}]"
_BY_REPOSITORY = (
    "setuptools_scm",
    "setuptools-scm",
    "hatch-vcs",
    "pdm-backend",
    "pbr",
    "dynamic-versioning",
)
_VERSION = (
    "SETUPTOOLS_SCM_PRETEND_VERSION=0 PDM_BUILD_SCM_VERSION=0 PBR_VERSION=0 "
    "POETRY_DYNAMIC_VERSIONING_BYPASS=0 "
)
_OUTLINE = re.compile(
    r"pyproject\.toml|setup\.(?:py|cfg)|MANIFEST\.in|VERSION|py\.typed|__init__\.py|__about__\.py"
    r"|_?version\.py|(?:README|LICEN[CS]E|COPYING|NOTICE|AUTHORS|CHANGELOG|HISTORY|CHANGES)[^/]{0,20}"
)
"""What backends read of a project, but for its code."""
_LACKING = (
    r"Cannot find command '(git|hg|svn)'|No such file or directory: '[^'\n]*(gcc|g\+\+|cc|clang|git)'"
    r"|(command|unable to execute) '[^'\n]*(gcc|g\+\+|cc|clang)'.*No such file"
    r"|pg_config executable not found|mysql_config: not found|fatal error: \S+\.h: No such file"
    r"|Cargo, the Rust package manager, is not installed|linker .?cc.? not found"
)
"""What an image without git, compilers or headers makes pip and its backends say."""
_NO_NETWORK = r"Retrying \(|timed out"
_NOT_HERE = f"{_NO_NETWORK}|{_LACKING}"
# A backend that could not be had is the network's affair, or the work's that named it.
_NO_BACKEND = f"install (build|backend) dependencies|No matching distribution|{_NO_NETWORK}"


def install_of(
    component: Component, paths: Sequence[str], read: Read, project: Mapping[str, Any]
) -> Install:
    """What its files name, and the project itself by its build backend: a link to its folder.

    Only where nobody else knows what it needs must the backend come to its end.
    """
    others = beside(component, paths, read, project)
    prepare = _prepare(component, paths, read, project)
    steps = [prepare, *_steps(component, paths, read, project, others)]
    if asked := asked_python(component, read, project):
        steps.insert(0, f"{FITS} {shlex.quote(asked)}")
    if steps == [f"python3 -m venv {deps_of(component)}"]:
        return Install(prepare=prepare)
    inputs = _inputs(component, paths, read, project, others.values())
    notes = (NOT_BUILT, NOT_ALL, NOT_LOCKED)
    return Install(" && ".join(steps), inputs, prepare, notes=notes, excuses=_LACKING)


def _steps(
    component: Component,
    paths: Sequence[str],
    read: Read,
    project: Mapping[str, Any],
    others: Mapping[str, str],
) -> Iterator[str]:
    main = main_requirements(component, paths)
    pip = f"{deps_of(component)}/bin/python -m pip install --no-input"
    if main:
        yield f"{pip} -r {main}"
    for one in test_requirements(component, paths):
        yield _attempted(f"{pip} -r {one}", NOT_ALL, _NOT_HERE)
    if arguments := _arguments(component, named(component, read, project, others), others.values()):
        step = _locked(pip, arguments, locked(component, read))
        yield _attempted(step, NOT_ALL, _NOT_HERE) if main else step
    if _is_package(component, read, project):
        itself = f"{_versioned(project)}{pip} --use-pep517 -e {shlex.quote(_ITSELF)}"
        must = _is_dynamic(component, read, project) and not main
        yield itself if must else _attempted(itself, NOT_BUILT, _NO_BACKEND)


def _inputs(
    component: Component,
    paths: Sequence[str],
    read: Read,
    project: Mapping[str, Any],
    others: Iterable[str],
) -> tuple[str, ...]:
    """The files that an install may read: all of the component where nobody knows which."""
    firsts = (main_requirements(component, paths), *test_requirements(component, paths))
    places = (component.path(one) for one in firsts if one)
    files = sorted({one for place in places for one in requirements_files(place, paths, read)})
    inputs: Iterable[str] = files
    if _is_package(component, read, project):
        is_dynamic = _is_dynamic(component, read, project)
        outline = _outline(component, paths, project)
        inputs = component.all_of(paths) if is_dynamic else sorted({*files, *outline})
    if files and is_local(files, read):
        inputs = (*component.all_of(paths), *files)
    folders = {*others, *local_folders(component, files, read)}
    return tuple(dict.fromkeys((*inputs, *below(folders, paths))))


def _locked(pip: str, arguments: str, constraints: Sequence[str]) -> str:
    """By the versions of the lock file, unless this machine has none of one of them."""
    if not constraints or sum(map(len, constraints)) > MAX_REQUIREMENTS_CHARS:
        return f"{pip} {arguments}"
    return (
        f"printf '%s\\n' {shlex.join(constraints)} > {CONSTRAINTS} && "
        f"{{ {pip} -c {CONSTRAINTS} {arguments} || "
        f"{{ {pip} {arguments} && echo {shlex.quote(NOT_LOCKED)} >&2; }}; }}"
    )


def _prepare(
    component: Component, paths: Sequence[str], read: Read, project: Mapping[str, Any]
) -> str:
    """A place of its own, where the code is found in `src` whatever its backend makes of it."""
    folder = deps_of(component)
    made = f"python3 -m venv {folder}"
    source = component.path("src/")
    has_code = any(one.startswith(source) and one.endswith(".py") for one in paths)
    is_itself_a_package = f"{source}__init__.py" in paths
    is_project = bool(project) or read(component.path("setup.py")) is not None
    if not has_code or is_itself_a_package or not is_project:
        return made
    link = shlex.quote(f"{workdir(component)}/src")
    return (
        f"{made} && for place in {folder}/lib/python3*/site-packages; "
        f"do printf '%s\\n' {link} > \"$place/workspace.pth\"; done"
    )


def _attempted(command: str, note: str, unless: str) -> str:
    """What fails is told and does no harm, unless it is the network's affair that it does."""
    log = f'"{REPORT}.log"'
    return (
        f"{{ code=0; {command} > {log} 2>&1 || code=$?; cat {log}; [ $code = 0 ] || "
        f"{{ ! grep -Eq {shlex.quote(unless)} {log} && echo {shlex.quote(note)} >&2; }}; }}"
    )


def _is_package(component: Component, read: Read, project: Mapping[str, Any]) -> bool:
    tools = inner_table(project, "tool")
    if inner_table(tools, "uv").get("package") is False:
        return False
    if inner_table(tools, "poetry").get("package-mode") is False:
        return False
    setup = _content(read, component.path("setup.py"))
    return bool(inner_table(project, "build-system")) or b"setuptools" in setup


def _versioned(project: Mapping[str, Any]) -> str:
    """What takes its version from a repository finds none: it is given one."""
    asked = str(inner_table(project, "build-system").get("requires"))
    return _VERSION if any(one in asked for one in _BY_REPOSITORY) else ""


def _is_dynamic(component: Component, read: Read, project: Mapping[str, Any]) -> bool:
    """Whether nobody but its build backend knows what it needs."""
    dynamic = inner_table(project, "project").get("dynamic")
    if isinstance(dynamic, list) and "dependencies" in dynamic:
        return True
    said = (_content(read, component.path(name)) for name in ("setup.py", "setup.cfg"))
    return any(b"install_requires" in one for one in said)


def _content(read: Read, path: str) -> bytes:
    return (read(path) or b"")[:MAX_MANIFEST_BYTES]


def _outline(
    component: Component, paths: Sequence[str], project: Mapping[str, Any]
) -> Iterator[str]:
    """What tells a backend how the project is laid out; its code is not copied anywhere."""
    name = re.sub(r"[-.]+", "_", str(inner_table(project, "project").get("name")))
    modules = {component.path(f"{name}.py"), component.path(f"src/{name}.py")}
    found = (
        one
        for one in component.all_of(paths)
        if (one in modules or _OUTLINE.fullmatch(posixpath.basename(one)))
        and IGNORED.isdisjoint(one.split("/"))
    )
    return islice(found, MAX_OUTLINE)


def _arguments(component: Component, requirements: Iterable[str], folders: Iterable[str]) -> str:
    """`folders` of the workspace are linked to, as the project itself is."""
    places = (posixpath.relpath(f"/{one}", f"/{component.folder}") for one in folders)
    linked = (f"-e {shlex.quote(place)}" for place in places)
    said = " ".join((*islice(map(shlex.quote, requirements), MAX_REQUIREMENTS), *linked))
    return said if len(said) <= MAX_REQUIREMENTS_CHARS else ""
