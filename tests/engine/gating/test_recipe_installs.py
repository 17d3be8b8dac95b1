from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.engine.gating.test_recipes import PIP, part_in
from tests.tables import check_rows
from verification.engine.gating.components import Component, Language
from verification.engine.gating.judging import judged
from verification.engine.gating.recipe_node_install import UNREAD
from verification.engine.gating.recipes import Files, part_of
from verification.engine.gating.stages import Ended, Stage
from verification.engine.outcome import Status


@pytest.mark.parametrize(
    ("files", "read"),
    [
        ({"requirements.txt": "requests"}, ["requirements.txt"]),
        ({"requirements.txt": "-r base.txt\n  -c limits/all.txt  # why", "base.txt": "",
          "limits/all.txt": "", "other.txt": ""},
         ["base.txt", "limits/all.txt", "requirements.txt"]),
        ({"requirements.txt": "--requirement=a/b.txt", "a/b.txt": "--constraint ../c.txt",
          "c.txt": ""}, ["a/b.txt", "c.txt", "requirements.txt"]),
        ({"requirements.txt": "-ra.txt", "a.txt": "-r requirements.txt\n-r a.txt"},
         ["a.txt", "requirements.txt"]),
        ({"requirements.txt": "# -r a.txt\nx -r a.txt", "a.txt": ""}, ["requirements.txt"]),
        ({"requirements.txt": "-r /etc/passwd\n-r ../../x.txt\n-r a\0b\n-r https://x/y.txt"},
         ["requirements.txt"]),
        ({"requirements.txt": b"\xff\xfe-r a.txt", "a.txt": ""}, ["requirements.txt"]),
    ],
)  # fmt: skip
def test_an_install_reads_its_requirements_and_what_they_include(
    files: dict[str, str], read: list[str]
) -> None:
    for folder in ("", "api"):
        install = part_in(Language.PYTHON, files, folder).install

        assert install.command.endswith(" -r requirements.txt")
        assert list(install.inputs) == [f"{folder}/{one}".strip("/") for one in read]


def test_requirements_may_lie_beside_the_component() -> None:
    component = Component("api", Language.PYTHON, ("requirements.txt",))
    files = {"api/requirements.txt": b"-r ../shared.txt", "shared.txt": b"x"}

    part = part_of(component, Files(list(files), files.get))

    assert part.install.inputs == ("api/requirements.txt", "shared.txt")


def test_so_many_requirements_files_are_read() -> None:
    files = {f"{n}.txt": f"-r {n + 1}.txt\n" * 1_000 for n in range(500)}

    part = part_in(Language.PYTHON, {"requirements.txt": "-r 0.txt", **files})

    assert len(part.install.inputs) == 50


@check_rows(
    ("project", "named"),
    [
        ("", []),
        ('[project]\ndependencies = ["requests>=2", "a[b]; python_version < \'4\'"]',
         ["requests>=2", "a[b]; python_version < '4'"]),
        ('[project]\ndependencies = ["a"]\n[project.optional-dependencies]\n'
         'test = ["t"]\ndev = ["d"]\ndocs = ["no"]\n[dependency-groups]\n'
         'tests = ["g", {include-group = "docs"}]\ndocs = ["i", {include-group = "tests"}, {include-group = 7}]',
         ["a", "t", "d", "g", "i"]),
        ('[project]\ndependencies = ["-r /etc/passwd", "--index-url x", "./here", "/there", "",'
         ' "a\\nb", "a\\u0000", 7, ["x"], {a = "b"}, " x", "${X}"]', []),
        ('[project]\ndependencies = "requests"', []),
        ("project = 7\ndependency-groups = [1]", []),
        ("[project]\noptional-dependencies = 1", []),
        ("[project", []),
        (b"\xff\xfe", []),
        ("x = " + "[" * 100_000, []),
        ("x = " + "9" * 5_000, []),
        ("a." * 200_000 + "b = 1", []),
        ('"a" . ' * 100_000 + "b = 1", []),
        ("[" + "a." * 200_000 + "b]", []),
    ],
)  # fmt: skip
def test_python_is_installed_as_its_project_names_it(
    project: str | bytes, named: list[str]
) -> None:
    install = part_in(Language.PYTHON, {"pyproject.toml": project}).install

    assert install.command == (f"{PIP} {shlex.join(named)}" if named else "")
    assert install.inputs == ()
    assert install.prepare == "python3 -m venv /deps/root.python"


