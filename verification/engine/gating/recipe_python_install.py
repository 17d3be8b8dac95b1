"""What a Python project needs, and the project itself, as its own files name them. Hostile input."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from verification.engine.gating.components import IGNORED, Component, Read
from verification.engine.gating.manifests import MAX_MANIFEST_BYTES, inner_table
from verification.engine.gating.poetry import poetry_requirements
from verification.engine.gating.requirements import is_local, requirements_files
from verification.engine.gating.stages import REPORT, Install, deps_of, workdir

MAX_REQUIREMENTS = 300
MAX_REQUIREMENTS_CHARS = 60_000
"""A longer command could not be executed: a kernel takes 128 KiB."""
MAX_OUTLINE = 2_000
NOT_BUILT = "The project itself could not be built: its folder is on the path, its metadata is not."
_REQUIREMENT = re.compile(r"[A-Za-z0-9][^\x00-\x1f\x7f]{0,300}")
_GROUPS = ("test", "tests", "testing", "dev")
_ITSELF = f".[{','.join(_GROUPS)}]"
_OUTLINE = re.compile(
    r"pyproject\.toml|setup\.(?:py|cfg)|MANIFEST\.in|VERSION|py\.typed|__init__\.py|__about__\.py"
    r"|_?version\.py|(?:README|LICEN[CS]E|COPYING|NOTICE|AUTHORS|CHANGELOG|HISTORY|CHANGES)[^/]{0,20}"
)
"""What backends read of a project, but for its code."""
# A backend that could not be had is the network's affair, or the work's that named it.
_NO_BACKEND = r"install (build|backend) dependencies|Retrying \(|No matching distribution|timed out"


def install_of(
    component: Component, paths: Sequence[str], read: Read, project: Mapping[str, Any]
) -> Install:
    """What its files name, and the project itself by its build backend: a link to its folder.

    Only where nobody else knows what it needs must the backend come to its end.
    """
    requirements = requirements_files(component.path("requirements.txt"), paths, read)
    pip = f"{deps_of(component)}/bin/python -m pip install --no-input"
    prepare = _prepare(component, paths, read, project)
    is_dynamic = _is_dynamic(component, read, project)
    steps, inputs = [prepare], tuple(requirements)
    if requirements:
        steps.append(f"{pip} -r requirements.txt")
    elif named := _arguments(project):
        steps.append(f"{pip} {named}")
    if _is_package(component, read, project):
        itself = f"{pip} --use-pep517 -e {shlex.quote(_ITSELF)}"
        must = is_dynamic and not requirements
        steps.append(itself if must else _attempted(itself))
        inputs = tuple(sorted({*inputs, *_outline(component, paths, project)}))
        if is_dynamic:
            inputs = component.all_of(paths)
    if requirements and is_local(requirements, read):
        inputs = tuple(dict.fromkeys((*component.all_of(paths), *requirements)))
    if steps == [f"python3 -m venv {deps_of(component)}"]:
        return Install(prepare=prepare)
    return Install(" && ".join(steps), inputs, prepare, notes=(NOT_BUILT,))


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


def _attempted(command: str) -> str:
    """What is built is no worse off without: its needs are installed, its folder is on the path."""
    log = f'"{REPORT}.log"'
    return (
        f"{{ code=0; {command} > {log} 2>&1 || code=$?; cat {log}; [ $code = 0 ] || "
        f"{{ ! grep -Eq {shlex.quote(_NO_BACKEND)} {log} && echo {shlex.quote(NOT_BUILT)} >&2; }}; }}"
    )


def _is_package(component: Component, read: Read, project: Mapping[str, Any]) -> bool:
    tools = inner_table(project, "tool")
    if inner_table(tools, "uv").get("package") is False:
        return False
    if inner_table(tools, "poetry").get("package-mode") is False:
        return False
    setup = _content(read, component.path("setup.py"))
    return bool(inner_table(project, "build-system")) or b"setuptools" in setup


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


def _arguments(project: Mapping[str, Any]) -> str:
    named = " ".join(islice(map(shlex.quote, _named(project)), MAX_REQUIREMENTS))
    return named if len(named) <= MAX_REQUIREMENTS_CHARS else ""


def _named(project: Mapping[str, Any]) -> Iterator[str]:
    table, tools = inner_table(project, "project"), inner_table(project, "tool")
    itself = _normal(str(table.get("name")))
    for one in _all(table, tools, project):
        if _normal(re.split(r"[^\w.-]", one, maxsplit=1)[0]) != itself:
            yield one


def _all(
    table: Mapping[str, Any], tools: Mapping[str, Any], project: Mapping[str, Any]
) -> Iterator[str]:
    yield from _requirements(table.get("dependencies"))
    for owner in (
        inner_table(table, "optional-dependencies"),
        inner_table(project, "dependency-groups"),
        inner_table(inner_table(tools, "pdm"), "dev-dependencies"),
    ):
        for group in _GROUPS:
            yield from _requirements(owner.get(group))
    yield from _requirements(inner_table(tools, "uv").get("dev-dependencies"))
    yield from _requirements([*poetry_requirements(project, _GROUPS)])


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _requirements(value: object) -> Iterator[str]:
    for one in value if isinstance(value, list) else ():
        # An option, a path or a line break would be more than a requirement.
        if isinstance(one, str) and _REQUIREMENT.fullmatch(one):
            yield one
