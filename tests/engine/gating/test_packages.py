"""How a part of a workspace is installed and run where it is tried on its own."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from verification.engine.gating.components import components_of
from verification.engine.gating.given import Named, with_named
from verification.engine.gating.recipes import Files, part_of
from verification.engine.gating.stages import Install, Part

TESTED = {"scripts": {"test": "node --test"}}
ABOVE = json.dumps({"workspaces": ["libs/*"]})


def parts(files: Mapping[str, str]) -> dict[str, Part]:
    contents = {path: text.encode() for path, text in files.items()}
    known = Files(list(contents), contents.get)
    found = components_of(contents, contents.get).found
    return {one.folder: part_of(one, known, found) for one in found}


def test_a_package_is_installed_with_its_workspace_and_finds_what_that_has() -> None:
    files = {"web/package.json": ABOVE, "web/libs/a/package.json": json.dumps(TESTED)}

    found = parts(files)
    above, package = found["web"], found["web/libs/a"]

    assert package.install.owner == above.component
    assert (package.install.command, package.install.inputs) == (
        above.install.command,
        above.install.inputs,
    )
    assert package.linked == {
        "../../node_modules": "/deps/web.node/node_modules",
        "node_modules": "/deps/web.node/libs/a/node_modules",
    }
    assert package.environment["PATH"] == (
        "/opt/loomverify/bin:/usr/local/bin:/usr/bin:/bin"
        ":/deps/web.node/libs/a/node_modules/.bin:/deps/web.node/node_modules/.bin"
    )


@pytest.mark.parametrize(
    "files",
    [
        {"package.json": "{}", "libs/a/package.json": json.dumps(TESTED)},
        {"package.json": ABOVE, "other/package.json": json.dumps(TESTED)},
        {"package.json": ABOVE, "pnpm-workspace.yaml": "packages: ['other']",
         "other/package.json": json.dumps({**TESTED, "dependencies": {"ms": "2"}})},
    ],
)  # fmt: skip
def test_a_package_that_belongs_to_no_workspace_is_installed_alone(files: dict[str, str]) -> None:
    assert all(one.install.owner is None for one in parts(files).values())


def test_a_name_that_says_more_than_a_folder_does_not_come_onto_the_path() -> None:
    files = {"package.json": ABOVE, "libs/a:b/package.json": json.dumps(TESTED)}
    files["package.json"] = json.dumps({"workspaces": ["libs/*"]})

    found = parts(files)

    assert found["libs/a:b"].environment["PATH"] == found[""].environment["PATH"]


def test_a_package_that_only_pnpm_could_install_is_in_doubt() -> None:
    needing = {**TESTED, "dependencies": {"b": "workspace:*"}}
    files = {
        "package.json": "{}",
        "pnpm-workspace.yaml": "packages:\n  - 'libs/*'\n",
        "libs/a/package.json": json.dumps(needing),
    }

    package = parts(files)["libs/a"]

    [test] = [one for one in package.stages if one.gate == "test"]
    assert (test.command, package.install) == ("", Install())
    assert "pnpm" in test.unreadable


def test_what_a_plan_installs_a_package_with_is_the_packages_own() -> None:
    files = {"package.json": ABOVE, "libs/a/package.json": json.dumps(TESTED)}
    package = parts(files)["libs/a"]

    named = with_named(package, Named({"install": ("npm install",)}), list(files))

    assert named.install.owner is None
    assert named.install.inputs == ("libs/a/package.json",)
    assert "mkdir -p /deps/root.node/libs/a && mv" in named.install.command


@pytest.mark.parametrize(
    ("more", "inputs", "is_needed"),
    [
        ((), ("svc/go.mod",), False),
        (("svc/go.sum",), ("svc/go.mod", "svc/go.sum"), True),
        (("go.work",), ("svc/go.mod", "go.work"), False),
        (("go.work", "go.work.sum", "a/go.mod", "a/go.sum", "a/a.go"),
         ("svc/go.mod", "go.work", "go.work.sum", "a/go.mod", "a/go.sum"), True),
        (("go.work", "svc/go.work", "a/go.sum"), ("svc/go.mod", "svc/go.work"), False),
    ],
)  # fmt: skip
def test_modules_of_a_workspace_of_go_are_fetched_together(
    more: tuple[str, ...], inputs: tuple[str, ...], is_needed: bool
) -> None:
    work = "use (\n\t.\n\t./svc\n)\n"
    install = parts(dict.fromkeys(("svc/go.mod", *more), work))["svc"].install

    assert bool(install.command) is is_needed
    assert install.inputs == (inputs if is_needed else ())


@pytest.mark.parametrize(
    ("work", "is_used"),
    [
        ("go 1.22\nuse ./svc\n", True),
        ('use(\n\t"svc/" // ours\n)\n', True),
        ("use ./other // ./svc\n", False),
        ("// use ./svc\n", False),
        ("replace (\n\t./svc => ./other\n)\n", False),
        ("use (\n\t./a\n)\nreplace ./svc => ./b\n", False),
        ("", False),
    ],
)
def test_a_module_that_a_workspace_of_go_does_not_use_is_built_without_it(
    work: str, is_used: bool
) -> None:
    files = {"go.work": work, "svc/go.mod": "", "svc/go.sum": "", "a/go.sum": ""}
    part = parts(files)["svc"]

    assert ("a/go.sum" in part.install.inputs) is is_used
    assert part.environment.get("GOWORK") == (None if is_used else "off")