def test_so_many_requirements_are_named_and_never_more_than_a_command_may_hold() -> None:
    many = json.dumps([f"p{number}" for number in range(10_000)])
    long = json.dumps(["a" + "'" * 300] * 300)

    commands = [
        part_in(Language.PYTHON, {"pyproject.toml": f"[project]\ndependencies = {one}"})
        .install.command
        for one in (many, long)
    ]  # fmt: skip

    assert commands[0].endswith(" p298 p299")
    assert max(map(len, commands)) < 100_000


@check_rows(
    ("files", "verb", "inputs"),
    [
        ({"package.json": '{"dependencies": {"a": "1"}}'}, "npm install", ["package.json"]),
        ({"package.json": '{"devDependencies": {"a": "1"}}', "package-lock.json": "{}"},
         "npm ci", ["package.json", "package-lock.json"]),
        ({"package.json": '{"workspaces": ["a"]}', "npm-shrinkwrap.json": "{}"},
         "npm ci", ["package.json", "npm-shrinkwrap.json"]),
        ({"package.json": '{"peerDependencies": {"a": "1"}}'}, "npm install", ["package.json"]),
        ({"package.json": '{"optionalDependencies": {"a": "1"}}'}, "npm install", ["package.json"]),
        ({"package.json": '{"dependencies": {"a": "1"}}', "yarn.lock": ""},
         "yarn install --frozen-lockfile", ["package.json", "yarn.lock"]),
        ({"package.json": '{"dependencies": {"a": "1"}}', "pnpm-lock.yaml": ""},
         "pnpm install --frozen-lockfile", ["package.json", "pnpm-lock.yaml"]),
        ({"package.json": '{"dependencies": {"a": "1"}}', "package-lock.json": "{}", "yarn.lock": ""},
         "npm ci", ["package.json", "package-lock.json"]),
        ({"package.json": '{"peerDependencies": {"a": "file:a"}}', "a/package.json": "{}"},
         "npm install", ["package.json", "a/package.json"]),
        ({"package.json": '{"dependencies": {"a": "1"}}', "pnpm-workspace.yaml": "", "a/b.js": ""},
         "npm install", ["package.json", "pnpm-workspace.yaml", "a/b.js"]),
        ({"package.json": "{}", "package-lock.json": "{}"}, "", []),
        ({"package.json": '{"dependencies": ["a"]}'}, "", []),
        ({"package.json": "[" * 100_000}, "", []),
        ({"package.json": "{" + '"a":{' * 100_000}, "", []),
        ({"package.json": '{"dependencies": {"a": 1' + "9" * 5_000 + "}}"}, "", []),
        ({"package.json": "[1]"}, "", []),
        ({"package.json": b"\xff"}, "", []),
    ],
)  # fmt: skip
def test_node_is_installed_from_its_manifests_alone(
    files: dict[str, str], verb: str, inputs: list[str]
) -> None:
    part = part_in(Language.NODE, files)

    assert bool(part.install.command) is bool(verb)
    assert verb in part.install.command
    assert list(part.install.inputs) == inputs
    assert bool(part.linked) is bool(verb)


