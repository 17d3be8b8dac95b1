"""What the files of a Python project name as needed, in the words of pip. Hostile input."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from verification.engine.gating.components import Component, Read
from verification.engine.gating.manifests import ini_table, inner_table, toml_table
from verification.engine.gating.poetry import listed, poetry_python, poetry_requirements
from verification.engine.gating.python_beside import normal

GROUPS = ("test", "tests", "testing", "dev", "develop", "development", "qa", "ci")
MAX_INCLUDED = 20
_REQUIREMENT = re.compile(r"[A-Za-z0-9][^\x00-\x1f\x7f]{0,300}")
_SPECIFIERS = re.compile(r"[\d.,<>=!~* ]{1,100}")
_HATCH = ("default", "test", "tests", "hatch-test", "dev")


def named(
    component: Component, read: Read, project: Mapping[str, Any], others: Collection[str] = ()
) -> Iterator[str]:
    """Each once, the project itself left out, and `others`, normalized names that lie beside it."""
    left_out = {normal(str(inner_table(project, "project").get("name"))), *others}
    seen: set[str] = set()
    for one in _all(component, read, project):
        if one not in seen and normal(re.split(r"[^\w.-]", one, maxsplit=1)[0]) not in left_out:
            seen.add(one)
            yield one


def of_extras(project: Mapping[str, Any], extras: Collection[str] | None) -> Iterator[str]:
    """Requirements of these extras, and of those that they name in turn; None: of all of them."""
    table = inner_table(project, "project")
    owner = inner_table(table, "optional-dependencies")
    waiting, seen = [*(owner if extras is None else extras)], set[str]()
    while waiting and len(seen) < MAX_INCLUDED:
        extra = waiting.pop(0)
        if extra in seen:
            continue
        seen.add(extra)
        for one in _requirements(owner.get(extra)):
            name, _, inner = one.partition("]")[0].partition("[")
            if normal(name.strip()) == normal(str(table.get("name"))):
                waiting += [part.strip() for part in inner.split(",")]
            else:
                yield one


def asked_python(component: Component, read: Read, project: Mapping[str, Any]) -> str:
    """The versions of Python that the project is for, as specifiers; '' where it does not say."""
    said = inner_table(project, "project").get("requires-python")
    if said is None:
        said = _setup(component, read, "options").get("python_requires")
    if said is None:
        said = poetry_python(project)
    return said if isinstance(said, str) and _SPECIFIERS.fullmatch(said) else ""


def _all(component: Component, read: Read, project: Mapping[str, Any]) -> Iterator[str]:
    table, tools = inner_table(project, "project"), inner_table(project, "tool")
    yield from _requirements(table.get("dependencies"))
    for owner in (
        inner_table(table, "optional-dependencies"),
        inner_table(project, "dependency-groups"),
        inner_table(inner_table(tools, "pdm"), "dev-dependencies"),
    ):
        for group in GROUPS:
            yield from _requirements(_with_included(owner, group))
    yield from _requirements(inner_table(tools, "uv").get("dev-dependencies"))
    yield from _requirements([*poetry_requirements(project, GROUPS)])
    yield from _of_hatch(inner_table(tools, "hatch"))
    yield from _of_pipenv(toml_table(read(component.path("Pipfile"))))
    yield from _of_setup(component, read)
    yield from _of_tox(ini_table(read(component.path("tox.ini"))))


def _with_included(owner: Mapping[str, Any], group: str) -> list[object]:
    """A group and those that it includes. Source: PEP 735."""
    found: list[object] = []
    waiting, seen = [group], set[str]()
    while waiting and len(seen) < MAX_INCLUDED:
        name = waiting.pop(0)
        said = owner.get(name)
        if name in seen or not isinstance(said, list):
            continue
        seen.add(name)
        found += said
        inner = (one.get("include-group") for one in said if isinstance(one, dict))
        waiting += [one for one in inner if isinstance(one, str)]
    return found


def _of_hatch(hatch: Mapping[str, Any]) -> Iterator[str]:
    environments = inner_table(hatch, "envs")
    for name in _HATCH:
        table = inner_table(environments, name)
        yield from _requirements(table.get("dependencies"))
        yield from _requirements(table.get("extra-dependencies"))


def _of_pipenv(table: Mapping[str, Any]) -> Iterator[str]:
    tables = (inner_table(table, name) for name in ("packages", "dev-packages"))
    yield from _requirements([*chain.from_iterable(map(listed, tables))])


def _of_setup(component: Component, read: Read) -> Iterator[str]:
    options = _setup(component, read, "options")
    extras = _setup(component, read, "options.extras_require")
    texts = (
        options.get("install_requires"),
        options.get("tests_require"),
        *map(extras.get, GROUPS),
    )
    for text in filter(None, texts):
        lines = [one.split(" #", 1)[0].strip() for one in re.split(r"[\n;](?!\s*python)", text)]
        yield from _requirements(lines)


def _of_tox(sections: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Those of every environment. A line for some of them alone begins with their names."""
    lines = sections.get("testenv", {}).get("deps", "").splitlines()
    plain = [one for one in lines if ": " not in one and "{" not in one]
    yield from _requirements([one.split(" #", 1)[0].strip() for one in plain])


def _setup(component: Component, read: Read, section: str) -> Mapping[str, str]:
    return ini_table(read(component.path("setup.cfg"))).get(section, {})


def _requirements(value: object) -> Iterator[str]:
    for one in value if isinstance(value, Sequence) and not isinstance(value, str) else ():
        # An option, a path or a line break would be more than a requirement.
        if isinstance(one, str) and _REQUIREMENT.fullmatch(one):
            yield one