@pytest.mark.parametrize(
    ("lock", "text", "tools", "ran"),
    [
        ("yarn.lock", "# yarn lockfile v1\n", {"yarn": "1.22.22"}, "yarn"),
        ("yarn.lock", "# yarn lockfile v1\n", {"yarn": "4.1.0"}, "npm"),
        ("yarn.lock", "# yarn lockfile v1\n", {}, "npm"),
        ("yarn.lock", "__metadata:\n", {"yarn": "1.22.22"}, "npm"),
        ("pnpm-lock.yaml", "lockfileVersion: '9.0'\n", {"pnpm": "10.2.0"}, "pnpm"),
        ("pnpm-lock.yaml", "lockfileVersion: '9.0'\n", {"pnpm": "9.1.0"}, "pnpm"),
        ("pnpm-lock.yaml", "lockfileVersion: '6.0'\n", {"pnpm": "8.1.0"}, "pnpm"),
        ("pnpm-lock.yaml", "lockfileVersion: '9.0'\n", {"pnpm": "8.1.0"}, "npm"),
        ("pnpm-lock.yaml", "lockfileVersion: 5.4\n", {"pnpm": "9.1.0"}, "npm"),
        ("pnpm-lock.yaml", "", {}, "npm"),
    ],
)
def test_a_lock_file_is_read_by_its_own_tool_where_the_image_has_that(
    tmp_path: Path, lock: str, text: str, tools: dict[str, str], ran: str
) -> None:
    code, said = installed_by(tmp_path, lock, text, {"npm": "11", **tools})

    assert (code, f"{ran} install" in said, UNREAD in said) == (0, True, ran == "npm")


@pytest.mark.parametrize(
    ("failing", "status"),
    [
        ("npm error code EUNSUPPORTEDPROTOCOL", Status.ERROR),
        ("npm error code ERESOLVE", Status.ERROR),
        ("npm error code EBADENGINE", Status.ERROR),
        ("npm error syscall spawn git", Status.ERROR),
        ("Couldn't find the binary git", Status.ERROR),
        ("code E404", Status.FAILED),
    ],
)
def test_what_npm_alone_cannot_do_is_not_the_works_fault(
    tmp_path: Path, failing: str, status: Status
) -> None:
    code, said = installed_by(tmp_path, "yarn.lock", "", {"npm": "11"}, failing)
    part = part_in(Language.NODE, {"package.json": '{"dependencies": {"a": "1"}}', "yarn.lock": ""})

    told = judged(part, Stage("install", "npm"), Ended(exit_code=code, err=said.encode()))

    assert (code, told.report.status) == (1, status)


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        ("legacy-peer-deps=true\nsave-exact=true\n; x\n", "'legacy-peer-deps=true'"),
        ("strict-peer-deps\n node-linker = hoisted ", "strict-peer-deps=true node-linker=hoisted"),
        ("public-hoist-pattern[]=*eslint*", "public-hoist-pattern[]=*eslint*"),
        ("registry=https://a.example\nscript-shell=./x\nnode-options=-r ./x", ""),
        ("legacy-peer-deps=$(touch x)\nhoist=a;b", ""),
        ("fund=false\nengine-strict=true\n", ""),
        ("hoist=false\n" * 5_000, ""),
    ],
)
def test_of_the_settings_of_npm_those_are_kept_that_change_what_is_installed(
    content: str, kept: str
) -> None:
    files = {"package.json": '{"dependencies": {"a": "1"}}', ".npmrc": content}

    command = part_in(Language.NODE, files).install.command

    said = command.partition("printf '%s\\n' ")[2].partition(" > .npmrc")[0]
    assert shlex.split(said) == shlex.split(kept)
    assert (".npmrc" in command) is bool(kept)


def needing(*paths: str) -> str:
    return json.dumps({"dependencies": {f"p{at}": path for at, path in enumerate(paths)}})


@pytest.mark.parametrize(
    ("named", "others"),
    [
        ("file:../shared", ["shared", "libs/more"]),
        ("../libs/more", ["libs/more", "shared"]),
        ("link:../../elsewhere", []),
        ("file:../gone", []),
        ("file:./inner", []),
        ("^1.0.0", []),
    ],
)
def test_packages_beside_a_component_are_laid_beside_it_and_installed(
    named: str, others: list[str]
) -> None:
    files = {
        "web/package.json": needing(named),
        "web/inner/package.json": "{}",
        "shared/package.json": needing("file:../libs/more"),
        "shared/a.js": "",
        "libs/more/package.json": needing("../../shared", "../../web"),
        "other/package.json": "{}",
    }
    contents = {path: text.encode() for path, text in files.items()}
    component = Component("web", Language.NODE, ("package.json",))

    part = part_of(component, Files(list(files), contents.get))

    linked = {f"../{one}/node_modules": f"/deps/web.node/{one}/node_modules" for one in others}
    own = "/deps/web.node/web" if others else "/deps/web.node"
    assert {name: to for name, to in part.linked.items() if name.startswith("../")} == linked
    assert part.linked["node_modules"] == f"{own}/node_modules"
    assert part.environment["PATH"].endswith(f":{own}/node_modules/.bin")
    read = {path for path in part.install.inputs if not path.startswith("web/")}
    assert read == {path for path in files if path.startswith(tuple(f"{one}/" for one in others))}


def installed_by(
    place: Path, lock: str, text: str, tools: Mapping[str, str], failing: str = ""
) -> tuple[int, str]:
    """Run the install with tools that only say how they were called, or fail with these words."""
    package = '{"dependencies": {"a": "1"}}'
    command = part_in(Language.NODE, {"package.json": package, lock: text}).install.command
    for folder in ("bin", "work"):
        (place / folder).mkdir()
    (place / "work/package.json").write_text(package)
    (place / "work" / lock).write_text(text)
    ends = f'case "$1" in install) echo "{failing}"; exit 1;; esac\n' if failing else ""
    for name, version in tools.items():
        tool = place / "bin" / name
        tool.write_text(
            f'#!/bin/sh\n[ "$1" = --version ] && echo {version} && exit\n{ends}echo "{name} $*"\n'
        )
        tool.chmod(0o755)
    ended = subprocess.run(
        ["/bin/sh", "-c", '(set -e; eval "$LV_COMMAND")'],
        env={
            "LV_COMMAND": command.replace("/deps/root.node", str(place / "deps")),
            "LV_REPORT": str(place / "report"),
            "PATH": f"{place}/bin:/usr/bin:/bin",
        },
        cwd=place / "work", capture_output=True, text=True, check=False,
    )  # fmt: skip
    return ended.returncode, ended.stdout


def test_go_is_installed_where_it_names_sums() -> None:
    with_sums = part_in(Language.GO, {"go.mod": "", "go.sum": ""}).install

    assert "GOPROXY= GOFLAGS= go mod download" in with_sums.command
    assert with_sums.inputs == ("go.mod", "go.sum")
    assert part_in(Language.GO, {"go.mod": ""}).install.command == ""


@pytest.mark.parametrize(
    ("package", "more", "inner"),
    [
        ({"workspaces": ["packages/*"]}, {}, ["packages/a", "packages/b/c"]),
        ({}, {"pnpm-workspace.yaml": "packages: [packages/*]"}, ["packages/a", "packages/b/c"]),
        ({}, {}, []),
    ],
)
def test_what_is_installed_for_one_package_of_a_workspace_is_found_beside_it(
    package: dict[str, list[str]], more: dict[str, str], inner: list[str]
) -> None:
    for folder in ("", "web"):
        files = {"package.json": json.dumps({**package, "dependencies": {"ms": "2"}}), **more,
                 "packages/a/package.json": "{}", "packages/b/c/package.json": "{}",
                 "packages/node_modules/d/package.json": "{}"}  # fmt: skip

        part = part_in(Language.NODE, files, folder)

        names = [f"{one}/node_modules" for one in inner]
        assert part.linked == {name: f"{part.deps}/{name}" for name in ("node_modules", *names)}


def test_so_many_packages_of_a_workspace_are_looked_at() -> None:
    files = {f"{number}/package.json": "{}" for number in range(2_000)}

    part = part_in(Language.NODE, {"package.json": '{"workspaces": ["*"]}', **files})

    assert len(part.linked) == 201
